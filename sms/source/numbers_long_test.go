//go:build long

package source

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/sms"
)

const (
	numbersSent  = 10_000
	numbersRooms = 20
)

// toNumber is a message of the phones, and the room that it has to reach; "" = none.
type toNumber struct {
	id, body string
	room     room.ID
	request  func(now time.Time) sms.Request
}

// Ten phones with two SIM cards each post to one address for twenty rooms. Two rooms are known by their cards
// alone. Messages are repeated, at once, later and side by side, and some are to private numbers.
func TestTwentyNumbersThroughOneAddressNoneWrongLostOrDoubled(t *testing.T) {
	rdb := redistest.Shared(t)
	engine := room.New(rdb, room.Config{Journal: 1 << 20, Keys: seal.NewKeyring([]byte(secret))})
	phone := configured(t, gatewayKind, Template{})
	var rooms []sms.NumberedRoom
	for i := range numbersRooms {
		one := sms.NumberedRoom{ID: room.ID(fmt.Sprint("number:", i)), Source: phone.Source}
		if one.Phone = numberOf(i); i < 2 {
			one.Phone, one.SIM = "", fmt.Sprint(i+1)
		}
		rooms = append(rooms, one)
	}
	service, err := sms.New(sms.Config{Engine: engine, Completes: true,
		Source:   func(room.ID, string) sms.Source { return phone.Source },
		Numbered: func(string) []sms.NumberedRoom { return rooms }})
	require.NoError(t, err)

	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]toNumber, numbersSent)
	for i := range all {
		all[i] = toAnyNumber(i, rng)
	}
	repeats := postAll(t, service, all)
	found := map[string]room.ID{}
	for _, one := range rooms {
		journal(t, engine, one.ID, func(message string) {
			require.Empty(t, found[message], "%s is in two rooms, or twice in one", message)
			found[message] = one.ID
		})
	}
	wrong, lost, private := 0, 0, 0
	for _, m := range all {
		switch to := found[m.id]; {
		case m.room == "" && to == "":
			private++
		case to == "":
			lost++
		case to != m.room:
			wrong++
		}
	}
	t.Logf("%d messages, %d repeats, %d to private numbers, %d in a wrong room, %d lost", len(all), repeats, private,
		wrong, lost)
	require.Zero(t, wrong)
	require.Zero(t, lost)
	require.Positive(t, private)
}

func numberOf(i int) string { return fmt.Sprintf("010-5555-%04d", i) }

// toAnyNumber makes a message to a random number: of a room, named or by its card, or a private one.
func toAnyNumber(i int, rng *rand.Rand) toNumber {
	n := rng.IntN(numbersRooms + 1)
	m := toNumber{id: fmt.Sprint("event-", i), body: fmt.Sprintf("[마켓] 인증번호 [%06d]", i)}
	to, card := fmt.Sprintf(`"+82%s"`, strings.ReplaceAll(numberOf(n), "-", "")[1:]), 1+n%2
	switch {
	case n == numbersRooms: // a private number, in a third slot
		to, card = `"01099999999"`, 3
	case n < 2: // the phone does not know its numbers
		to, m.room = "null", room.ID(fmt.Sprint("number:", n))
	default:
		m.room = room.ID(fmt.Sprint("number:", n))
	}
	event, field := smsReceived, "message"
	if i%3 == 0 {
		event, field = mmsDownloaded, "body"
	}
	sent := time.Now().Add(-time.Second).Format("2006-01-02T15:04:05.000Z07:00")
	body := fmt.Sprintf(`{"event":%q,"id":%q,"payload":{"sender":"15881234","recipient":%s,"simNumber":%d,%q:%q,`+
		`"receivedAt":%q}}`, event, m.id, to, card, field, m.body, sent)
	m.request = func(now time.Time) sms.Request { return byGateway(secret, body, now) }
	return m
}

// postAll posts the messages from several connections, and repeats some of them.
func postAll(t *testing.T, service *sms.Service, all []toNumber) (repeats int) {
	t.Helper()
	var group sync.WaitGroup
	var mu sync.Mutex
	post := func(m toNumber) {
		answers, err := service.ReceiveAny(t.Context(), "phone", m.request(time.Now()))
		if err != nil || len(answers) != 1 || (answers[0].Reason == room.WrongNumber) != (m.room == "") {
			t.Errorf("%s: %v %v", m.id, answers, err)
		}
	}
	const connections = 8
	for c := range connections {
		group.Go(func() {
			rng, again := rand.New(rand.NewPCG(3, uint64(c))), 0
			for i := c; i < len(all); i += connections {
				post(all[i])
				for range rng.IntN(2) {
					post(all[i])
					again++
				}
				if rng.IntN(4) == 0 { // of any time, also of another connection's
					post(all[rng.IntN(i+1)])
					again++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			repeats += again
		})
	}
	group.Wait()
	return repeats
}

// journal calls of for each message that is in a room's journal.
func journal(t *testing.T, engine *room.Engine, id room.ID, of func(message string)) {
	t.Helper()
	for {
		entries, err := engine.ReadJournal(t.Context(), id, 1000)
		require.NoError(t, err)
		if len(entries) == 0 {
			return
		}
		for _, entry := range entries {
			for _, r := range entry.Records {
				if r.Type == "message" {
					of(r.MessageID)
				}
			}
		}
		require.NoError(t, engine.TrimJournal(t.Context(), id, entries))
	}
}
