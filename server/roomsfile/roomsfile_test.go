package roomsfile

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
)

const (
	secretA = "whsec_c2VjcmV0LW9mLXRoZS1jYXJyaWVyLTEyMzQ1Ng=="
	secretB = "whsec_YW5vdGhlci1zZWNyZXQtb2YtdGhlLWNhcnJpZXI="
)

// within parses a duration of up to ten minutes.
func within(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > 10*time.Minute {
		return 0, errors.New("want up to 10m")
	}
	return d, nil
}

// write writes a rooms file into a directory of the test.
func write(t testing.TB, text string) Checks {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rooms.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Checks{Path: path, Languages: []string{"ko", "en", "ja"},
		Rest:  Entry{Lease: 2 * time.Minute, Quarantine: 30 * time.Second},
		Lease: within, ClaimWithin: within, Quarantine: within, Known: func(string) bool { return true }}
}

func read(t *testing.T, text string) *File {
	t.Helper()
	f, err := Read(write(t, text))
	require.NoError(t, err)
	return f
}

func TestEntrySaysAllThatARoomMayHave(t *testing.T) {
	f := read(t, `
# the number of the second floor
integration:
  name: 쿠팡 연동
  phone: 010-1234-5678
  marketplace: {name: 쿠팡 윙, url: "https://wing.example/link?x=1"}
  support:
    text: "평일 9시~18시"
    url: https://help.example
    tel: 1588-0000
  return_url: http://127.0.0.1:9000/back
  sms_secret: `+secretA+","+secretB+`
  sms_from: [15881234, "+82 2-123-4567"]
  sms_expect: required
  sms_quarantine: 0
  lease: 90s
  claim_within: 20s
`)
	e := *f.Of("integration")
	require.NotNil(t, e.Keyring)
	require.Len(t, e.Verifier.Keys(), 2)
	e.Keyring, e.Verifier = nil, nil
	require.Equal(t, Entry{Name: Text{"": "쿠팡 연동"}, Phone: "010-1234-5678",
		Marketplace: Marketplace{Name: Text{"": "쿠팡 윙"}, URL: "https://wing.example/link?x=1"},
		Support:     Support{Text{"": "평일 9시~18시"}, "https://help.example", "1588-0000"},
		ReturnURL:   "http://127.0.0.1:9000/back",
		Senders:     []string{"15881234", "+82 2-123-4567"}, Required: true, Lease: 90 * time.Second,
		ClaimWithin: 20 * time.Second}, e)
	require.Equal(t, &Entry{Lease: 2 * time.Minute, Quarantine: 30 * time.Second}, f.Of("other"),
		"the settings hold for the others")
	require.Empty(t, f.Warnings)
}

func TestNumbersAreReadAsTheyAreWritten(t *testing.T) {
	e := read(t, "a:\n  phone: 01012345678\n  name: 007\n  sms_from: 0x12\n  support: {tel: 114, text: "+
		"yes}\n").Of("a")
	require.Equal(t, "01012345678", e.Phone, "not as a number in base 8")
	require.Equal(t, "007", e.Name.In("ko"))
	require.Equal(t, "yes", e.Support.Text.In("ko"))
	require.Equal(t, []string{"0x12"}, e.Senders)
}

func TestExactRoomWinsOverTheLongestPrefixKeyByKey(t *testing.T) {
	f := read(t, `
shop:*: {name: 가게, phone: "02-1", lease: 60s, support: {tel: 02-1, text: 전체}, sms_secret: `+secretA+`}
shop:seoul:*: {name: 서울, lease: 50s, support: {tel: 02-2}}
shop:seoul:1: {lease: 40s, name: "", sms_secret: `+secretB+`}
shop:busan: {phone: }
`)
	for id, want := range map[room.ID]Entry{
		"shop:seoul:1": {Name: Text{"": ""}, Phone: "02-1", Lease: 40 * time.Second,
			Support: Support{Text: Text{"": "전체"}, Tel: "02-2"}},
		"shop:seoul:2": {Name: Text{"": "서울"}, Phone: "02-1", Lease: 50 * time.Second,
			Support: Support{Text: Text{"": "전체"}, Tel: "02-2"}},
		"shop:busan": {Name: Text{"": "가게"}, Phone: "02-1", Lease: 60 * time.Second,
			Support: Support{Text: Text{"": "전체"}, Tel: "02-1"}},
		"shop:seoul": {Name: Text{"": "가게"}, Phone: "02-1", Lease: 60 * time.Second,
			Support: Support{Text: Text{"": "전체"}, Tel: "02-1"}},
		"shop":       {Lease: 2 * time.Minute},
		"shopping:a": {Lease: 2 * time.Minute},
	} {
		got := *f.Of(id)
		require.Equal(t, strings.HasPrefix(string(id), "shop:"), got.Verifier != nil, id)
		got.Verifier, got.Keyring, want.Quarantine = nil, nil, 30*time.Second
		require.Equal(t, want, got, id)
	}
	require.NotEqual(t, f.Of("shop:seoul:1").Verifier.Keys(), f.Of("shop:seoul:2").Verifier.Keys())
}

