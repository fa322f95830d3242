package clients

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

var dir string // of the server's program

func TestMain(m *testing.M) {
	if os.Args[len(os.Args)-1] == driven {
		drive()
		return
	}
	flag.Parse()
	err := flag.Set("test.parallel", "12") // the tests wait more than they work
	if err != nil {
		panic(err)
	}
	if dir, err = os.MkdirTemp("", "waitroom-clients-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// robot is a client's turn in any of the languages. An error's text is the outcome of an ended place or the
// code of a refusal.
type robot interface {
	wait(ctx context.Context) error
	// code asks, calls sent once the marketplace may be asked, and returns the code. late is how long it
	// waits for one after the turn is over.
	code(ctx context.Context, from string, late time.Duration, sent func()) (code string, isLate bool, err error)
	reject(ctx context.Context) error // the last code
	done(ctx context.Context) error
	leave(ctx context.Context) error
	// hurry has each later call end by itself after so long.
	hurry(ctx context.Context, patience time.Duration) error
	session() string
	// positions returns the positions that wait has reported.
	positions() []int
}

// language joins with one client; with a session it continues that session's place.
type language struct {
	name   string
	join   func(ctx context.Context, t *testing.T, url, room, seller string) (robot, error)
	resume func(ctx context.Context, t *testing.T, url, room, session string) (robot, error)
	// proven joins a server that wants proof, with a function that gets the seller's token from a portal.
	proven func(ctx context.Context, t *testing.T, url, room, portal string) (robot, error)
	// kept joins as join does, and keeps its session in a directory; of a client in a process, by a command.
	kept    func(ctx context.Context, t *testing.T, url, room, seller, dir string) (robot, error)
	command []string
	// within joins a room, and ends the join itself after so long.
	within func(ctx context.Context, t *testing.T, url, room string, patience time.Duration) error
}

const from = "15881234"

// background runs f in a goroutine. It returns a function that waits for f and returns its error.
func background(f func() error) func() error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return func() error { return <-done }
}

func (l language) mustJoin(t *testing.T, s *site, room, seller string) robot {
	t.Helper()
	r, err := l.join(t.Context(), t, s.proxy.URL, room, seller)
	require.NoError(t, err)
	return r
}

func TestEveryClientKeepsToTheList(t *testing.T) {
	s := newSite(t, 2, "WAITROOM_SMS_QUARANTINE=3s")
	busy := newSite(t, 1, "WAITROOM_SMS_QUARANTINE=60s")
	short := newSite(t, 1, "WAITROOM_SMS_QUARANTINE=1s", "WAITROOM_LEASE=2s")
	claims := newSite(t, 1, "WAITROOM_SMS_QUARANTINE=1s", "WAITROOM_CLAIM_WITHIN=2s")
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			for name, does := range map[string]func(*testing.T, language){
				"takes its code and is done": func(t *testing.T,
					l language) {
					takesItsCode(t, s, l)
				},
				"waits in line and out a busy number": func(t *testing.T,
					l language) {
					waitsOutABusyNumber(t, s, l)
				},
				"asks soon after the earlier code has come": func(t *testing.T, l language) {
					asksSoonAfterTheEarlierCode(t, busy, l)
				},
				"takes a message of its sender only": func(t *testing.T,
					l language) {
					takesItsSendersOnly(t, s, l)
				},
				"rejects a code and takes the next": func(t *testing.T, l language) { rejects(t, s, l) },
				"says that its turn is over": func(t *testing.T,
					l language) {
					saysThatItIsOver(t, short, l)
				},
				"takes a late code": func(t *testing.T,
					l language) {
					takesALateCode(t, short, l)
				},
				"claims its turn": func(t *testing.T,
					l language) {
					claimsItsTurn(t, claims, l)
				},
				"goes on after a restart": func(t *testing.T,
					l language) {
					goesOnAfterARestart(t, s, l)
				},
				"returns a code that came before a restart": func(t *testing.T, l language) {
					returnsACodeFromBeforeARestart(t, s, l)
				},
				"leaves the line": func(t *testing.T, l language) { leavesTheLine(t, s, l) },
				"is refused where another session has the place": func(t *testing.T, l language) { isRefused(t, s, l) },
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					does(t, l)
				})
			}
		})
	}
}

func takesItsCode(t *testing.T, s *site, l language) {
	room := s.room()
	r := l.mustJoin(t, s, room, "a")
	require.NoError(t, r.wait(t.Context()))
	code, late, err := r.code(t.Context(), from, 0, func() {
		require.Equal(t, "matched", s.send(room, from, "배송이 시작되었습니다"))
		require.Equal(t, "matched", s.send(room, from, "인증번호 482913"))
	})
	require.NoError(t, err)
	require.Equal(t, "482913", code)
	require.False(t, late)
	require.NoError(t, r.done(t.Context()), "the message has ended the turn already")
	require.NoError(t, r.done(t.Context()))
}

