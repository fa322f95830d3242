package doctor

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/agree"
	"github.com/waitroom/waitroom/server/store"
)

const (
	oldestRedis = "6.2"
	clockOff    = 2 * time.Second // how far Redis's clock may be from this host's
	memoryShare = 0.85
)

// redis checks the store, with Cluster each master.
func (d *doctor) redis(ctx context.Context) {
	const about = "redis"
	if d.Redis.Embedded() {
		return
	}
	if by, ok := d.Redis.Sentinels(); ok && !d.sentinels(ctx, by) {
		return
	}
	s, err := d.Redis.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		d.wrong(about, "Correct WAITROOM_REDIS_URL.", "%v", err)
		return
	}
	defer s.Close()
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if err := s.Client.Ping(within).Err(); err != nil {
		d.wrong(about, d.Redis.Remedy(err), "%s does not answer: %v.", d.Redis, err)
		return
	}
	if err := d.Redis.Suits(within, s.Client); err != nil {
		d.wrong(about, "Correct WAITROOM_REDIS_URL.", "%s: %v.", d.Redis, err)
		return
	}
	if cluster, ok := s.Client.(*redis.ClusterClient); ok {
		d.cluster(within, cluster)
	} else if one, ok := s.Client.(*redis.Client); ok {
		d.node(within, one)
	}
	d.rights(within, s.Client)
	d.takesWrites(within, s)
	d.shared(within, s.Client)
	if !d.any(about) {
		way := "by its functions"
		if why := room.TryFunctions(within, s.Client); why != "" {
			way = "as a script, which takes about two thirds more of its time: " + why
		}
		d.fine(about, "%s has all that it needs. The engine is called %s.", d.Redis, way)
	}
}

// shared reports settings that are others in a replica that serves now.
func (d *doctor) shared(ctx context.Context, c redis.UniversalClient) {
	found, err := agree.Compare(ctx, c, room.NamesOf(c, d.RedisPrefix), d.Shared(ctx))
	if err != nil {
		return // rights reports what the user may not call
	}
	for _, one := range found {
		d.wrong("settings", "Give all replicas the same, and restart those that have another.", "%s.", one)
	}
}

func (d *doctor) cluster(ctx context.Context, c *redis.ClusterClient) {
	info, err := c.ClusterInfo(ctx).Result()
	if err == nil && !strings.Contains(info, "cluster_state:ok") {
		d.wrong("redis", "Bring the missing masters back, or have all slots served: redis-cli "+
			"--cluster check.", "The cluster does not serve all of its slots.")
	}
	var one sync.Mutex // masters are asked at once
	_ = c.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		d.node(ctx, c)
		return nil
	})
}

// infoLines are the fields of INFO, by name.
type infoLines map[string]string

func infoOf(ctx context.Context, c *redis.Client) (infoLines, error) {
	all := infoLines{}
	// only Redis 7 accepts several sections in one INFO
	for _, section := range []string{"server", "replication", "persistence", "memory"} {
		text, err := c.Info(ctx, section).Result()
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				all[name] = value
			}
		}
	}
	return all, nil
}

func (i infoLines) number(name string) float64 {
	n, _ := strconv.ParseFloat(i[name], 64)
	return n
}

// node checks one server.
func (d *doctor) node(ctx context.Context, c *redis.Client) {
	info, err := infoOf(ctx, c)
	if err != nil {
		d.warn("redis", "Allow it to the user: ACL SETUSER … +info.",
			"INFO is refused: version, persistence and memory are not checked: %v.", err)
	} else {
		d.version(info)
		d.role(info)
		d.keeps(ctx, c, info)
		d.memory(info)
	}
	d.notifications(ctx, c)
	d.clock(ctx, c)
}

func (d *doctor) version(info infoLines) {
	if v := info["redis_version"]; older(v, oldestRedis) {
		d.wrong("redis", "Upgrade it to "+oldestRedis+" or newer.",
			"It is version %s, which lacks commands that waitroom uses.", v)
	}
}

// older reports whether version a is lower than b; both are numbers with dots.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x < y
		}
	}
	return false
}

func (d *doctor) role(info infoLines) {
	if info["role"] != "master" {
		d.wrong("redis", "Give the master's address, or its sentinels': redis+sentinel://…",
			"It is a replica of %s:%s, which takes no writes.", info["master_host"], info["master_port"])
	}
}