func TestWhomToAskMayBeOneValue(t *testing.T) {
	for contact, want := range map[string]Support{"평일 9시~18시": {Text: Text{"": "평일 9시~18시"}},
		"https://help.example": {URL: "https://help.example"}, "1588-0000": {Tel: "1588-0000"}} {
		require.Equal(t, want, read(t, "a:\n  support: "+contact+"\n").Of("a").Support)
	}
}

func TestTextMayBeOneALanguage(t *testing.T) {
	e := read(t, "a:*: {name: 가게}\na:b:\n  name: {ko: 서울점, en: Seoul}\n  marketplace: {name: {ko: 윙, ja: "+
		"ウィング}}\n  support: {text: {en: weekdays}, tel: 114}\n").Of("a:b")
	for lang, want := range map[string][]string{"ko": {"서울점", "윙", "weekdays"}, "en": {"Seoul", "윙", "weekdays"},
		"ja": {"Seoul", "ウィング", "weekdays"}, "vi": {"Seoul", "윙", "weekdays"}} {
		require.Equal(t, want, []string{e.Name.In(lang), e.Marketplace.Name.In(lang), e.Support.Text.In(lang)},
			lang)
	}
}

func TestRoomsMayAllStandUnderOneWord(t *testing.T) {
	require.Equal(t, "가", read(t, "rooms:\n  a: {name: 가}\n").Of("a").Name.In("ko"))
	require.Equal(t, "가", read(t, "rooms: {name: 가}\n").Of("rooms").Name.In("ko"), "a room may be called so")
	require.Equal(t, "가", read(t, "rooms: {marketplace: {name: 가}}\n").Of("rooms").Marketplace.Name.In("ko"))
	require.Zero(t, read(t, "{}").Len())
}

func TestSecretMayBeInAFileOfItsOwn(t *testing.T) {
	c := write(t, "a: {sms_secret_file: secrets/a}\n")
	require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(c.Path), "secrets"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(c.Path), "secrets/a"), []byte(secretB+"\n"),
		0o600))
	f, err := Read(c)
	require.NoError(t, err)
	require.Equal(t, "another-secret-of-the-carrier", string(f.Of("a").Verifier.Keys()[0])[:29])
}

// Editors on Windows write a byte order mark at the beginning of a file.
func TestByteOrderMarkIsSkipped(t *testing.T) {
	c := write(t, "\uFEFFa: {name: 가, sms_secret_file: secret}\n")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(c.Path), "secret"),
		[]byte("\uFEFF"+secretB+"\r\n"), 0o600))
	f, err := Read(c)
	require.NoError(t, err)
	require.Equal(t, "가", f.Of("a").Name.In("ko"))
	require.Equal(t, "another-secret-of-the-carrier", string(f.Of("a").Verifier.Keys()[0])[:29])
}

func TestRoomMayHaveSeveralMarketplaces(t *testing.T) {
	e := read(t, `
a:
  marketplaces:
    - {name: {ko: 쿠팡, en: Coupang}, url: "https://wing.example", from: [1588-1234, COUPANG], contains: 쿠팡}
    - {name: 옥션, from: "15771234"}
b: {marketplace: {name: 윙, from: 1588-1234, contains: 윙}}
`)
	require.Equal(t, []Marketplace{
		{Text{"ko": "쿠팡", "en": "Coupang", "": "Coupang"}, "https://wing.example", []string{"1588-1234", "COUPANG"}, "쿠팡"},
		{Name: Text{"": "옥션"}, From: []string{"15771234"}}}, e.Of("a").Markets())
	require.Equal(t, []Marketplace{{Text{"": "윙"}, "", []string{"1588-1234"}, "윙"}}, e.Of("b").Markets())
	require.Empty(t, e.Of("c").Markets())
}

func TestEverythingThatIsWrongIsNamedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n  nmae: x":                                   `:2: a: nmae is no key: do you mean name?`,
		"a:\n  sms-from: [1]":                             `:2: a: sms-from is no key: do you mean sms_from?`,
		"a:\n  claimWithin: 1s":                           `:2: a: claimWithin is no key: do you mean claim_within?`,
		"a:\n  marketplace:\n    link: x":                 `:3: a: marketplace.link is no key: the keys are name, url, from, contains`,
		"a:\n  marketplace:\n    urls: x":                 `:3: a: marketplace.urls is no key: do you mean marketplace.url?`,
		"a:\n  zzzzzz: x":                                 `:2: a: zzzzzz is no key: the keys are name, phone, marketplace, marketplaces, support, return_url, open, brand, sms_secret, sms_secret_file, sms_from, sms_sources, sms_expect, sms_quarantine, lease, claim_within`,
		"a:\n  lease: 20m":                                `:2: a: lease is "20m": want up to 10m`,
		"a:\n  lease: 120":                                `:2: a: lease is "120": want up to 10m`,
		"a:\n  lease: [1s]":                               `:2: a: lease is a list: want one value`,
		"a:\n  name: x\n  sms_quarantine: x":              `:3: a: sms_quarantine is "x": want up to 10m`,
		"a:\n  sms_expect: never":                         `:2: a: sms_expect is "never": want auto or required`,
		"a:\n  claim_within: 2m":                          `:2: a: claim_within is 2m0s: want less than its lease, which is 2m0s`,
		"a:\n  claim_within: 20s\n  lease: 9s":            `:2: a: claim_within is 20s: want less than its lease, which is 9s`,
		"p:*:\n  claim_within: 20s\np:a:\n  lease: 9s":    `:4: p:a: claim_within is 20s: want less than its lease, which is 9s`,
		"a:\n  return_url: http://x.example":              `:2: a: return_url is "http://x.example": want an https URL, such as https://seller.example/link (http on this machine only)`,
		"a:\n  marketplace: {url: 'javascript:x'}":        `:2: a: marketplace.url is "javascript:x": want an https URL`,
		"a:\n  support: {url: 'https://u:p@x.example'}":   `want an https URL`,
		"a:\n  support: {url: 'https://'}":                `want an https URL`,
		"a:\n  support: {tel: call us}":                   `:2: a: support.tel is "call us": want a telephone number of 2 to 20 digits`,
		"a:\n  phone: (02) 123":                           `:2: a: phone is "(02) 123": want a telephone number`,
		"a:\n  name: " + strings.Repeat("x", 65):          `want one line of at most 64 characters`,
		"a:\n  name: \"a\\nb\"":                           `want one line of at most 64 characters`,
		"a:\n  name: {ko: 가, de: Raum}":                   `:2: a: name has a language that the page is not in: want ko, en, ja`,
		"a:\n  support:\n    text: {ko: 가, en: []}":       `:3: a: support.text in en is a list: want one line of at most 200 characters`,
		"a:\n  marketplace: {name: {ko: \"\"}}":           `:2: a: marketplace.name in ko is "": want one line of at most 64 characters`,
		"a:\n  name: {}":                                  `:2: a: name is empty: want one line, or one for each language`,
		"a:\n  marketplace: https://x.example":            `:2: a: marketplace: want name and url and from and contains under it`,
		"a:\n  marketplaces: x":                           `:2: a: marketplaces is "x": want a list of 1 to 20 marketplaces`,
		"a:\n  marketplaces:\n    - {url: 'https://a.b'}": `:3: a: marketplaces has one without a name`,
		"a:\n  marketplaces:\n    - {name: x, link: y}":   `:3: a: marketplace.link is no key`,
		"a:\n  marketplace: {contains: ' '}":              `:2: a: marketplace.contains is " ": want a text of at most 64`,
		"a:\n  sms_from: []":                              `:2: a: sms_from has 0 senders: want 1 to 100; without the key, messages of all senders count`,
		"a:\n  sms_from:\n    - 1588\n    - {}":           `:4: a: has a group: want a sender of at most 64 characters`,
		"a:\n  sms_from: ['1588-1234, 1577-0000']":        `:2: a: has "1588-1234, 1577-0000": want the number or name of one sender`,
		"a:\n  sms_from: ['1588*']":                       `:2: a: has "1588*": want the number or name of one sender`,
		"a:\n  marketplace: {from: '--'}":                 `:2: a: has "--": want the number or name of one sender`,
		"a:\n  sms_secret: hush hush":                     `:2: a: sms_secret is not base64: give whsec_ and the base64 of 24 to 64 random bytes`,
		"a:\n  sms_secret: ''":                            `:2: a: sms_secret is empty: give whsec_`,
		"a:\n  sms_secret: [hush]":                        `:2: a: sms_secret is a list: want one value`,
		"a:\n  hush/hush+hush: x":                         `:2: a: a key that is none: the keys are name`,
		"a:\n  sms_secret_file: /nowhere/hu":              `:2: a: sms_secret_file can not be read: open /nowhere/hu: no such file`,
		"a:\n  sms_secret_file: x\n  sms_secret: hush":    `:3: a: sms_secret and sms_secret_file: want one of them`,
		"A:\n  name: x":                                   `:1: "A" is neither a room nor prefix:*: `,
		"support:\n  name: x":                             `:1: "support" is neither a room nor prefix:*: `,
		"a:b*:\n  name: x":                                `:1: "a:b*" is neither a room nor prefix:*: `,
		"'*':\n  name: x":                                 `:1: "*" is neither a room nor prefix:*: `,
		"a: x":                                            `:1: a: want what it has of its own under it, such as name: …`,
		"- a":                                             `:1: there are no rooms in it: want a room or prefix:*`,
		"":                                                `:1: there are no rooms in it`,
		"# nothing\n":                                     `:1: there are no rooms in it`,
		"a:\n  name: x\na:\n  name: y":                    `:3: it is not YAML: mapping key "a" already defined at [1:1]`,
		"a:\n  name: x\n  name: y":                        `:3: it is not YAML: mapping key "name" already defined at [2:3]`,
		"a:\n\tname: hush":                                `:2: it is not YAML: `,
		"a: {name: \"hush":                                `it is not YAML: `,
		"a:\n  name: x\n---\nb: {}":                       `a second document begins`,
		"a:\n  name: \xb0\xa1":                            `:2: this is not UTF-8: save the file in that encoding`,
		"a: &x\n  name: x\nb: *x":                         `anchors, aliases and tags are not read`,
		"a:\n  name: !!str x":                             `:2: anchors, aliases and tags are not read`,
	} {
		t.Run(text, func(t *testing.T) {
			c := write(t, text)
			_, err := Read(c)
			require.Error(t, err)
			require.Contains(t, err.Error(), want)
			for line := range strings.Lines(err.Error()) {
				require.True(t, strings.HasPrefix(line, c.Path+":"), line)
			}
			if !strings.Contains(want, "hush") {
				require.NotContains(t, strings.ReplaceAll(err.Error(), c.Path, ""), "hush", "it may be a secret")
			}
		})
	}
	c := write(t, "a:\n  lease: x\n  nmae: x\nB: {}\n")
	_, err := Read(c)
	require.Equal(t, 3, strings.Count(err.Error(), c.Path+":"), err)
	c.Path += "x"
	_, err = Read(c)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestWhatIsNoFaultAndMayNotBeMeantIsSaid(t *testing.T) {
	c := write(t, "b: {sms_secret: whsec_YWJj}\nother:*: {}\n")
	c.Known, c.Rooms = func(entry string) bool { return entry == "b" }, []string{"b", "othr:*"}
	f, err := Read(c)
	require.NoError(t, err)
	require.Equal(t, []string{c.Path + ":1: b: sms_secret is short and can be guessed: use the base64 of 24 " +
		"to 64 random bytes, such as from openssl rand -base64 32",
		c.Path + ":2: other:* is not in ROOMS: the file adds no rooms; do you mean othr:*, which has no entry?"},
		f.Warnings)
	c.Rooms = []string{"b"}
	f, err = Read(c)
	require.NoError(t, err)
	require.Equal(t, c.Path+":2: other:* is not in ROOMS: the file adds no rooms", f.Warnings[1])
}

