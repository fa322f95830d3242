package sms

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/room/smstext"
)

// Each line has a code ("-" where there is none), where the shape of the text is known from or its kind, and
// a text in that shape. codes.tsv is of all languages; the other files are one for each.
//
//go:embed testdata/*.tsv
var testdata embed.FS

// languages are those with a file of their own; "other" has the rest.
var languages = []string{"ko", "en", "ja", "zh", "vi", "other"}

type shape struct {
	language     string
	line         int
	code, source string
	text         string
}

func corpus(t testing.TB) []shape { return shapesOf(t, "codes") }

func languageShapes(t testing.TB) []shape {
	var shapes []shape
	for _, language := range languages {
		shapes = append(shapes, shapesOf(t, language)...)
	}
	return shapes
}

func shapesOf(t testing.TB, name string) []shape {
	t.Helper()
	lines, err := testdata.ReadFile("testdata/" + name + ".tsv")
	require.NoError(t, err)
	var shapes []shape
	for line := range strings.Lines(string(lines)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		n := len(shapes) + 1
		require.Len(t, fields, 3, "%s:%d", name, n)
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(fields[2], `"`, `\"`) + `"`)
		require.NoError(t, err, "%s:%d", name, n)
		require.NotEmpty(t, fields[1], "%s:%d does not say where its shape is known from", name, n)
		shapes = append(shapes, shape{name, n, strings.TrimPrefix(fields[0], "-"), fields[1], text})
	}
	return shapes
}

// Every line of the corpus is read rightly; an exception needs its reason in this file.
func TestCorpusIsReadRightLineByLine(t *testing.T) {
	shapes := corpus(t)
	require.GreaterOrEqual(t, len(shapes), 200)
	var wrong []string
	for _, s := range shapes {
		if code, _ := FindCode(s.text); code.Reveal() != s.code {
			wrong = append(wrong, fmt.Sprintf("line %d (%s): want %q, got %q in %q", s.line, s.source, s.code,
				code.Reveal(), s.text))
		}
	}
	require.Empty(t, wrong, "%d of %d\n%s", len(wrong), len(shapes), strings.Join(wrong, "\n"))
}

// Words of Korean messages that may have a code, written for this test alone.
var (
	speaksOfACode = regexp.MustCompile(`(?i)인\s?증|코드|번\s?호|비밀|비번|암호|패스워드|숫자|본인\s?확인|otp|code|pin\b|pass|입력` +
		`|기입|누르|눌러|적어|넣어|써\s?주|` +
		`알려\s?주지|말하지|공유하지|노출|유출|타인|<#>|# ?\d`)
	sender = regexp.MustCompile(`\[[^\]\n]*\]|【[^】\n]*】|(?:고객센터|문의)[ :]*[\d-]+`)
)

func isKorean(text string) bool {
	return regexp.MustCompile(`\p{Hangul}`).MatchString(sender.ReplaceAllString(text, ""))
}

// If a bank's or a shop's message counted as a code, it would end a turn, and the seller's own code would go
// to the next seller.
func TestNoKoreanMessageHasACodeThatSpeaksOfNone(t *testing.T) {
	var texts []string
	for _, s := range append(corpus(t), languageShapes(t)...) {
		if text := smstext.Normal(s.text); isKorean(text) && !speaksOfACode.MatchString(text) {
			texts = append(texts, text)
			require.Empty(t, s.code, text)
		}
	}
	require.Greater(t, len(texts), 100)
	digit := regexp.MustCompile(`\d`)
	rapid.Check(t, func(t *rapid.T) {
		anew := func(string) string { return rapid.StringMatching(`\d`).Draw(t, "digit") }
		text := digit.ReplaceAllStringFunc(rapid.SampledFrom(texts).Draw(t, "text"), anew)
		switch rapid.IntRange(0, 5).Draw(t, "variation") {
		case 0:
			text = "[Web발신]\n" + text
		case 1:
			text = rapid.SampledFrom(texts).Draw(t, "first") +
				rapid.SampledFrom([]string{" ", "\n", ". "}).Draw(t, "between") + text
		case 2:
			text = strings.NewReplacer(",", "", "[", "", "]", " ").Replace(text)
		case 3:
			text = text + " " + rapid.StringMatching(`\d{4,8}`).Draw(t, "number")
		case 4:
			text = strings.ReplaceAll(text, " ", "\n")
		}
		if !isKorean(text) {
			return
		}
		code, _ := FindCode(text)
		require.Empty(t, code.Reveal(), text)
	})
}

// A code in a text may have separators and invisible characters.
func TestNoCodeOfTheCorpusIsLeftWhereItsTextIsMasked(t *testing.T) {
	for _, s := range corpus(t) {
		masked := smstext.Mask(s.text)
		require.Equal(t, masked, smstext.Mask(masked), "line %d: masking again changes nothing", s.line)
		if s.code == "" {
			continue
		}
		runs := runsOf(smstext.Normal(s.text))
		written := slices.IndexFunc(runs, func(r run) bool { return r.code == s.code })
		require.GreaterOrEqual(t, written, 0, "line %d", s.line)
		r := runs[written]
		for _, form := range []string{s.code, smstext.Normal(s.text)[r.from:r.to]} {
			require.NotContains(t, masked, form, "line %d", s.line)
			require.NotContains(t, smstext.Normal(masked), form, "line %d", s.line)
		}
		require.NotContains(t, unseparated.Replace(smstext.Normal(masked)), s.code, "line %d", s.line)
	}
}

// A code directly beside its label is found and masked in every way of writing it.
func TestCodeIsFoundAndMaskedHoweverItIsWritten(t *testing.T) {
	labels := []string{"인증번호 [%s]", "[쿠팡] 인증번호는 %s 입니다. 문의 1588-1234", "Your verification code is: %s",
		"验证码：%s，请勿泄露", "%s is your login code.", "OTP %s"}
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.StringMatching(`[0-9]{4,8}|[A-Z][0-9][A-Z0-9]{2,6}`).Draw(t, "code")
		separator, every := "", 1
		if len(code) == 6 || len(code) == 8 {
			every = len(code) / 2
			separator = rapid.SampledFrom([]string{"", "-", "–", "·", "_"}).Draw(t, "separator")
		}
		unseen := rapid.SampledFrom([]string{"", "\u200b", "\u2060", "\ufeff", "\u00ad", "\u202a"}).Draw(t,
			"unseen")
		wide := rapid.Bool().Draw(t, "full width")
		var written strings.Builder
		for i, c := range code {
			if i > 0 && i%every == 0 {
				written.WriteString(separator)
			}
			if wide {
				c += '！' - '!'
			}
			written.WriteString(string(c) + unseen)
		}
		label := rapid.SampledFrom(labels).Draw(t, "label")
		text := fmt.Sprintf(label, written.String())
		if service.MatchString(code) || strings.Contains(code, "XX") {
			return // "1588-1234" is a telephone number before it is a code, and "XX00" a number that is shown in part
		}
		found, _ := FindCode(text)
		require.Equal(t, code, found.Reveal(), text)
		require.NotContains(t, unseparated.Replace(smstext.Normal(smstext.Mask(text))), code)
	})
}
