package sms

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

// plainSource accepts every request as signed.
type plainSource struct {
	verify, parse error
	post          Post
}

func (p *plainSource) Verify(Request) error { return p.verify }

func (p *plainSource) Parse(Request) ([]Post, error) {
	if p.parse != nil {
		return nil, p.parse
	}
	return []Post{p.post}, nil
}

// sourced returns a stage whose replicas have one source, called phone.
func sourced(t *testing.T) (*stage, *plainSource, func(*replica) (Answer, error)) {
	s, source := newStage(t), &plainSource{}
	of := func(_ room.ID, name string) Source {
		if name != "phone" {
			return nil
		}
		return source
	}
	s.one, s.two = s.replica(Config{Completes: true, Source: of}), s.replica(Config{Completes: true, Source: of})
	return s, source, func(r *replica) (Answer, error) {
		answers, err := r.ReceiveFrom(context.Background(), integration, "phone", Request{})
		if err != nil {
			return Answer{}, err
		}
		return answers[0], nil
	}
}

// at formats a time (unix ms) as sources write it. The fraction is never zero, since such a time would count
// as a whole second.
func at(ms int64) string {
	return room.Time(ms).Add(time.Microsecond).Format(time.RFC3339Nano)
}

func TestPostOfASourceGoesTheSameWayAsTheRoomsOwn(t *testing.T) {
	s, source, send := sourced(t)
	source.post = Post{ID: "SM1", From: "1588-0000", Text: NewSecret("인증번호 482913"),
		SentAt: at(s.lease.GrantedAt)}
	got, err := send(s.one)
	require.NoError(t, err)
	require.Equal(t, Answer{Result: room.Matched, Ticket: 1, Fence: s.lease.Fence}, got)
	s.requireShown(s.a, "인증번호 482913")
	again, err := send(s.two)
	require.NoError(t, err)
	require.Equal(t, got, again)
	_, err = s.one.ReceiveFrom(context.Background(), integration, "other", Request{})
	require.ErrorIs(t, err, ErrUnknownSource)
}

func TestMessageWithoutAnIDIsKnownByItsSenderTextAndTime(t *testing.T) {
	s, source, send := sourced(t)
	for name, post := range map[string]Post{
		"its time":     {SentAt: at(s.lease.GrantedAt)},
		"a stamp":      {Stamp: 1795262398000},
		"neither":      {},
		"unix seconds": {SentAt: "1795262398"},
	} {
		t.Run(name, func(t *testing.T) {
			source.post = post
			source.post.From, source.post.Text = "1588-0000", NewSecret("인증번호 482913 "+name)
			first, err := send(s.one)
			require.NoError(t, err)
			again, err := send(s.two)
			require.NoError(t, err)
			require.Equal(t, first, again, "not even as a duplicate")
			source.post.Text = NewSecret("인증번호 555555 " + name)
			_, err = send(s.one)
			require.NoError(t, err)
		})
	}
	ids := map[string]bool{}
	for id := range s.ledger.received {
		require.True(t, strings.HasPrefix(id, "~"), id)
		require.NotContains(t, id, "482913")
		ids[id] = true
	}
	require.Len(t, ids, 8)
}

// The derived id of a message is stored in Redis and in the ledger. There are only a million codes, so it has
// to be keyed.
func TestDerivedIDCanNotBeTriedOut(t *testing.T) {
	post := message{from: "1588-0000", text: NewSecret("인증번호 482913"), sent: window{1000, 2000}}
	id := func(secret string) string {
		s := &Service{Config: Config{Engine: room.New(nil, room.Config{Keys: seal.NewKeyring([]byte(secret))})}}
		return s.derivedID(integration, post, 0, 0)
	}
	require.Equal(t, id("a"), id("a"))
	require.NotEqual(t, id("a"), id("b"))
	require.True(t, validID(id("a")))
}

func TestPostIsCheckedAsWhatIsPostedToTheRoom(t *testing.T) {
	good := Post{ID: "1", From: "1588", Text: NewSecret("hello")}
	with := func(change func(*Post)) Post {
		p := good
		change(&p)
		return p
	}
	for want, p := range map[*Fault]Post{
		faultID:         with(func(p *Post) { p.ID = strings.Repeat("x", 129) }),
		faultNoText:     with(func(p *Post) { p.Text = NewSecret(" \n") }),
		faultPart:       with(func(p *Post) { p.Ref, p.Part, p.Parts = "7", "3", "2" }),
		faultSentAt:     with(func(p *Post) { p.SentAt = "2026-11-25 11:59:58" }),
		faultLeapSecond: with(func(p *Post) { p.SentAt = "2026-11-25T11:59:60Z" }),
	} {
		_, err := p.message()
		require.ErrorIs(t, err, want)
	}
	m, err := Post{From: "1588\x00", Text: NewSecret("a\xffb"), SentAt: "1795262398123", Ref: "7", Part: " 2",
		Parts: "3"}.message()
	require.NoError(t, err)
	require.Equal(t, "1588\uFFFD", m.from)
	require.Equal(t, "a\uFFFDb", m.text.Reveal())
	require.Equal(t, window{1795262398123, 1795262398124}, m.sent)
	require.Equal(t, room.Part{Ref: "7", Part: 2, Parts: 3}, m.part)
}

func TestSignatureOfASourceIsRefusedWithWhatToLookAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine := newDeskService(t)
		source := &plainSource{verify: &SignatureFault{Hint: "look at the address"}}
		s.Source = func(room.ID, string) Source { return source }
		_, err := s.ReceiveFrom(t.Context(), integration, "phone", Request{})
		require.ErrorIs(t, err, ErrSignature)
		source.verify, source.parse = nil, Ignored("system:ping")
		_, err = s.ReceiveFrom(t.Context(), integration, "phone", Request{})
		require.ErrorIs(t, err, ErrIgnored, "what is no SMS is not refused")
		require.Len(t, engine.heard(), 1)
		require.Contains(t, engine.heard()[0], "1 message was refused: bad_signature. look at the address")
		time.Sleep(time.Minute)
	})
}

func TestNameOfAnEventIsNeitherACodeNorANumber(t *testing.T) {
	for given, want := range map[string]string{"": "none", "sms:sent": "sms:sent", "v2.sms-30": "v2.sms-30",
		"482913": "other", "01012345678": "other", "a1b2c3d4": "other", "한": "other", "a b": "other"} {
		require.Equal(t, want, eventName(given), given)
	}
}