func TestWithoutAFileEveryRoomHasTheSettings(t *testing.T) {
	registry := prometheus.NewRegistry()
	rest := Entry{Lease: 2 * time.Minute}
	b, err := Open(Checks{Rest: rest}, seal.NewKeyring([]byte("x")), slog.New(slog.DiscardHandler), registry)
	require.NoError(t, err)
	require.Equal(t, &rest, b.Of("shop:a"))
	require.Empty(t, b.Sum())
	b.Each(func(name string, _ *Entry) { t.Error("there is no " + name) })
	gauges, err := registry.Gather()
	require.NoError(t, err)
	require.Empty(t, gauges, "no file is right or wrong")
}

func TestBadFileKeepsTheOldOneAndSaysSo(t *testing.T) {
	var log strings.Builder
	registry := prometheus.NewRegistry()
	c := write(t, "a: {name: 가}\n")
	b, err := Open(c, seal.NewKeyring([]byte("x")), slog.New(slog.NewTextHandler(&log, nil)), registry)
	require.NoError(t, err)
	for n, again := range []struct{ text, name, says string }{
		{"a: {name: 나}\n", "나", "the rooms file was read"},
		{"a: {nmae: 다}\n", "나", "do you mean name?"},
		{"", "나", "there are no rooms in it"},
		{"a: {name: 라}\n", "라", "the rooms file was read"},
	} {
		log.Reset()
		require.NoError(t, os.WriteFile(c.Path, []byte(again.text), 0o600))
		b.Reload()
		require.Equal(t, again.name, b.Of("a").Name.In("ko"))
		require.Contains(t, log.String(), again.says)
		require.Equal(t, fmt.Sprint(n == 0 || n == 3),
			fmt.Sprint(gauge(t, registry, "waitroom_rooms_file_last_reload_successful") == 1))
	}
	require.Positive(t, gauge(t, registry, "waitroom_rooms_file_last_reload_success_timestamp_seconds"))
	require.NoError(t, os.Remove(c.Path))
	b.Reload()
	require.Equal(t, "라", b.Of("a").Name.In("ko"))
}

