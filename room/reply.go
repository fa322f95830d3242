package room

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// answer is a parsed reply of one line.
type answer struct {
	code     string
	standing Standing
	rest     []string
}

// parseAnswer parses "code view standing rest…". The standing is valid also with a refusal.
func (e *Engine) parseAnswer(id ID, res any) (answer, error) {
	text, ok := res.(string)
	if !ok {
		return answer{}, fmt.Errorf("%w: reply is a %T", ErrStore, res)
	}
	r := reader{fields: strings.Fields(text)}
	a := answer{code: r.text()}
	a.standing = Standing{View: r.view(), Place: r.place(), LeaseLength: e.Terms(id).Lease}
	if r.short {
		return answer{}, fmt.Errorf("%w: reply is cut short", ErrStore)
	}
	a.rest = r.fields
	if a.code == register {
		return a, registerError(a.standing.Epoch, a.rest)
	}
	return a, codeError(a.code)
}

// register is the reply's code if the index entry is too old. The reply's view has epoch 0 if Redis does not
// have the room; its last field is then the absence token.
const register = "register"

func registerError(epoch int64, rest []string) error {
	if epoch == 0 && len(rest) > 0 {
		return &unknownRoom{rest[len(rest)-1]}
	}
	return errRegister
}

// codeError returns the error of a refusal or of register, and nil for the other known codes.
func codeError(code string) error {
	if err, ok := refusals[code]; ok {
		return err
	}
	switch code {
	case "ok", "active", "idle", "asleep", "replayed":
		return nil
	case register:
		return errRegister
	}
	return fmt.Errorf("%w: reply code %q", ErrStore, code)
}

// reader takes fields from the front.
type reader struct {
	fields []string
	short  bool
}

func (r *reader) text() string {
	if len(r.fields) == 0 {
		r.short = true
		return ""
	}
	f := r.fields[0]
	r.fields = r.fields[1:]
	if f == "-" {
		return ""
	}
	return f
}

func (r *reader) int() int64 { return number(r.text()) }

// number parses an integer; 0 if the text is not one.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func (r *reader) float() float64 {
	f, _ := strconv.ParseFloat(r.text(), 64)
	return f
}

// seller takes a field "=seller"; "" for none. The "=" is there because a seller may be called "-".
func (r *reader) seller() string { return strings.TrimPrefix(r.text(), "=") }

func (r *reader) view() View {
	v := View{Epoch: r.int(), Version: r.int(), Now: r.int(), Waiting: int(r.int())}
	hold, rest, _ := strings.Cut(r.text(), ",")
	spread, lineage, _ := strings.Cut(rest, ",")
	v.Hold, v.Spread, v.Lineage = duration(hold), duration(spread), lineage
	// Later releases may add to this field and the lease's last one.
	paused, _, _ := strings.Cut(r.text(), ",")
	v.Paused = paused == "1"
	lease := Lease{Ticket: r.int(), Fence: r.int(), GrantedAt: r.int(), ExpiresAt: r.int(),
		Asked: int(r.int()), Open: int(r.int())}
	askAfter, rest, _ := strings.Cut(r.text(), ",")
	claimBy, _, _ := strings.Cut(rest, ",")
	lease.AskAfter, lease.ClaimBy = number(askAfter), number(claimBy)
	if lease.Fence != 0 {
		v.Lease = &lease
	}
	return v
}

// duration parses milliseconds; 0 if the text is no number.
func duration(ms string) time.Duration {
	f, _ := strconv.ParseFloat(ms, 64)
	return time.Duration(f * float64(time.Millisecond))
}

func (r *reader) place() Place {
	p := Place{Status: Status(r.text()), Ticket: r.int(), Seller: r.seller(), Outcome: Outcome(r.text()),
		Fence: r.int(), Position: int(r.int()), Rank: r.float()}
	if p.Status == Waiting {
		p.Unclaimed, p.Outcome = p.Outcome == Unclaimed, ""
	}
	return p
}
