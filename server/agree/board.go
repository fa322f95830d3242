package agree

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// ErrDiffer is the error of Agree.
var ErrDiffer = errors.New("replicas have different settings")

// Config configures a Board.
type Config struct {
	Redis      redis.UniversalClient
	Names      room.Names
	Name       string          // of this replica
	Settings   func() Settings // of this replica, which may change
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Board knows how this replica's settings differ from those of the others. It is safe for concurrent use.
type Board struct {
	Config
	key, id string
	gauge   *prometheus.GaugeVec

	mu      sync.Mutex
	differs []Difference
}

// New returns a Board, which Run keeps up to date.
func New(c Config) *Board {
	b := &Board{Config: c, key: c.Names.Key(key), id: rand.Text(),
		gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "waitroom_settings_differ",
			Help: "1 where another replica has another value of the setting than this one."},
			[]string{"setting"})}
	c.Registerer.MustRegister(b.gauge)
	b.found(nil, c.Settings())
	return b
}

// Run compares every two seconds until ctx ends, and returns its error. Then the other replicas forget this
// one.
func (b *Board) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		b.exchange(ctx)
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), every)
			defer cancel()
			_ = b.Redis.HDel(last, b.key, b.id).Err() // else it is forgotten within seconds
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// exchange writes this replica's settings and reads those of the others. A store that does not answer is
// reported by other parts, and what was found before stays.
func (b *Board) exchange(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	now, err := b.Redis.Time(ctx).Result()
	if err != nil {
		return
	}
	mine := b.Settings()
	text, err := json.Marshal(entry{At: now.UnixMilli(), Name: b.Name, Settings: mine})
	if err != nil {
		return
	}
	var all *redis.MapStringStringCmd
	if _, err = b.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, b.key, b.id, text)
		p.PExpire(ctx, b.key, kept)
		all = p.HGetAll(ctx, b.key)
		return nil
	}); err != nil {
		return
	}
	live, old := read(all.Val(), now.UnixMilli())
	if len(old) > 0 {
		_ = b.Redis.HDel(ctx, b.key, old...).Err() // the next round tries again
	}
	delete(live, b.id)
	b.found(differences(mine, sorted(live)), mine)
}

// found records the differences, and logs those that are new.
func (b *Board) found(now []Difference, mine Settings) {
	b.mu.Lock()
	before := b.differs
	b.differs = now
	b.mu.Unlock()
	for name := range mine {
		differs := 0.0
		if slices.ContainsFunc(now, func(d Difference) bool { return d.Setting == name }) {
			differs = 1
		}
		b.gauge.WithLabelValues(name).Set(differs)
	}
	for _, d := range now {
		if !slices.Contains(before, d) {
			b.Log.Error("replicas have different settings: "+d.String(), "setting", d.Setting, "other", d.Replica)
		}
	}
	if len(now) == 0 && len(before) > 0 {
		b.Log.Info("replicas have the same settings again")
	}
}

// Agree returns ErrDiffer while another replica has another value of a setting.
func (b *Board) Agree(context.Context) error {
	if b.Differing() != "" {
		return ErrDiffer
	}
	return nil
}

// Differing returns the names of the settings that differ, with commas; "" = none.
func (b *Board) Differing() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for _, d := range b.differs {
		if !slices.Contains(names, d.Setting) {
			names = append(names, d.Setting)
		}
	}
	return strings.Join(names, ", ")
}
