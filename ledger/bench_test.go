package ledger_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/pgtest"
	"github.com/waitroom/waitroom/room"
)

// One operation of lives is a whole lease: joined, granted, matched, ended, and three events for the integration. One
// of pairs is a join and a done of a line that nobody tells anything of: what rooms write that are busy.
func BenchmarkDrain(b *testing.B) {
	for name, url := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(b.TempDir(), "waitroom.db") },
		"postgres": func() string { return pgtest.Start(b).URL() },
	} {
		b.Run(name+"/lives", func(b *testing.B) { benchmarkDrain(b, url(), true, (*bench).life) })
		b.Run(name+"/pairs", func(b *testing.B) { benchmarkDrain(b, url(), false, (*bench).pair) })
	}
}

func benchmarkDrain(b *testing.B, url string, tell bool, fill func(*bench, int64)) {
	bench := newBench(url)
	c := bench.config()
	c.Tell = tell
	l := bench.openWith(b, c)
	for n := range b.N {
		fill(bench, int64(n+1))
	}
	b.ResetTimer()
	require.NoError(b, l.Drain(b.Context(), here))
	b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "entries/s")
}

// pair is somebody who joins a line of 60, and the holder who is done.
func (b *bench) pair(ticket int64) {
	b.write(1, joined(ticket+60))
	b.write(1, ended(ticket, room.Completed), granted(ticket+1))
}
