package signin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestEleventhWrongTryOfANameFromAnAddressIsLimitedOnEveryReplica(t *testing.T) {
	server := redistest.Start(t)
	cfg := kimsConfig(t, server.Client())
	a, writtenA := newDesk(cfg)
	b, writtenB := newDesk(cfg)
	for _, name := range []string{"kim", "nobody"} {
		for i := range 10 {
			require.ErrorIs(t, enter([]*Desk{a, b}[i%2], name, "wrong", here), ErrWrong)
		}
		compared := writtenA.compared.Load() + writtenB.compared.Load()
		writtenA.take()
		writtenB.take()
		for _, d := range []*Desk{a, b, a} {
			err := enter(d, name, "open sesame", here)
			limited, ok := errors.AsType[Limited](err)
			require.True(t, ok, "the right password too: %v", err)
			require.Greater(t, limited.After, triesWindow-time.Minute)
			require.LessOrEqual(t, limited.After, triesWindow)
		}
		require.Equal(t, compared, writtenA.compared.Load()+writtenB.compared.Load(),
			"nothing is compared any more")
		who := map[string]string{"kim": "kim", "nobody": "?"}[name]
		require.Equal(t, []string{who + " sign_in_limited: too many wrong tries under this name from this " +
			"address, from " + here}, append(writtenA.take(), writtenB.take()...), "once a window")
	}
}

// An attacker who tries a name from everywhere keeps its agent out only from the attacker's own addresses.
func TestWrongTriesFromElsewhereKeepNoAgentOut(t *testing.T) {
	d, written := newDesk(kimsConfig(t, redistest.Start(t).Client()))
	d.compare = func(_, password []byte) error {
		if string(password) == "open sesame" {
			return nil
		}
		return ErrWrong
	}
	from := func(i int) string { return fmt.Sprintf("198.51.%d.%d", i/200, i%200) }
	for i := range 1000 {
		require.ErrorIs(t, enter(d, "kim", "wrong", from(i/10)), ErrWrong)
		if i == 500 {
			require.NoError(t, enter(d, "kim", "open sesame", here))
		}
	}
	written.take()
	require.ErrorAs(t, enter(d, "kim", "open sesame", here), &Limited{})
	require.Equal(t, []string{"kim sign_in_limited: too many wrong tries under this name, from " + here},
		written.take())
}

func TestFiftyFirstWrongTryFromAnAddressIsLimited(t *testing.T) {
	d, written := newDesk(kimsConfig(t, redistest.Start(t).Client()))
	for i := range 50 {
		require.ErrorIs(t, enter(d, fmt.Sprint("nobody ", i), "wrong", here), ErrWrong)
	}
	written.take()
	for range 2 {
		require.ErrorAs(t, enter(d, "kim", "open sesame", here), &Limited{})
	}
	require.Equal(t, []string{"kim sign_in_limited: too many wrong tries, from 192.0.2.1"}, written.take())
	require.NoError(t, enter(d, "kim", "open sesame", "192.0.2.2"), "others are not concerned")
}

func TestTriesAreForgottenOneByOne(t *testing.T) {
	server := redistest.Start(t)
	d, _ := newDesk(kimsConfig(t, server.Client()))
	for range 10 {
		require.ErrorIs(t, enter(d, "kim", "wrong", here), ErrWrong)
	}
	key := d.key("tries:both:" + d.masked("kim\n"+here))
	oldest, err := server.Client().ZRange(t.Context(), key, 0, 0).Result()
	require.NoError(t, err)
	require.NoError(t, server.Client().ZIncrBy(t.Context(), key, -float64(triesWindow.Milliseconds()-5000),
		oldest[0]).Err())
	limited, _ := errors.AsType[Limited](enter(d, "kim", "open sesame", here))
	require.LessOrEqual(t, limited.After, 5*time.Second, "it gets the time when the oldest is forgotten")
	require.Positive(t, limited.After)
	require.NoError(t, server.Client().ZIncrBy(t.Context(), key, -5000, oldest[0]).Err())
	require.NoError(t, enter(d, "kim", "open sesame", here))
}

