package server

import (
	"bytes"
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestAuditOfWhatSupportDidIsVerified(t *testing.T) {
	cfg := config(t, append(supportArgs(t), "--redis-url", redistest.Lent(t).URL())...)
	r := start(t, cfg)
	kim := newAgent(t, r.URL(), "kim")
	kim.mustAct("pause", `{"reason":"carrier is down"}`)
	kim.mustAct("resume", `{"reason":"carrier is back"}`)
	kim.history("", func(r reply) bool { return len(r.list("actions")) == 2 })
	var out bytes.Buffer
	require.NoError(t, VerifyAudit(t.Context(), cfg, "", &out))
	require.Regexp(t, `audit +[3-9] rows verified; of 0 the texts were removed`, out.String(), "signing in is in it, too")
	noted := regexp.MustCompile(`ends +(\S+)`).FindStringSubmatch(out.String())[1]
	kim.mustAct("pause", `{"reason":"again"}`)
	kim.history("", func(r reply) bool { return len(r.list("actions")) == 3 })
	out.Reset()
	require.NoError(t, VerifyAudit(t.Context(), cfg, noted, &out))
	require.Contains(t, out.String(), "since   the chains go on from the digest")
	require.NotContains(t, out.String(), noted, "the end is another now")

	db, err := sql.Open("sqlite", strings.TrimPrefix(string(cfg.DatabaseURL), "sqlite:"))
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE actions SET who = 'park' WHERE action = 'pause'`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	out.Reset()
	require.ErrorIs(t, VerifyAudit(t.Context(), cfg, "", &out), errAudit)
	require.Contains(t, out.String(), "WRONG   integration: row 1 was edited")
}

func TestAuditThatIsNotThereIsNotVerified(t *testing.T) {
	cfg := config(t)
	cfg.DatabaseURL = "sqlite:/nowhere/waitroom.db"
	require.ErrorContains(t, VerifyAudit(t.Context(), cfg, "", &bytes.Buffer{}), "there is no ledger")
}
