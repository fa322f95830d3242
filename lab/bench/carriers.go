package main

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/sms/sim"
)

const (
	simLeases = 5000 // a few hundred more or fewer move the figures by chance
	simSeed   = 1
)

// crowds are the worlds for which the contract has bars.
var crowds = []struct {
	median time.Duration // from a seller's ask to the marketplace's button
	slow   float64       // share of codes that are slow
	bar    float64       // most wrong, in % of the leases
}{
	{0, .02, .3}, {5 * time.Second, .02, .3}, {10 * time.Second, .02, .3}, {20 * time.Second, .02, .6},
	{0, .05, .7}, {5 * time.Second, .05, .7}, {10 * time.Second, .05, 1.2}, {20 * time.Second, .05, 1.8},
}

// carriers simulates the worlds of sms/sim for which the contract has bars.
func (b *bench) carriers(ctx context.Context) error {
	tallies := make([]sim.Counts, len(crowds))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for i, c := range crowds {
		group.Go(func() (err error) {
			w := sim.Default()
			w.Slow, w.AskToPress = c.slow, sim.AskToPress(c.median)
			tallies[i], err = play(ctx, w, b.n(simLeases))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	checks, inTime := make([]check, len(crowds)), 0
	for i, c := range crowds {
		checks[i] = check{"", tallies[i].Share(tallies[i].AllWrong()), " %", c.bar, false}
		inTime += tallies[i].Wrong[sim.Broken]
	}
	b.add(row{what: "simulated carriers (`sms/sim`): wrong attributions with the default settings, medians of " +
		"0, 5, 10 and 20 s from the ask to the marketplace's button",
		bar: "≤ 0.3, 0.3, 0.3, 0.6 % where 2 % of codes are slow, ≤ 0.7, 0.7, 1.2, 1.8 % where 5 % are, 0 for " +
			"codes sent within a quarantine after their turn",
		checks: append(checks, check{"", float64(inTime), " of codes sent in time", 0, false}),
		how: fmt.Sprintf("%d leases each on the embedded store with its clock moved by hand, seed %d; chance "+
			"alone moves such counts by their square root. `make sim` plays more.", tallies[0].Leases, simSeed)})
	return nil
}

// play simulates a number of leases in a world.
func play(ctx context.Context, w sim.World, leases int) (sim.Counts, error) {
	store := miniredis.NewMiniRedis()
	if err := store.Start(); err != nil {
		return sim.Counts{}, err
	}
	defer store.Close()
	store.ClockTTL(true)
	rdb := redis.NewClient(&redis.Options{Addr: store.Addr()})
	defer func() { _ = rdb.Close() }()
	return sim.Run(ctx, sim.Store{Client: rdb, SetTime: store.SetTime}, w, simSeed, leases)
}