func TestSuccessGivesItsTryBackAndNoOther(t *testing.T) {
	server := redistest.Start(t)
	d, _ := newDesk(kimsConfig(t, server.Client()))
	for range triesFromAnIP + 1 {
		require.NoError(t, enter(d, "kim", "open sesame", here))
	}
	require.NotContains(t, everything(t, server.Client()), "tries:")
	for range 9 {
		require.ErrorIs(t, enter(d, "kim", "wrong", here), ErrWrong)
	}
	require.NoError(t, enter(d, "kim", "open sesame", here))
	require.ErrorIs(t, enter(d, "kim", "wrong", here), ErrWrong)
	require.ErrorAs(t, enter(d, "kim", "open sesame", here), &Limited{})
}

// results runs many tries at once and counts their results.
func results(tries []func() error) (right, wrong, limited int) {
	var all sync.WaitGroup
	errs := make([]error, len(tries))
	for i, try := range tries {
		all.Go(func() { errs[i] = try() })
	}
	all.Wait()
	for _, err := range errs {
		switch {
		case err == nil:
			right++
		case errors.Is(err, ErrWrong):
			wrong++
		case errors.As(err, &Limited{}):
			limited++
		}
	}
	return right, wrong, limited
}

func TestOfTwoHundredTriesAtOnceTenAreCompared(t *testing.T) {
	rdb := redistest.Start(t).Client()
	cfg := kimsConfig(t, rdb)
	a, writtenA := newDesk(cfg)
	b, writtenB := newDesk(cfg)
	var tries []func() error
	for i := range 200 {
		tries = append(tries, func() error {
			return enter([]*Desk{a, b}[i%2], "kim", fmt.Sprint("guess ", i), here)
		})
	}
	right, wrong, limited := results(tries)
	require.Equal(t, []int{0, 10, 190}, []int{right, wrong, limited})
	require.Equal(t, int64(10), writtenA.compared.Load()+writtenB.compared.Load())
	lines := append(writtenA.take(), writtenB.take()...)
	require.Len(t, lines, 11, "each failure, and once that it is limited")
}

func TestHangingUpHidesNoWrongTry(t *testing.T) {
	server := redistest.Start(t)
	d, written := newDesk(kimsConfig(t, server.Client()))
	ctx, cancel := context.WithCancel(t.Context())
	compare := d.compare
	d.compare = func(hash, password []byte) error {
		cancel()
		return compare(hash, password)
	}
	_, _, err := d.SignIn(ctx, "kim", "wrong", here)
	require.ErrorIs(t, err, ErrWrong)
	require.Equal(t, []string{"kim sign_in_failed: wrong name or password, from 192.0.2.1"}, written.take())
	require.Equal(t, 3, strings.Count(everything(t, server.Client()), "tries:"),
		"of the name, of the address and of both")
}

func TestLostReplyCountsOneTry(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	cfg := kimsConfig(t, proxy.Client())
	d, written := newDesk(cfg)
	require.NoError(t, enter(d, "kim", "open sesame", here)) // Redis has the script now
	for range 9 {
		require.ErrorIs(t, enter(d, "kim", "wrong", here), ErrWrong)
	}
	lost := proxy.DropNextReply(nil)
	require.ErrorIs(t, enter(d, "kim", "wrong", here), ErrWrong, "the tenth")
	<-lost
	written.take()
	lost = proxy.DropNextReply(nil)
	require.ErrorAs(t, enter(d, "kim", "wrong", here), &Limited{})
	<-lost
	require.Equal(t, []string{"kim sign_in_limited: too many wrong tries under this name from this address, from " + here},
		written.take(), "a repeat of the first refusal gets the same")
}