func gauge(t *testing.T, from prometheus.Gatherer, name string) float64 {
	t.Helper()
	all, err := from.Gather()
	require.NoError(t, err)
	for _, family := range all {
		if family.GetName() == name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	require.Fail(t, "no such metric", name)
	return 0
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"a: {name: x}", "rooms: {a: {lease: 1s}}", "a:\n  sms_from: [1, 2]",
		"? a\n: b", "a: !!x |\n  y", "a: &x\nb: *x", "<<: {}", "[", "{", "\x00", "a: >-\n\n", "a:\n- b\n c: d"} {
		f.Add(seed)
	}
	c := write(f, "")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(c.Path, []byte(text), 0o600); err != nil {
			t.Skip()
		}
		file, err := Read(c)
		require.Equal(t, err == nil, file != nil)
	})
}

func TestSourcesAreReadByName(t *testing.T) {
	c := write(t, `
shop:*:
  sms_sources:
    phone: {kind: httpsms, secret: [the one to come 12345, the one that is now 1]}
    twilio: {secret_file: token}
shop:a:
  sms_sources:
    phone: {kind: smsforwarder, secret: short}
    other: {kind: template, scheme: hmac-sha256, header: x-sum, secret: 0123456789abcdef, id: a.b, from: f, text: t, sent_at: s, format: unix, zone: +09:00, ref: r, part: p, parts: q}
`)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(c.Path), "token"),
		[]byte("\uFEFF0123456789abcdef\r\n0123456789abcdeg\n"), 0o600))
	made, err := source.New(source.Settings{Kind: "httpsms",
		Secrets: []sms.Secret{sms.NewSecret("0123456789abcdef")}})
	require.NoError(t, err)
	c.Rest.Sources = map[string]source.Configured{"all": made}
	f, err := Read(c)
	require.NoError(t, err)
	kinds := func(id room.ID) map[string]string {
		got := map[string]string{}
		for name, s := range f.Of(id).Sources {
			got[name] = s.Kind
		}
		return got
	}
	require.Equal(t, map[string]string{"all": "httpsms"}, kinds("elsewhere"))
	require.Equal(t, map[string]string{"all": "httpsms", "phone": "httpsms", "twilio": "twilio"},
		kinds("shop:b"))
	require.Equal(t, map[string]string{"all": "httpsms", "phone": "smsforwarder", "twilio": "twilio",
		"other": "template"}, kinds("shop:a"))
	require.Len(t, f.Of("shop:b").Sources["phone"].Secrets, 2)
	require.Equal(t, "0123456789abcdeg", f.Of("shop:b").Sources["twilio"].Secrets[1].Reveal())
	require.Equal(t, source.Template{Signature: source.Signature{Scheme: "hmac-sha256", Header: "x-sum"}, ID: "a.b", From: "f", Text: "t",
		SentAt: "s", Format: "unix", Zone: "+09:00", Ref: "r", Part: "p", Parts: "q"},
		f.Of("shop:a").Sources["other"].Template)
	require.NotNil(t, f.Of("shop:b").Keyring,
		"what Redis is handed is sealed by a secret that all replicas have")
	require.Equal(t, []string{c.Path + ":6: shop:a: the secret of source phone is short and can be guessed: " +
		"use at least 16 characters"}, f.Warnings)
}

