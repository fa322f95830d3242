package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/server/admission"
)

func TestDoctorHintsAtALimitOfFilesThatABusyRoomReaches(t *testing.T) {
	d := &doctor{}
	d.files(admission.FewFiles)
	d.files(0)
	require.Empty(t, d.findings)
	d.files(256)
	require.Equal(t, Doubtful, d.findings[0].Level)
	require.Contains(t, d.findings[0].Text, "Only 256 files")
	require.Positive(t, admission.FileLimit())
}

func TestDoctorSaysWhatDoesNotWorkInAFrame(t *testing.T) {
	d := &doctor{Config: Config{PublicURL: "https://wait.example",
		FrameAncestors: []string{"http://portal.example"}, SellersProven: true}}
	d.frames("settings")
	require.Len(t, d.findings, 2)
	require.Contains(t, d.findings[0].Text, "does not know its seller")
	require.Contains(t, d.findings[1].Text, "http://portal.example")
}

// PostgreSQL refuses a host for which pg_hba.conf has no line, or one that asks for no password.
func TestDoctorSaysWhatPgHbaNeeds(t *testing.T) {
	for _, said := range []string{
		`FATAL: no pg_hba.conf entry for host "10.0.0.31", user "waitroom", database "waitroom", no encryption (SQLSTATE 28000)`,
		`FATAL: Ident authentication failed for user "waitroom" (SQLSTATE 28000)`,
	} {
		require.Contains(t, whyNoDatabase(errors.New("tls error: server refused TLS connection: "+said)),
			"pg_hba.conf let this host in")
	}
	require.Contains(t, whyNoDatabase(
		errors.New(`FATAL: password authentication failed for user "waitroom" (SQLSTATE 28P01)`)),
		"Correct the user or the password")
}

// The doctor tries what scripts call: one that is new has to be among it.
func TestDoctorTriesEveryCommandOfTheScripts(t *testing.T) {
	source, err := os.ReadFile("rights.go")
	require.NoError(t, err)
	modules, err := filepath.Glob("../../room/lua/*.lua")
	require.NoError(t, err)
	further, err := filepath.Glob("../../room/lua/*/*.lua")
	require.NoError(t, err)
	files := slices.Concat(modules, further)
	calls := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, call := range regexp.MustCompile(`(?:call|command)\('([A-Z]+)'`).FindAllStringSubmatch(string(text), -1) {
			require.Contains(t, string(source), "try('"+call[1]+"'", file)
			calls++
		}
	}
	require.NotZero(t, calls)
}
