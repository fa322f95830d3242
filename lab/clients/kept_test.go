package clients

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/client"
)

// killed are the languages whose robots run in processes of their own, which can be killed.
var killed = append([]language{processes("go", os.Args[0], driven)}, languages[1:]...)

// driven as the only argument has the test's program run one turn, as testdata/driver.* do.
const driven = "driven-by-lines"

// drive runs one turn by the Go client: commands come as lines of JSON, and each is answered by one.
func drive() {
	var robot *goRobot
	var writing sync.Mutex
	answer := func(a processAnswer) {
		writing.Lock()
		defer writing.Unlock()
		_ = json.NewEncoder(os.Stdout).Encode(a)
	}
	going, commands, ctx := make(chan bool), json.NewDecoder(os.Stdin), context.Background()
	for {
		var c struct {
			ID                                int
			Do, URL, Room, Seller, Keep, From string
		}
		if commands.Decode(&c) != nil {
			return
		}
		if c.Do == "go" {
			going <- true
			continue
		}
		go func() {
			a, err := processAnswer{ID: c.ID}, error(nil)
			switch c.Do {
			case "join":
				if robot, err = joinInGoKept(ctx, c.URL, c.Room, c.Seller, c.Keep); err == nil {
					a.Session = robot.session()
				}
			case "wait":
				err = robot.wait(ctx)
			case "code":
				a.Code, a.Late, err = robot.code(ctx, c.From, 0, func() {
					answer(processAnswer{ID: c.ID, Asks: true})
					<-going
				})
			case "done":
				err = robot.done(ctx)
			}
			if err != nil {
				a.Error = err.Error()
			}
			answer(a)
		}()
	}
}

func joinInGoKept(ctx context.Context, url, room, seller, dir string) (*goRobot, error) {
	c, err := client.New(url, client.Config{})
	if err != nil {
		return nil, err
	}
	turn, err := c.Join(ctx, room, seller, client.Keep(client.Dir(dir)))
	return &goRobot{turn: turn}, said(err)
}

// started is a robot that keeps its session in a directory, and has joined.
func (l language) started(t *testing.T, s *site, room, seller, dir string) *processRobot {
	t.Helper()
	r, err := l.kept(t.Context(), t, s.proxy.URL, room, seller, dir)
	require.NoError(t, err)
	return r.(*processRobot)
}

// A robot that was killed goes on where it was when it is started again, by nothing but the same join.
func TestARobotThatIsKilledGoesOnWhenItIsStartedAgain(t *testing.T) {
	s := newSite(t, 2, "WAITROOM_SMS_QUARANTINE=1s")
	for _, l := range killed {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			dir, room := filepath.Join(t.TempDir(), "made", "if missing"), s.room()
			holder := languages[0].mustJoin(t, s, room, "holder")
			inLine := l.started(t, s, room, "a", dir)
			go func() { _ = inLine.wait(t.Context()) }()
			s.untilThere(inLine.session())
			inLine.kill()

			again := l.started(t, s, room, "a", dir)
			require.Equal(t, inLine.session(), again.session())
			require.NoError(t, holder.leave(t.Context()))
			require.NoError(t, again.wait(t.Context()))
			again.kill() // in its turn

			again = l.started(t, s, room, "a", dir)
			require.NoError(t, again.wait(t.Context()))
			ctx, cancel := context.WithCancel(t.Context())
			_, _, err := again.code(ctx, from, 0, cancel) // the server has its ask
			require.Error(t, err)
			again.kill()
			require.Equal(t, "matched", s.send(room, from, "인증번호 482913")) // which ends the turn

			again = l.started(t, s, room, "a", dir)
			require.NoError(t, again.wait(t.Context()))
			code, _, err := again.code(t.Context(), from, 0, func() { t.Error("it asks again") })
			require.NoError(t, err)
			require.Equal(t, "482913", code)
			require.NoError(t, again.done(t.Context()))

			kept, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, kept, "no session of a turn that is over is kept")
			next := l.started(t, s, room, "a", dir)
			require.NotEqual(t, again.session(), next.session())
			require.NoError(t, next.wait(t.Context()))
			require.NoError(t, next.done(t.Context()))
		})
	}
}

// The answer to its join is lost, and the robot dies before another try.
func TestARobotThatIsKilledWhileItJoinsHasItsPlace(t *testing.T) {
	s := newSite(t, 1)
	for _, l := range killed {
		t.Run(l.name, func(t *testing.T) {
			dir, room := t.TempDir(), s.room()
			s.lose.Store(1 << 30)
			r := startProcess(t, l.command)
			r.send(map[string]any{"do": "join", "url": s.proxy.URL, "room": room, "seller": "a", "keep": dir})
			s.until(func() bool { return s.calls(room, "lock").Load() > 0 && s.status(room, "").Status == "locked" })
			r.kill()
			s.lose.Store(0)
			again := l.started(t, s, room, "a", dir)
			require.NoError(t, again.wait(t.Context()))
			require.NoError(t, again.done(t.Context()))
		})
	}
}

