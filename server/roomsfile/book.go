package roomsfile

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

// Book serves the last valid version of the file. It is safe for concurrent use during a reload.
type Book struct {
	checks  Checks
	log     *slog.Logger
	keys    *seal.Keyring
	file    atomic.Pointer[File]
	right   prometheus.Gauge
	rightAt prometheus.Gauge
}

// Open reads the file for the first time; an invalid file is an error. From then on, keys opens messages
// sealed with any room's secret. Without a path, every room has the settings' values.
func Open(c Checks, keys *seal.Keyring, log *slog.Logger, registry prometheus.Registerer) (*Book, error) {
	b := &Book{checks: c, log: log, keys: keys,
		right: prometheus.NewGauge(prometheus.GaugeOpts{Name: "waitroom_rooms_file_last_reload_successful",
			Help: "1 where ROOMS_FILE was right when it was last read; 0 where it was not, and what was read " +
				"before is served from."}),
		rightAt: prometheus.NewGauge(
			prometheus.GaugeOpts{Name: "waitroom_rooms_file_last_reload_success_timestamp_seconds",
				Help: "When ROOMS_FILE was last read and right."})}
	if c.Path == "" {
		b.file.Store(&File{rest: &b.checks.Rest})
		return b, nil
	}
	if err := b.read(); err != nil {
		return nil, err
	}
	registry.MustRegister(b.right, b.rightAt)
	return b, nil
}

// Of returns a room's current entry.
func (b *Book) Of(id room.ID) *Entry { return b.file.Load().Of(id) }

// Sum returns the digest of the current file.
func (b *Book) Sum() string { return b.file.Load().Sum }

// Each calls the function `of` for each entry of the current file.
func (b *Book) Each(of func(name string, e *Entry)) { b.file.Load().Each(of) }

// Reload rereads the file. If it is invalid, the previous version stays, and the log has the reason.
func (b *Book) Reload() {
	if err := b.read(); err != nil {
		b.right.Set(0)
		b.log.Error("the rooms file is refused: what was read before stays", "error", err)
		return
	}
	b.log.Info("the rooms file was read", "file", b.checks.Path, "entries", b.file.Load().Len())
}

func (b *Book) read() error {
	f, err := Read(b.checks)
	if err != nil {
		return fmt.Errorf("WAITROOM_ROOMS_FILE (--rooms-file): %w", err)
	}
	for _, warning := range f.Warnings {
		b.log.Warn("rooms file: " + warning)
	}
	b.keys.Learn(f.secrets...)
	b.file.Store(f)
	b.right.Set(1)
	b.rightAt.Set(float64(time.Now().UnixMilli()) / 1000)
	return nil
}
