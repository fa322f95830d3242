package roomsfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/room/smstext"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
)

// Checks holds the rules for a file that come from outside it.
type Checks struct {
	Path string
	Rest Entry // the values of the settings

	Languages []string // of the page
	Sealed    bool     // a secret of the settings seals all messages

	// The same limits as those of the settings.
	Lease, ClaimWithin, Quarantine func(text string) (time.Duration, error)
	// Known reports whether an entry's room, or prefix with its star, may exist.
	Known func(entry string) bool
	Rooms []string // the rooms and prefixes that there are
}

// most is the maximum size of a file in bytes.
const most = 4 << 20

// Read reads the file. The error lists every fault with its file and line, and repeats no secret.
func Read(c Checks) (*File, error) {
	text, err := os.ReadFile(c.Path)
	switch {
	case err != nil:
		return nil, err
	case len(text) > most:
		return nil, fmt.Errorf("%s is over %d MiB", c.Path, most>>20)
	}
	if line, ok := notUTF8(text); ok {
		return nil, fmt.Errorf("%s:%d: this is not UTF-8: save the file in that encoding", c.Path, line)
	}
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	r := &reader{checks: c}
	file := r.file(parse(text, r.wrong))
	if len(r.faults) == 0 {
		sum := sha256.Sum256(text)
		file.Sum = hex.EncodeToString(sum[:])
		return file, nil
	}
	slices.SortStableFunc(r.faults, func(a, b fault) int { return a.line - b.line })
	var wrong []error
	for _, f := range r.faults {
		wrong = append(wrong, fmt.Errorf("%s:%d: %s", c.Path, f.line, f.text))
	}
	return nil, errors.Join(wrong...)
}

// byteOrderMark is a prefix that some editors write.
const byteOrderMark = "\uFEFF"

// notUTF8 returns the first line of a text that is not UTF-8, if any.
func notUTF8(text []byte) (line int, ok bool) {
	for l := range bytes.Lines(text) {
		line++
		if !utf8.Valid(l) {
			return line, true
		}
	}
	return 0, false
}

// reader collects faults and warnings.
type reader struct {
	checks   Checks
	faults   []fault
	warnings []string
	secrets  [][]byte
}

type fault struct {
	line int
	text string
}

func (r *reader) wrong(line int, format string, args ...any) {
	r.faults = append(r.faults, fault{line, fmt.Sprintf(format, args...)})
}

func (r *reader) warn(line int, format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf("%s:%d: ", r.checks.Path, line)+fmt.Sprintf(format, args...))
}

// draft is an entry as it is written.
type draft struct {
	name  string
	line  int
	lines map[string]int // of its keys
	set   []func(*Entry)
	cards []string // sources of which the entry has the card alone
}

func (r *reader) file(n *node) *File {
	if n == nil {
		return nil
	}
	if n.kind != group {
		r.wrong(n.line, "there are no rooms in it: want a room or prefix:* and under it what it has of its "+
			"own; {} where no room has anything")
		return nil
	}
	f := &File{entries: make(map[string]*Entry), rest: &r.checks.Rest}
	drafts := make(map[string]*draft)
	for _, p := range rooms(n).pairs {
		if d := r.draft(p); d != nil {
			drafts[d.name] = d
		}
	}
	for name, d := range drafts {
		f.entries[name] = r.entry(d, drafts)
		r.expected(d, drafts)
	}
	r.shared(f, drafts)
	f.Warnings, f.secrets = slices.Sorted(slices.Values(r.warnings)), r.secrets
	return f
}

// rooms returns the node of the entries: the top, or the key "rooms" if it is alone there and has a group
// whose name is no key of an entry. Else "rooms" is itself a room.
func rooms(n *node) *node {
	if len(n.pairs) != 1 || n.pairs[0].key.text != "rooms" || n.pairs[0].value.kind != group {
		return n
	}
	inner := n.pairs[0].value
	if slices.ContainsFunc(inner.pairs, func(p pair) bool {
		return p.value.kind == group && !isKey(p.key.text)
	}) {
		return inner
	}
	return n
}

func (r *reader) draft(p pair) *draft {
	name := p.key.text
	id, _ := strings.CutSuffix(name, prefixEnd)
	if _, err := room.ParseID(id); err != nil {
		r.wrong(p.key.line, "%q is neither a room nor prefix:*: %v", name, err)
		return nil
	}
	d := &draft{name: name, line: p.key.line, lines: make(map[string]int)}
	switch p.value.kind {
	case nothing:
	case group:
		r.keys(d, "", p.value)
	default:
		r.wrong(p.value.line, "%s: want what it has of its own under it, such as name: …", name)
	}
	return d
}

// entry returns the entry of a draft's rooms. It applies the settings, then the prefixes, the shortest first,
// then the draft itself.
func (r *reader) entry(d *draft, all map[string]*draft) *Entry {
	e := r.checks.Rest
	chain := prefixes(d.name)
	slices.Reverse(chain)
	for _, name := range chain {
		if wider := all[name]; wider != nil {
			wider.apply(&e)
		}
	}
	d.apply(&e)
	if secrets := source.Secrets(e.Sources); e.Keyring == nil && len(secrets) > 0 {
		e.Keyring = seal.NewKeyring(secrets...)
	}
	r.claimable(d, &e)
	r.named(d, &e)
	r.complete(d, &e)
	return &e
}

func (d *draft) apply(e *Entry) {
	for _, set := range d.set {
		set(e)
	}
}

// claimable checks that a lease can be claimed before it ends.
func (r *reader) claimable(d *draft, e *Entry) {
	if e.ClaimWithin == 0 || e.ClaimWithin < e.Lease {
		return
	}
	line := d.line
	for _, key := range []string{"lease", "claim_within"} {
		if d.lines[key] != 0 {
			line = d.lines[key]
		}
	}
	r.wrong(line, "%s: claim_within is %s: want less than its lease, which is %s", d.name, e.ClaimWithin,
		e.Lease)
}

// expected warns of an entry whose rooms there are not, and of the room that it may be meant for.
func (r *reader) expected(d *draft, all map[string]*draft) {
	if known := r.checks.Known; known == nil || known(d.name) {
		return
	}
	text := d.name + " is not in ROOMS: the file adds no rooms"
	free := slices.DeleteFunc(slices.Clone(r.checks.Rooms), func(id string) bool { return all[id] != nil })
	if meant := nearest(d.name, free); meant != "" {
		text += "; do you mean " + meant + ", which has no entry?"
	}
	r.warn(d.line, "%s", text)
}

// shared warns of rooms with one number whose messages nothing tells apart: without sms_from, or with a
// sender in both lists, each room takes the other's codes.
func (r *reader) shared(f *File, drafts map[string]*draft) {
	names := slices.Sorted(maps.Keys(f.entries))
	for i, a := range names {
		for _, b := range names[i+1:] {
			one, other := f.entries[a], f.entries[b]
			if one.Phone == "" || !sms.SameNumber(one.Phone, other.Phone) || apart(one.Senders, other.Senders) {
				continue
			}
			r.warn(drafts[b].line, "%s and %s have one phone, and no sms_from tells their messages apart: each shows "+
				"the other's codes. Give each room the senders of its own marketplace", a, b)
		}
	}
}

// apart reports whether no message can have a sender of both lists.
func apart(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(sender string) bool {
		return smstext.OneOf(sender, b)
	})
}
