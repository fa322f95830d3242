package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestDoctorsExitCodeReportsAFailedCheck(t *testing.T) {
	t.Parallel()
	args := []string{"doctor", "--addr", fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(t)), "--database-url",
		"sqlite:" + filepath.Join(t.TempDir(), "data", "waitroom.db")}
	var out, problems bytes.Buffer
	require.Zero(t, run(args, nil, &out, &problems), out.String())
	require.Contains(t, out.String(), "hint   settings  The store is embedded")

	out.Reset()
	require.Equal(t, 1,
		run(append(args, "--redis-url", fmt.Sprintf("redis://127.0.0.1:%d", testproc.FreePort(t))), nil, &out,
			&problems))
	require.Contains(t, out.String(), "WRONG  redis     Redis at 127.0.0.1:")

	out.Reset()
	require.Equal(t, 1,
		run(append(args, "--lease", "3h", "--rooms", "Ä", "--support-tokens", "desk:act:hush,desk"), nil, &out,
			&problems))
	require.Contains(t, out.String(), "WRONG  settings  WAITROOM_LEASE (--lease) is \"3h\"")
	require.Contains(t, out.String(), "WRONG  settings  WAITROOM_ROOMS")
	require.Contains(t, out.String(), "WRONG  settings  WAITROOM_SUPPORT_TOKENS (--support-tokens): entry 1 "+
		"does not end in a SHA-256")
	require.Contains(t, out.String(), "entry 2 is not name:role:sha256")
	require.NotContains(t, out.String(), "hush")
	require.Contains(t, problems.String(), "see above")
}

func TestDoctorChecksASellersToken(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("hush", 8)
	file := filepath.Join(t.TempDir(), "token")
	check := func(claims portaltest.Claims, more ...string) (int, string) {
		token := portaltest.Sign(t, jwt.SigningMethodHS256, []byte(secret), "", claims)
		require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
		var out, problems bytes.Buffer
		code := run(append([]string{"doctor", "--token", file, "--seller-auth", "jwt", "--seller-jwt-secret", secret},
			more...), nil, &out, &problems)
		require.NotContains(t, out.String()+problems.String(), token[:20])
		return code, out.String()
	}
	code, out := check(portaltest.For("s-1"))
	require.Zero(t, code, out)
	require.Contains(t, out, "ok     token     As Bearer it is taken, for the seller s-1.")
	code, out = check(portaltest.For("s-1").With("sub", 7))
	require.Equal(t, 1, code)
	require.Contains(t, out, "WRONG  token     As Bearer it is refused: sub is a number: want a text.")
	code, _ = check(portaltest.For("s-1").With("room", "stock"), "--room", "stock")
	require.Zero(t, code)
	var problems bytes.Buffer
	require.Equal(t, 1, run([]string{"doctor", "--token", file + "x"}, nil, &problems, &problems))
	require.Contains(t, problems.String(), "--token: ")
}
