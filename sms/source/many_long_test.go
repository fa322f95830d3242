//go:build long

package source

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/sms"
)

var messages = flag.Int("messages", 2000, "how many messages are sent in all")

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

// bare is the format of a message that has neither an id nor a time.
var bare = Template{From: "from", Text: "text"}

// senders has, for each kind of source, the request that it sends for one message.
var senders = map[string]func(id, body string, at, now time.Time) sms.Request{
	"twilio": func(id, body string, _, _ time.Time) sms.Request {
		return byTwilio(here, secret, url.Values{"MessageSid": {"SM" + id}, "From": {"+8215881234"}, "Body": {body},
			"SmsStatus": {"received"}})
	},
	"android-sms-gateway": func(id, body string, at, now time.Time) sms.Request {
		return byGateway(secret, strings.NewReplacer("Ey6ECgOkVVFjz3CL48B8C", id, text, body,
			"2026-11-25T20:59:58.000+09:00",
			at.Truncate(time.Second).Format("2006-01-02T15:04:05.000Z07:00")).Replace(gatewayBody), now)
	},
	"httpsms": func(id, body string, at, now time.Time) sms.Request {
		return byHTTPSMS(secret, strings.NewReplacer("32343a19-da5e-4b1b-a767-3298a73703cb", id, text, body,
			"2026-11-25T11:59:58.123Z",
			at.Format(time.RFC3339Nano)).Replace(httpSMSBody), jwt.SigningMethodHS256, now)
	},
	"smsforwarder": func(_, body string, at, now time.Time) sms.Request {
		r := forwarderJSON(secret, now)
		r.Body = []byte(strings.NewReplacer(text, body, "2026-11-25T20:59:58.123+09:00",
			at.Format(time.RFC3339Nano)).Replace(string(r.Body)))
		return r
	},
	"template": func(_, body string, _, _ time.Time) sms.Request {
		return request(url.Values{"from": {"15881234"}, "text": {body}}.Encode(), "Content-Type", asForm,
			"Authorization", "Bearer "+secret)
	},
}

// sent is a message and its first answer.
type sent struct {
	id, body string
	at       time.Time
	answer   sms.Answer
}

// Sources send some of many messages again, at once and later. No repeat counts twice, and no message goes to
// another's lease.
func TestManyMessagesWithRepeatsNoneDoubledNoneWrong(t *testing.T) {
	require.Len(t, senders, len(Kinds()))
	rdb := redistest.Shared(t)
	engine := room.New(rdb, room.Config{Journal: 1 << 20, Keys: seal.NewKeyring([]byte(secret))})
	service, err := sms.New(sms.Config{Engine: engine, Completes: true,
		Source: func(_ room.ID, name string) sms.Source {
			return configured(t, name, bare)
		}})
	require.NoError(t, err)
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			sendMany(t, engine, service, kind, *messages/len(Kinds()))
		})
	}
}

// sendMany lets sessions take one turn after the other, each with a message of its own.
func sendMany(t *testing.T, engine *room.Engine, service *sms.Service, kind string, count int) {
	ctx, id, rng := context.Background(), room.ID("room:"+kind), rand.New(rand.NewPCG(1, uint64(len(kind))))
	post := func(s sent) sms.Answer {
		answers, err := service.ReceiveFrom(ctx, id, kind, senders[kind](s.id, s.body, s.at, time.Now()))
		require.NoError(t, err)
		require.Len(t, answers, 1)
		return answers[0]
	}
	var all []sent
	matched, repeats := 0, 0
	for i := range count {
		session := room.NewSession()
		st, err := engine.Join(ctx, id, room.JoinRequest{Session: session, Seller: "a"})
		require.NoError(t, err)
		s := sent{id: fmt.Sprint("id-", i), body: fmt.Sprintf("[쿠팡] 인증번호 %06d", 100_000+i),
			at: room.Time(st.Lease.GrantedAt)}
		s.answer = post(s)
		all = append(all, s)
		if s.answer.Result != room.Unmatched {
			matched++
			require.Equal(t, sms.Answer{Result: room.Matched, Ticket: st.Lease.Ticket, Fence: st.Lease.Fence},
				s.answer)
		}
		for range rng.IntN(3) {
			require.Equal(t, s.answer, post(s))
			repeats++
		}
		if earlier := all[rng.IntN(len(all))]; rng.IntN(3) == 0 {
			require.Equal(t, earlier.answer, post(earlier))
			repeats++
		}
		requireOwn(t, engine, id, session, s)
		// it is still a holder if its message was not matched
		_, _ = engine.Leave(ctx, id, room.LeaveRequest{Session: session, Outcome: room.Cancelled})
	}
	require.Equal(t, count, journalled(t, engine, id))
	t.Logf("%d messages, %d repeats, %d matched, %d in doubt", count, repeats, matched, count-matched)
	if kind != "android-sms-gateway" { // its time is a whole second, which contains many of these leases
		require.Greater(t, matched, count*98/100)
	}
}

// requireOwn requires that a session sees its own message once, or none.
func requireOwn(t *testing.T, engine *room.Engine, id room.ID, session string, s sent) {
	t.Helper()
	_, seats, err := engine.Look(context.Background(), id, session)
	require.NoError(t, err)
	want := 1
	if s.answer.Result == room.Unmatched {
		want = 0
	}
	require.Len(t, seats[0].Messages, want)
	for _, m := range seats[0].Messages {
		require.Equal(t, s.body, m.Text)
	}
}

// journalled returns the number of messages in the journal, and requires that each is there once.
func journalled(t *testing.T, engine *room.Engine, id room.ID) int {
	t.Helper()
	seen := map[string]bool{}
	for {
		entries, err := engine.ReadJournal(context.Background(), id, 1000)
		require.NoError(t, err)
		if len(entries) == 0 {
			return len(seen)
		}
		for _, entry := range entries {
			for _, r := range entry.Records {
				if r.Type == "message" {
					require.False(t, seen[r.MessageID], r.MessageID)
					seen[r.MessageID] = true
				}
			}
		}
		require.NoError(t, engine.TrimJournal(context.Background(), id, entries))
	}
}
