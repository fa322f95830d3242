package roomsfile

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/room"
)

// Book is what is served from: the file as it was when it was last right. Any number of goroutines may ask it
// while it is read again.
type Book struct {
	checks  Checks
	log     *slog.Logger
	keys    *room.Keyring
	file    atomic.Pointer[File]
	right   prometheus.Gauge
	rightAt prometheus.Gauge
}

// Open reads the file for the first time; where that is wrong there is no book. keys opens what was sealed
// with a secret of any room, from the time on that the book has it.
func Open(c Checks, keys *room.Keyring, log *slog.Logger, registry prometheus.Registerer) (*Book, error) {
	b := &Book{checks: c, log: log, keys: keys,
		right: prometheus.NewGauge(prometheus.GaugeOpts{Name: "waitroom_rooms_file_last_reload_successful",
			Help: "1 where ROOMS_FILE was right when it was last read; 0 where it was not, and what was read before is served from."}),
		rightAt: prometheus.NewGauge(prometheus.GaugeOpts{Name: "waitroom_rooms_file_last_reload_success_timestamp_seconds",
			Help: "When ROOMS_FILE was last read and right."})}
	if err := b.read(); err != nil {
		return nil, err
	}
	registry.MustRegister(b.right, b.rightAt)
	return b, nil
}

// Of is what holds for a room now.
func (b *Book) Of(id room.ID) *Entry { return b.file.Load().Of(id) }

// Each is the file's as it is now.
func (b *Book) Each(of func(name string, e *Entry)) { b.file.Load().Each(of) }

// Reload reads the file again. Where it is wrong, what was read before stays, and the log says why.
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
	for _, doubt := range f.Warnings {
		b.log.Warn("rooms file: " + doubt)
	}
	b.keys.Learn(f.secrets...)
	b.file.Store(f)
	b.right.Set(1)
	b.rightAt.Set(float64(time.Now().UnixMilli()) / 1000)
	return nil
}