func TestSourcesMayBeAListOrHaveNothingButASecret(t *testing.T) {
	for _, text := range []string{"{twilio: 0123456789abcdef}", "[{kind: twilio, secret: 0123456789abcdef}]",
		"[{name: twilio, kind: twilio, secret: 0123456789abcdef}]"} {
		f, err := Read(write(t, "a:\n  sms_sources: "+text+"\n"))
		require.NoError(t, err)
		got := f.Of("a").Sources["twilio"]
		require.Equal(t, "twilio", got.Kind, text)
		require.Equal(t, "0123456789abcdef", got.Secrets[0].Reveal(), text)
	}
}

func TestRoomsThatShareANumberAreToldApartBySenders(t *testing.T) {
	warns := func(text string) []string {
		f, err := Read(write(t, text))
		require.NoError(t, err)
		return f.Warnings
	}
	for _, shared := range []string{
		"a: {phone: 010-1111-1111}\nb: {phone: '+82 10 1111 1111'}\n",
		"a: {phone: 01011111111, sms_from: [15881234]}\nb: {phone: 010-1111-1111}\n",
		"a: {phone: 01011111111, sms_from: [15881234]}\nb: {phone: 01011111111, sms_from: [1600, 1588-1234]}\n",
		"p:*: {phone: 01011111111}\np:b: {sms_from: [15881234]}\n",
	} {
		require.Len(t, warns(shared), 1, shared)
		require.Regexp(t, `rooms.yaml:2: \S+ and \S+ have one phone, and no sms_from tells their messages apart`,
			warns(shared)[0])
	}
	for _, fine := range []string{
		"a: {phone: 010-1111-1111}\nb: {phone: 010-2222-2222}\nc: {}\nd: {}\n",
		"a: {phone: 01011111111, sms_from: [15881234]}\nb: {phone: 01011111111, sms_from: [16001234]}\n",
	} {
		require.Empty(t, warns(fine), fine)
	}
}

func TestSourceHasAllKeysOfATemplate(t *testing.T) {
	f, err := Read(write(t, `a:
  sms_sources:
    p:
      {kind: template, secret: 0123456789abcdef, scheme: hmac-sha1, signature: sig, signed: "{pairs}\n{secret}",
       signed_at: field at, each: list, only: {type: in, state: [new, ""]}, from: f, to: o, sim_field: c, text: t}
`))
	require.NoError(t, err)
	require.Equal(t, source.Template{Signature: source.Signature{Scheme: "hmac-sha1", Field: "sig",
		Signed: "{pairs}\n{secret}", SignedAt: "field at"}, Each: "list",
		Only: map[string][]string{"type": {"in"}, "state": {"new", ""}}, From: "f", To: "o", SIM: "c", Text: "t"},
		f.Of("a").Sources["p"].Template)
}

