package ledger_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/pgtest"
	"github.com/waitroom/waitroom/ledger"
)

// One operation is a whole lease: joined, granted, matched, ended, and three events for the integration.
func BenchmarkDrain(b *testing.B) {
	for name, url := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(b.TempDir(), "waitroom.db") },
		"postgres": func() string { return pgtest.Start(b).URL() },
	} {
		b.Run(name, func(b *testing.B) {
			bench := newBench(url())
			l, err := ledger.Open(b.Context(), bench.config())
			require.NoError(b, err)
			defer func() { _ = l.Close() }()
			for n := range b.N {
				bench.life(int64(n + 1))
			}
			b.ResetTimer()
			require.NoError(b, l.Drain(b.Context(), here))
			b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}
