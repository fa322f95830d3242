package signin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestUnknownNameIsAsMuchWorkAsAWrongPassword(t *testing.T) {
	d, written := newDesk(kimsConfig(t, redistest.Start(t).Client()))
	long := strings.Repeat("x", longest)
	cfg := d.cfg
	cfg.Users = map[string]string{"kim": hashed(t, "open sesame", bcrypt.MinCost),
		"lee": hashed(t, long, bcrypt.MinCost)}
	d.cfg = cfg
	for i, c := range []struct {
		name, password string
		want           error
		written        string
	}{
		{"kim", "wrong", ErrWrong, "kim sign_in_failed: wrong name or password, from 192.0.2.1"},
		{"kim", "", ErrWrong, "kim sign_in_failed: wrong name or password, from 192.0.2.1"},
		{"KIM", "open sesame", ErrWrong, "? sign_in_failed: wrong name or password, from 192.0.2.1"},
		{"", "open sesame", ErrWrong, "? sign_in_failed: wrong name or password, from 192.0.2.1"},
		{"open sesame", "kim", ErrWrong, "? sign_in_failed: wrong name or password, from 192.0.2.1"},
		{"support", "x", ErrWrong, "? sign_in_failed: wrong name or password, from 192.0.2.1"},
		{"lee", long, nil, "lee signed_in: by password, from 192.0.2.1"},
		{"lee", long + "x", ErrWrong, "lee sign_in_failed: wrong name or password, from 192.0.2.1"},
	} {
		err := enter(d, c.name, c.password, here)
		require.ErrorIs(t, err, c.want, c.name)
		require.Equal(t, []string{c.written}, written.take())
		require.Equal(t, int64(i+1), written.compared.Load(), "one comparison each")
	}
}

func TestDecoysCostWhatTheUsersHashesCost(t *testing.T) {
	d := New(Config{Users: map[string]string{"a": hashed(t, "x", 4), "b": hashed(t, "x", 6)}})
	costs := map[int]bool{}
	for i := range 100 {
		var hashes []string
		d.compare = func(hash, _ []byte) error {
			hashes = append(hashes, string(hash))
			return nil // even then the name is unknown
		}
		for range 2 {
			require.ErrorIs(t, d.verify(t.Context(), fmt.Sprint("nobody ", i), "x"), ErrWrong)
		}
		require.Equal(t, hashes[0], hashes[1], "the same at each try")
		cost, err := bcrypt.Cost([]byte(hashes[0]))
		require.NoError(t, err)
		if !costs[cost] {
			require.ErrorIs(t, bcrypt.CompareHashAndPassword([]byte(hashes[0]), []byte("x")),
				bcrypt.ErrMismatchedHashAndPassword, "it is worked on to the end")
		}
		costs[cost] = true
	}
	require.Equal(t, map[int]bool{4: true, 6: true}, costs)
}

func TestFloodWaitsForItsTurnAndNotForLong(t *testing.T) {
	server := redistest.Start(t)
	d, written := newDesk(kimsConfig(t, server.Client()))
	require.NoError(t, d.hashing.Acquire(t.Context(), atOnce())) // others are being checked
	d.patience = time.Millisecond
	limited, ok := errors.AsType[Limited](enter(d, "kim", "open sesame", here))
	require.True(t, ok)
	require.Equal(t, d.patience, limited.After)
	gone, cancel := context.WithCancel(t.Context())
	d.patience = time.Hour
	left := make(chan error)
	go func() {
		_, _, err := d.SignIn(gone, "kim", "open sesame", here)
		left <- err
	}()
	cancel()
	require.ErrorIs(t, <-left, context.Canceled)
	require.Zero(t, written.compared.Load())
	require.NotContains(t, everything(t, server.Client()), "tries:", "what was not compared is not counted")
	d.hashing.Release(atOnce())
	require.NoError(t, enter(d, "kim", "open sesame", here))
}
