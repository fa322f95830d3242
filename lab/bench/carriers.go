package main

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/sms/sim"
)

const (
	simLeases = 5000 // a few hundred more or fewer move the figures by chance
	simSeed   = 1
)

// carriers simulates the worlds of sms/sim for which the contract has bars.
func (b *bench) carriers(ctx context.Context) error {
	slow := []float64{.02, .05}
	tallies := make([]sim.Counts, len(slow))
	group, ctx := errgroup.WithContext(ctx)
	for i, share := range slow {
		group.Go(func() (err error) {
			tallies[i], err = play(ctx, share, b.n(simLeases))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	wrong := func(t sim.Counts) float64 { return t.Share(t.AllWrong()) }
	b.add(row{what: "simulated carriers (`sms/sim`): wrong attributions at 30 s of quarantine",
		bar: "≤ 0.2 % / 0.7 % where 2 % / 5 % of codes are slow, 0 for codes sent within it", checks: []check{
			{"", wrong(tallies[0]), " %", 0.2, false}, {"", wrong(tallies[1]), " %", 0.7, false},
			{"", float64(tallies[0].Wrong[sim.Broken] + tallies[1].Wrong[sim.Broken]), " of codes sent in time", 0,
				false}},
		how: fmt.Sprintf("%d and %d leases on the embedded store with its clock moved by hand, seed %d: %d and "+
			"%d wrong; chance alone moves such counts by their square root. `make sim` plays more.", tallies[0].Leases,
			tallies[1].Leases,
			simSeed, tallies[0].AllWrong(), tallies[1].AllWrong())})
	return nil
}

// play simulates a number of leases in which a share of the codes is slow.
func play(ctx context.Context, slow float64, leases int) (sim.Counts, error) {
	store := miniredis.NewMiniRedis()
	if err := store.Start(); err != nil {
		return sim.Counts{}, err
	}
	defer store.Close()
	store.ClockTTL(true)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	defer func() { _ = rdb.Close() }()
	w := sim.Default()
	w.Slow = slow
	return sim.Run(ctx, sim.Store{Client: rdb, SetTime: store.SetTime}, w, simSeed, leases)
}
