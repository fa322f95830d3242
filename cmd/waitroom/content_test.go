package main

import (
	"fmt"
	"strings"
)

// content is a message's sender and text.
type content struct {
	sender, text string
	code         string // empty if it has none
	ref          string
	part, parts  int // both 0 if it is whole
}

// shop is a marketplace: the sender and the name in its codes.
type shop struct{ sender, name string }

var shops = []shop{{"1588-0000", "쿠팡"}, {"02-555-0000", "네이버"}}

// codeContent has a code that no other message has.
func (c *carrier) codeContent(of shop) content {
	code := fmt.Sprint(10_000_000 + c.count.Add(1))
	return content{sender: of.sender, text: "[" + of.name + "] 인증번호는 [" + code + "] 입니다.", code: code}
}

// longContent is a code in two parts, of one of ten kinds. The other part may have a code too, or may be the
// same in every message.
func (c *carrier) longContent(of shop, kind int) [2]content {
	both := [2]content{c.codeContent(of), {sender: of.sender, text: "남에게 알려 주지 마세요."}}
	switch {
	case kind < 3:
		both[1] = c.codeContent(of)
	case kind < 7:
		both[1].text += " " + c.word()
	}
	ref := c.word()
	for i := range both {
		both[i].ref, both[i].part, both[i].parts = ref, i+1, 2
	}
	return both
}

// alike returns a room's last one-piece content with a code; the given one where there is none.
func (c *carrier) alike(room string, l content) content {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, ok := c.last[room]; ok {
		return last
	}
	return l
}

// advert has no code; codelike has an unasked one, and not the sender of any marketplace.
func (c *carrier) advert(of shop) content {
	return content{sender: of.sender, text: "(광고) [" + of.name + "] 이번 주 특가를 만나 보세요. " + c.word()}
}

func (c *carrier) codelike() content {
	return c.codeContent(shop{"1577-9999", "쿠팡 택배"})
}

// word returns a new word, in letters that no code has.
func (c *carrier) word() string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(c.count.Add(1)))
}

// filter is what an ask wants of its answer.
type filter struct {
	From     []string `json:"from,omitempty"`
	Contains string   `json:"contains,omitempty"`
}

// takes reports whether a content can be the answer.
func (f filter) takes(l content) bool {
	from := len(f.From) == 0
	for _, sender := range f.From {
		from = from || sameSender(sender, l.sender)
	}
	return from && strings.Contains(l.text, f.Contains)
}

// sameSender compares digits, with +82 as 0.
func sameSender(a, b string) bool {
	digits := func(s string) string {
		if rest, ok := strings.CutPrefix(s, "+82"); ok {
			s = "0" + rest
		}
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s)
	}
	return digits(a) == digits(b)
}
