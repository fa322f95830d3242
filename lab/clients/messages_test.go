package clients

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The codes arrive while the program is not waiting for them.
func TestNoClientLosesACodeOrTakesItTwice(t *testing.T) {
	s := newSite(t, 1, "WAITROOM_SMS_QUARANTINE=1s")
	for name, does := range map[string]func(*testing.T, *site, language){
		"waits on after a text without a code":      waitsOnAfterAText,
		"takes after a restart what came meanwhile": takesWhatCame,
		"two codes at once are two":                 twoAtOnce,
		"its own code comes after the rejected one": itsOwnAfterTheRejected,
		"leaves an earlier seller's late code":      leavesAnEarlierSellersCode,
	} {
		t.Run(name, func(t *testing.T) {
			eachLanguage(t, func(t *testing.T, l language) { does(t, s, l) })
		})
	}
}

// The turn continues after codes. A code is rejected while the program waits for the next one.
func TestEveryClientWaitsOnWhileACodeIsRejected(t *testing.T) {
	s := newSite(t, 1, "WAITROOM_SMS_COMPLETES=false")
	eachLanguage(t, func(t *testing.T, l language) { waitsOnWhileOneIsRejected(t, s, l) })
}

// holder takes the lock of a room of its own.
func (l language) holder(t *testing.T, s *site) (r robot, room string) {
	room = s.room()
	r = l.mustJoin(t, s, room, "a")
	require.NoError(t, r.wait(t.Context()))
	return r, room
}

func waitsOnAfterAText(t *testing.T, s *site, l language) {
	r, room := l.holder(t, s)
	code, _, err := r.code(t.Context(), from, 0, func() {
		s.send(room, from, "배송이 시작되었습니다")
		go func() {
			time.Sleep(2 * time.Second) // a span in which to count calls
			s.send(room, from, "인증번호 482913")
		}()
	})
	require.NoError(t, err)
	require.Equal(t, "482913", code)
	require.Less(t, s.calls(room, "lock/messages").Load(), int64(8), "calls that ask for messages")
}

func takesWhatCame(t *testing.T, s *site, l language) {
	r, room := l.holder(t, s)
	_, _, err := r.code(within(t, time.Second), from, 0, func() {})
	require.Error(t, err, "none comes")
	require.Equal(t, "matched", s.send(room, from, "인증번호 482913"))
	again, err := l.resume(t.Context(), t, s.proxy.URL, room, r.session())
	require.NoError(t, err)
	code, _, err := again.code(t.Context(), from, 0,
		func() { require.Fail(t, "its turn is over: it asks for none") })
	require.NoError(t, err)
	require.Equal(t, "482913", code)
	_, _, err = again.code(t.Context(), from, 0, func() {})
	require.EqualError(t, err, "completed")
	require.NoError(t, again.done(t.Context()))
}

func twoAtOnce(t *testing.T, s *site, l language) {
	r, room := l.holder(t, s)
	asked, codes := make(chan struct{}, 2), make(chan string, 2)
	for range 2 {
		go func() {
			code, _, err := r.code(t.Context(), from, 0, func() { asked <- struct{}{} })
			if err != nil {
				code = err.Error()
			}
			codes <- code
		}()
	}
	<-asked
	<-asked
	s.send(room, from, "인증번호 111111")
	first := <-codes
	s.send(room, from, "인증번호 222222")
	require.Equal(t, []string{"111111", "222222"}, []string{first, <-codes})
}

func itsOwnAfterTheRejected(t *testing.T, s *site, l language) {
	r, room := l.holder(t, s)
	_, _, err := r.code(t.Context(), from, 0, func() { s.send(room, from, "인증번호 111111") })
	require.NoError(t, err)
	s.loseIn(room)
	require.NoError(t, r.reject(t.Context()), "its answer is lost, and it is sent again")
	asked := s.calls(room, "lock/messages").Load()
	go func() {
		s.until(func() bool { return s.calls(room, "lock/messages").Load() > asked })
		s.send(room, from, "인증번호 222222")
	}()
	code, late, err := r.code(t.Context(), from, 20*time.Second, func() {})
	require.NoError(t, err)
	require.Equal(t, "222222", code)
	require.True(t, late)
}

// One session has a turn for seller a, and then one for seller b. Then a's code comes, and after it b's.
func leavesAnEarlierSellersCode(t *testing.T, s *site, l language) {
	a, room := l.holder(t, s)
	var asked time.Time
	_, _, err := a.code(within(t, time.Second), from, 0, func() { asked = time.Now() })
	require.Error(t, err, "none comes")
	require.NoError(t, a.leave(t.Context()))
	s.join(room, a.session(), "b")
	b, err := l.resume(t.Context(), t, s.proxy.URL, room, a.session())
	require.NoError(t, err)
	code, _, err := b.code(t.Context(), from, 0, func() {
		require.Equal(t, "late", s.sendOf(asked, room, from, "인증번호 111111"))
		calls := s.calls(room, "lock/messages").Load()
		go func() {
			s.until(func() bool { return s.calls(room, "lock/messages").Load() > calls })
			s.send(room, from, "인증번호 222222")
		}()
	})
	require.NoError(t, err)
	require.Equal(t, "222222", code)
}

func waitsOnWhileOneIsRejected(t *testing.T, s *site, l language) {
	r, room := l.holder(t, s)
	_, _, err := r.code(t.Context(), from, 0, func() { s.send(room, from, "인증번호 111111") })
	require.NoError(t, err)
	asked := make(chan struct{})
	got := make(chan string, 1)
	go func() {
		code, _, err := r.code(t.Context(), from, 0, func() { close(asked) })
		if err != nil {
			code = err.Error()
		}
		got <- code
	}()
	<-asked
	require.NoError(t, r.reject(t.Context()))
	s.send(room, from, "인증번호 222222")
	require.Equal(t, "222222", <-got)
}

// A program that calls done before its turn keeps its place.
func TestNoClientIsDoneBeforeItsTurn(t *testing.T) {
	s := newSite(t, 1)
	eachLanguage(t, func(t *testing.T, l language) {
		a, room := l.holder(t, s)
		b := l.mustJoin(t, s, room, "b")
		require.Error(t, b.done(t.Context()))
		require.NoError(t, a.done(t.Context()))
		require.NoError(t, b.wait(t.Context()))
		require.NoError(t, b.done(t.Context()))
	})
}

// The program was away during its turn. After a restart it is first in line again and gets its code.
func TestEveryClientComesBackAfterAnUnclaimedTurn(t *testing.T) {
	s := newSite(t, 1, "WAITROOM_CLAIM_WITHIN=1s", "WAITROOM_SMS_QUARANTINE=1s")
	eachLanguage(t, func(t *testing.T, l language) {
		a, room := l.holder(t, s)
		b := languages[0].mustJoin(t, s, room, "b") // by a socket, after which a turn is to be claimed
		require.Error(t, b.wait(within(t, time.Second)))
		require.NoError(t, a.done(t.Context()))
		s.until(func() bool { return s.status(room, b.session()).Me.Unclaimed })
		again, err := l.resume(t.Context(), t, s.proxy.URL, room, b.session())
		require.NoError(t, err)
		require.NoError(t, again.wait(within(t, 10*time.Second)))
		code, _, err := again.code(t.Context(), from, 0, func() { s.send(room, from, "인증번호 482913") })
		require.NoError(t, err)
		require.Equal(t, "482913", code)
		require.NoError(t, again.done(t.Context()))
	})
}