// A place that ended while its robot was dead is over: the robot begins again, as a new session. Each seller
// and each room have sessions of their own.
func TestARobotWhoseTurnRanOutWhileItWasDeadBeginsAgain(t *testing.T) {
	s := newSite(t, 1, "WAITROOM_LEASE=2s")
	for _, l := range killed {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			dir, room := t.TempDir(), s.room()
			r := l.started(t, s, room, "a", dir)
			require.NoError(t, r.wait(t.Context()))
			r.kill()
			s.until(func() bool { return s.status(room, r.session()).Me.Status == "ended" })
			again, other, elsewhere := l.started(t, s, room, "a", dir), l.started(t, s, room, "b", dir),
				l.started(t, s, s.room(), "a", dir)
			require.NotEqual(t, r.session(), again.session())
			require.NotEqual(t, other.session(), again.session())
			require.NotEqual(t, elsewhere.session(), again.session())
		})
	}
}

// A robot that dies right after it has joined, before it waits, holds up no other seller.
func TestARobotThatDiesAfterItHasJoinedIsPassedOver(t *testing.T) {
	s := newSite(t, 1, "WAITROOM_AWAY_AFTER=1s", "WAITROOM_SMS_QUARANTINE=1s")
	store := redis.NewClient(&redis.Options{Addr: s.redis})
	t.Cleanup(func() { _ = store.Close() })
	for _, l := range killed {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			dir, room := t.TempDir(), s.room()
			holder := languages[0].mustJoin(t, s, room, "holder")
			dead := l.started(t, s, room, "a", dir)
			dead.kill()
			next := languages[0].mustJoin(t, s, room, "b")
			waited := background(func() error { return next.wait(t.Context()) })
			s.until(func() bool {
				_, err := store.ZScore(t.Context(), "{"+room+"}:away", dead.session()).Result()
				return err == nil
			})
			require.NoError(t, holder.leave(t.Context()))
			require.NoError(t, waited())

			again := l.started(t, s, room, "a", dir)
			require.Equal(t, dead.session(), again.session(), "it has kept its place")
			back := background(func() error { return again.wait(t.Context()) })
			require.NoError(t, next.done(t.Context()))
			require.NoError(t, back())
		})
	}
}

// A store of the program's own takes the place of the directory.
func TestASessionIsKeptInAStoreOfThePrograms(t *testing.T) {
	s := newSite(t, 1)
	room := s.room()
	want := "load " + s.proxy.URL + " " + room + " s-1\nsave " + s.proxy.URL + " " + room + " s-1\n" +
		"forget " + s.proxy.URL + " " + room + " s-1\n"
	for name, run := range map[string]func() string{
		"go": func() string {
			kept := &listed{}
			c, err := client.New(s.proxy.URL+"/", client.Config{})
			require.NoError(t, err)
			turn, err := c.Join(t.Context(), room, "s-1", client.Keep(kept))
			require.NoError(t, err)
			require.NoError(t, turn.Done(t.Context()))
			return kept.lines
		},
		"javascript": func() string {
			return runScript(t, s.proxy.URL, `
const keep = {
  load: async (place) => (console.log("load", place), undefined),
  save: async (place, session) => console.log(session ? "save" : "forget", place),
};
const turn = await join(url + "/", "`+room+`", "s-1", { keep });
await turn.done();`) + "\n"
		},
		"python": func() string {
			return runPython(t, `
class Keep:
    def load(self, place):
        print("load", place)

    def save(self, place, session):
        print("save" if session else "forget", place)

turn = waitroom.join("`+s.proxy.URL+`/", "`+room+`", "s-1", keep=Keep())
turn.done()`) + "\n"
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, want, run()) })
	}
}

// listed is a store that lists its calls and keeps nothing.
type listed struct{ lines string }

func (l *listed) Load(_ context.Context, place string) (string, error) {
	l.lines += "load " + place + "\n"
	return "", nil
}

func (l *listed) Save(_ context.Context, place, session string) error {
	does := "save "
	if session == "" {
		does = "forget "
	}
	l.lines += does + place + "\n"
	return nil
}

// Without the seller's id nothing would tell two sellers' places apart, also where a token names the seller.
func TestToKeepASessionNeedsTheSellersID(t *testing.T) {
	c, err := client.New("http://127.0.0.1:1", client.Config{})
	require.NoError(t, err)
	_, err = c.Join(within(t, time.Minute), "room:1", "", client.Keep(client.Dir(t.TempDir())))
	require.EqualError(t, err, "keep a session: want the seller's id, also beside a token")
	require.Equal(t, "TypeError: keep a session: want the seller's id, also beside a token",
		runScript(t, "http://127.0.0.1:1", `
await join(url, "room:1", "", { keep: "." }).catch((error) => console.log(String(error)));`))
	require.Equal(t, "keep a session: want the seller's id, also beside a token", runPython(t, `
try:
    waitroom.join("http://127.0.0.1:1", "room:1", "", keep=".")
except ValueError as error:
    print(error)`))
}

// A robot in one language goes on with what another has kept.
func TestEveryLanguageKeepsASessionInTheSameFile(t *testing.T) {
	s := newSite(t, 1)
	dir, room := t.TempDir(), s.room()
	first := killed[0].started(t, s, room, "s-1", dir)
	first.kill()
	for _, l := range killed {
		r := l.started(t, s, room, "s-1", dir)
		require.Equal(t, first.session(), r.session(), l.name)
		r.kill()
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
	about, err := files[0].Info()
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), about.Mode())
}