// keeps checks what data remains after a restart and a failover.
func (d *doctor) keeps(ctx context.Context, c *redis.Client, info infoLines) {
	if info["aof_enabled"] != "1" {
		d.wrong("redis", "CONFIG SET appendonly yes, and the same in its configuration.",
			"It keeps no append-only file: a restart loses the places in line since its last "+
				"snapshot, or all.")
	}
	for _, name := range []string{"aof_last_write_status", "aof_last_bgrewrite_status",
		"rdb_last_bgsave_status"} {
		if status := info[name]; status != "" && status != "ok" {
			d.wrong("redis", "Look at its disk (full? rights?), its log, and its host's vm.overcommit_memory: "+
				"it has to be 1, or Redis may find no memory to fork.",
				"It could not write its files: %s is %s.", name, status)
		}
	}
	found, err := c.ConfigGet(ctx, "min-replicas-*").Result()
	if replicas := info.number("connected_slaves"); replicas > 0 && err == nil &&
		(found["min-replicas-to-write"] == "0" || found["min-replicas-max-lag"] == "0") {
		d.warn("redis", "CONFIG SET min-replicas-to-write 1, and min-replicas-max-lag 1.",
			"It has %.0f replicas and waits for none of them: nothing bounds what a failover may lose.",
			replicas)
	}
}

func (d *doctor) memory(info infoLines) {
	const do = "CONFIG SET maxmemory-policy noeviction, and the same in its configuration."
	policy, limit, used := info["maxmemory_policy"], info.number("maxmemory"), info.number("used_memory")
	switch {
	case policy == "" || policy == "noeviction":
	case limit > 0:
		d.wrong("redis", do, "maxmemory-policy is %s: when its memory is full it throws away rooms.", policy)
	default:
		d.warn("redis", do, "maxmemory-policy is %s, which counts as soon as maxmemory is set.", policy)
	}
	if limit > 0 && used > memoryShare*limit {
		d.wrong("redis", "Raise maxmemory; and is the ledger behind? What it has not taken in waits "+
			"in Redis.", "%.0f %% of maxmemory are used: when it is full, no seller can join or leave.",
			100*used/limit)
	}
}

func (d *doctor) notifications(ctx context.Context, c *redis.Client) {
	const name = "notify-keyspace-events"
	found, err := c.ConfigGet(ctx, name).Result()
	if err != nil {
		d.warn("redis", "Set "+name+" to Kgx there, or allow +config|get and +config|set.",
			"Whether it reports deleted keys is not known: a lock key that is deleted by hand may be "+
				"noticed a second late.")
		return
	}
	for _, flag := range "Kgx" {
		if all := strings.ContainsRune(found[name], 'A') && flag != 'K'; !all &&
			!strings.ContainsRune(found[name], flag) {
			d.warn("redis", "CONFIG SET "+name+" Kgx, and the same in its configuration.",
				"%s is %q: a replica switches it on at its start where it may; else a lock key that is "+
					"deleted by hand is noticed a second late.", name, found[name])
			return
		}
	}
}

// clock compares Redis's clock, the only one that counts, with this host's, since carriers and portals most
// likely have a similar time.
func (d *doctor) clock(ctx context.Context, c *redis.Client) {
	before := time.Now()
	now, err := c.Time(ctx).Result()
	if err != nil {
		return // it is among the rights
	}
	took := time.Since(before)
	if off := now.Sub(before.Add(took / 2)); off.Abs() > clockOff+took {
		d.wrong("redis", "Have both hosts keep time (chrony, systemd-timesyncd). Slew Redis's clock, do "+
			"not step it: leases end by it.",
			"Its clock is %s off this host's: signatures and tokens are refused and messages matched "+
				"wrongly.", off.Round(time.Millisecond))
	}
}

// takesWrites makes the same check as /readyz.
func (d *doctor) takesWrites(ctx context.Context, s store.Store) {
	err := store.NewProbe(s.Client, room.NamesOf(s.Client, d.RedisPrefix), nil).Write(ctx)
	if err == nil || !errors.Is(err, store.ErrNoWrites) && !room.NoWrites(err) {
		return // or it is among the rights
	}
	do := "Look at its memory and its disk."
	switch text := err.Error(); {
	case strings.Contains(text, "NOREPLICAS"):
		do = "Bring its replicas back: min-replicas-to-write asks for them. Look at INFO replication."
	case strings.Contains(text, "OOM"):
		do = "Raise maxmemory; and is the ledger behind?"
	case strings.Contains(text, "MISCONF"):
		do = "It can not write its files: look at its disk and its log."
	}
	d.wrong("redis", do, "It refuses writes: %v.", err)
}