func waitsOutABusyNumber(t *testing.T, s *site, l language) {
	room := s.room()
	a, b := l.mustJoin(t, s, room, "a"), l.mustJoin(t, s, room, "b")
	require.NoError(t, a.wait(t.Context()))
	waited := background(func() error { return b.wait(t.Context()) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, _, err := a.code(ctx, from, 0, func() { // the server has its ask
		time.AfterFunc(2*time.Second, cancel) // b is shown its place meanwhile
	})
	require.Error(t, err, "no code comes")
	require.NoError(t, a.leave(t.Context()))
	left := time.Now()
	require.NoError(t, waited())
	code, _, err := b.code(t.Context(), from, 0, func() {
		require.Greater(t, time.Since(left), time.Second, "the code of a may still come")
		require.Equal(t, "matched", s.send(room, from, "인증번호 111222"))
	})
	require.NoError(t, err)
	require.Equal(t, "111222", code)
	require.Equal(t, 1, b.positions()[0])
}

// The server's Retry-After is then nearly a minute, since it cannot know when the earlier code comes.
func asksSoonAfterTheEarlierCode(t *testing.T, s *site, l language) {
	room := s.room()
	a, b := l.mustJoin(t, s, room, "a"), l.mustJoin(t, s, room, "b")
	require.NoError(t, a.wait(t.Context()))
	announce(t, a, a.leave)
	require.NoError(t, b.wait(t.Context()))
	asked := background(func() error {
		_, _, err := b.code(t.Context(), from, 0, func() { s.send(room, from, "인증번호 333444") })
		return err
	})
	s.until(func() bool { return s.calls(room, "lock/expect").Load() >= 2 })
	require.Equal(t, "late", s.send(room, from, "인증번호 111222"))
	came := time.Now()
	require.NoError(t, asked())
	require.Less(t, time.Since(came), 30*time.Second)
}

// announce has a robot ask for a code that does not come, and calls then.
func announce(t *testing.T, r robot, then func(context.Context) error) {
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := r.code(ctx, from, 0, cancel)
	require.Error(t, err)
	require.NoError(t, then(t.Context()))
}

// The code comes while the program is away, and completes its turn.
func returnsACodeFromBeforeARestart(t *testing.T, s *site, l language) {
	room := s.room()
	r := l.mustJoin(t, s, room, "a")
	require.NoError(t, r.wait(t.Context()))
	announce(t, r, func(context.Context) error { return nil })
	require.Equal(t, "matched", s.send(room, from, "인증번호 482913"))
	again, err := l.resume(t.Context(), t, s.proxy.URL, room, r.session())
	require.NoError(t, err)
	require.NoError(t, again.wait(t.Context()))
	code, _, err := again.code(t.Context(), from, 0, func() { t.Error("it asks again") })
	require.NoError(t, err)
	require.Equal(t, "482913", code)
	require.NoError(t, again.done(t.Context()))
}

func takesItsSendersOnly(t *testing.T, s *site, l language) {
	room := s.room()
	r := l.mustJoin(t, s, room, "a")
	require.NoError(t, r.wait(t.Context()))
	code, _, err := r.code(t.Context(), from, 0, func() {
		require.Equal(t, "unmatched", s.send(room, "15770000", "인증번호 999999"))
		require.Equal(t, "matched", s.send(room, from, "인증번호 482913"))
	})
	require.NoError(t, err)
	require.Equal(t, "482913", code)
}

func rejects(t *testing.T, s *site, l language) {
	room := s.room()
	r := l.mustJoin(t, s, room, "a")
	require.NoError(t, r.wait(t.Context()))
	code, _, err := r.code(t.Context(), from, 0, func() { s.send(room, from, "인증번호 111111") })
	require.NoError(t, err)
	require.Equal(t, "111111", code)
	require.NoError(t, r.reject(t.Context()))
	require.NoError(t, r.leave(t.Context()))
}

func saysThatItIsOver(t *testing.T, s *site, l language) {
	r := l.mustJoin(t, s, s.room(), "a")
	require.NoError(t, r.wait(t.Context()))
	_, _, err := r.code(t.Context(), from, 0, func() {})
	require.EqualError(t, err, "expired")
	require.EqualError(t, r.done(t.Context()), "expired")
}

func takesALateCode(t *testing.T, s *site, l language) {
	room := s.room()
	r := l.mustJoin(t, s, room, "a")
	require.NoError(t, r.wait(t.Context()))
	sent := make(chan string, 1)
	code, late, err := r.code(t.Context(), from, time.Minute, func() {
		go func() {
			s.until(func() bool { return s.status(room, r.session()).Status == "free" })
			sent <- s.send(room, from, "인증번호 482913")
		}()
	})
	require.NoError(t, err)
	require.Equal(t, "late", <-sent)
	require.Equal(t, "482913", code)
	require.True(t, late)
}

func claimsItsTurn(t *testing.T, s *site, l language) {
	room := s.room()
	a, b := l.mustJoin(t, s, room, "a"), l.mustJoin(t, s, room, "b")
	require.NoError(t, a.wait(t.Context()))
	waited := background(func() error { return b.wait(t.Context()) })
	s.untilThere(b.session())
	require.NoError(t, a.done(t.Context()))
	require.NoError(t, waited())
	me := s.status(room, b.session()).Me
	require.Equal(t, "locked", me.Status)
	require.Empty(t, me.ClaimBy, "it has claimed its turn")
	code, _, err := b.code(t.Context(), from, 0, func() { s.send(room, from, "인증번호 482913") })
	require.NoError(t, err)
	require.Equal(t, "482913", code)
}

func goesOnAfterARestart(t *testing.T, s *site, l language) {
	room := s.room()
	a, b := l.mustJoin(t, s, room, "a"), l.mustJoin(t, s, room, "b")
	again, err := l.resume(t.Context(), t, s.proxy.URL, room, b.session())
	require.NoError(t, err)
	waited := background(func() error { return again.wait(t.Context()) })
	require.NoError(t, a.leave(t.Context()))
	require.NoError(t, waited())
	require.NoError(t, again.done(t.Context()))
	_, err = l.resume(t.Context(), t, s.proxy.URL, room, "0f7c4b7e-0000-4000-8000-000000000001")
	require.EqualError(t, err, "no_place")
}

func leavesTheLine(t *testing.T, s *site, l language) {
	room := s.room()
	a, b := l.mustJoin(t, s, room, "a"), l.mustJoin(t, s, room, "b")
	waited := background(func() error { return b.wait(t.Context()) })
	require.NoError(t, b.leave(t.Context()))
	require.NoError(t, b.leave(t.Context()), "it is over")
	require.EqualError(t, waited(), "cancelled")
	require.NoError(t, a.leave(t.Context()))
}

func isRefused(t *testing.T, s *site, l language) {
	room := s.room()
	l.mustJoin(t, s, room, "a")
	_, err := l.join(t.Context(), t, s.proxy.URL, room, "a")
	require.EqualError(t, err, "seller_has_place")
}

func TestEveryClientSurvivesWhatBreaks(t *testing.T) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Run("a killed replica", func(t *testing.T) { survivesAKill(t, l) })
			s := newSite(t, 1, "WAITROOM_SMS_QUARANTINE=1s")
			t.Run("no WebSocket", func(t *testing.T) {
				s.sockets.Store(false)
				defer s.sockets.Store(true)
				room := s.room()
				a, b := l.mustJoin(t, s, room, "a"), l.mustJoin(t, s, room, "b")
				waited := background(func() error { return b.wait(t.Context()) })
				require.NoError(t, a.leave(t.Context()))
				require.NoError(t, waited())
				require.NoError(t, b.done(t.Context()))
			})
			t.Run("lost answers", func(t *testing.T) {
				room := s.room()
				s.lose.Store(1)
				r := l.mustJoin(t, s, room, "a")
				require.NoError(t, r.wait(t.Context()))
				s.lose.Store(2)
				code, _, err := r.code(t.Context(), from, 0,
					func() { require.Equal(t, "matched", s.send(room, from, "인증번호 482913")) })
				require.NoError(t, err)
				require.Equal(t, "482913", code)
				s.lose.Store(1)
				require.NoError(t, r.done(t.Context()))
			})
		})
	}
}

func survivesAKill(t *testing.T, l language) {
	s := newSite(t, 2, "WAITROOM_SMS_QUARANTINE=1s")
	room := s.room()
	a, b := l.mustJoin(t, s, room, "a"), l.mustJoin(t, s, room, "b")
	waited := background(func() error { return b.wait(t.Context()) })
	for _, replica := range s.replicas {
		replica.Kill()
		require.NoError(t, s.stack.Serve(t.Context(), replica))
	}
	require.NoError(t, a.leave(t.Context()))
	require.NoError(t, waited())
	code, _, err := b.code(t.Context(), from, 0,
		func() { require.Equal(t, "matched", s.send(room, from, "인증번호 482913")) })
	require.NoError(t, err)
	require.Equal(t, "482913", code)
	require.NoError(t, b.done(t.Context()))
}