func TestRoomMayHaveTheCardOfASourceAlone(t *testing.T) {
	f, err := Read(write(t, `
shop:*: {sms_sources: {phone: {kind: android-sms-gateway, secret: 0123456789abcdef}}}
shop:a: {sms_sources: {phone: {sim: 1}}}
shop:b: {sms_sources: {phone: {sim: 2}}}
`))
	require.NoError(t, err)
	a, b := f.Of("shop:a").Sources["phone"], f.Of("shop:b").Sources["phone"]
	require.Equal(t, []string{"1", "2", ""}, []string{a.SIM, b.SIM, f.Of("shop:c").Sources["phone"].SIM})
	require.True(t, a.Source == b.Source, "one source, whose signature is checked once")
	_, err = Read(write(t, "shop:a: {sms_sources: {phone: {sim: 1}}}\n"))
	require.ErrorContains(t, err, ":1: shop:a: sms_sources.phone has a sim alone: want its secret")
}

// A public key is known to everybody, so it seals nothing.
func TestSourcesWithPublicKeysNeedAnotherSecret(t *testing.T) {
	c := write(t, "a: {sms_sources: {t: {kind: template, scheme: sns, secret: \"arn:aws:sns:x\", from: f, text: t}}}\n")
	_, err := Read(c)
	require.ErrorContains(t, err, ":1: a: the sources have public keys alone, and nothing seals their messages")
	c.Sealed = true
	f, err := Read(c)
	require.NoError(t, err)
	require.Nil(t, f.Of("a").Keyring)
}

func TestWrongSourceIsNamedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"sms_sources: hush":                                                `:2: a: sms_sources is no group: want a name for each source`,
		"sms_sources: {Hush!: {}}":                                         `:2: a: sms_sources has a name that is none`,
		"sms_sources: {phone: hush}":                                       `:2: a: sms_sources.phone: kind is none`,
		"sms_sources: {phone: [hush]}":                                     `:2: a: sms_sources.phone: want its kind and secret under it`,
		"sms_sources: [hush]":                                              `:2: a: sms_sources is no group: want a name for each source`,
		"sms_sources: [{kind: twilio, secret: x}, {kind: twilio}]":         `:2: a: sms_sources has two sources of one name`,
		"sms_sources: [{name: p, kind: [twilio]}]":                         `:2: a: sms_sources.p: kind is a list: want one value`,
		"sms_sources: {phone: {secret: hush}}":                             `:2: a: sms_sources.phone: kind is none: want one of android-sms-gateway, httpsms`,
		"sms_sources: {twilio: {}}":                                        `:2: a: sms_sources.twilio: secret is missing`,
		"sms_sources: {twilio: {secret: ''}}":                              `:2: a: sms_sources.twilio: secret is missing`,
		"sms_sources: {twilio: {secrte: hush}}":                            `:2: a: sms_sources.twilio: secrte is no key: do you mean secret?`,
		"sms_sources: {twilio: {hush+hush: 1}}":                            `:2: a: sms_sources.twilio: a key that is none: the keys are secret, secret_file, kind`,
		"sms_sources: {twilio: {kind: [x]}}":                               `:2: a: sms_sources.twilio: kind is a list: want one value`,
		"sms_sources: {twilio: {secret: {hush: 1}}}":                       `:2: a: sms_sources.twilio: secret is missing`,
		"sms_sources: {twilio: {secret: [{hush: 1}]}}":                     `:2: a: sms_sources.twilio: a secret is a group: want one value`,
		"sms_sources: {twilio: {secret: hush, secret_file: x}}":            `:2: a: sms_sources.twilio: secret and secret_file: want one of them`,
		"sms_sources: {twilio: {secret_file: /nowhere/x}}":                 `:2: a: sms_sources.twilio: secret_file can not be read: open /nowhere/x`,
		"sms_sources: {any: {kind: template, secret: hush, text: t}}":      `:2: a: sms_sources.any: from and text are missing`,
		"sms_sources: {p: {kind: template, secret: hush, only: x}}":        `:2: a: sms_sources.p: only is no group`,
		"sms_sources: {p: {kind: template, secret: hush, only: {a: []}}}":  `:2: a: sms_sources.p: only is no group`,
		"sms_sources:\n    b: {kind: twilio, secret: x}\n    c: {kind: 1}": `:4: a: sms_sources.c: kind is none`,
	} {
		t.Run(text, func(t *testing.T) {
			c := write(t, "a:\n  "+text+"\n")
			_, err := Read(c)
			require.ErrorContains(t, err, want)
			require.NotContains(t, strings.ReplaceAll(err.Error(), c.Path, ""), "hush")
		})
	}
}
