package signin

import (
	"context"
	"crypto/rand"
	_ "embed" // of the script
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed tries.lua
var triesSource string

var triesScript = redis.NewScript(triesSource)

// The limits of tries within the window, over all replicas.
const (
	triesWindow   = 10 * time.Minute
	triesOfBoth   = 10   // of a name from one address
	triesOfAName  = 1000 // from all addresses: a person elsewhere must not keep an agent out
	triesFromAnIP = 50
)

// try is a counted try that can be given back.
type try struct {
	id   string
	keys []string // where it is counted
}

// limited is a kind of try with a limit.
type limited struct {
	key    string
	most   int
	reason string // the audit's reason at the limit
}

// count counts a wrong try before comparing, so that concurrent tries cannot exceed the limit. Refusal:
// Limited, which counts nothing.
func (d *Desk) count(ctx context.Context, name, address string) (try, error) {
	return d.countOf(ctx, d.known(name), address,
		limited{d.key("tries:both:" + d.masked(name+"\n"+address)), triesOfBoth,
			"too many wrong tries under this name from this address"},
		limited{d.key("tries:name:" + d.masked(name)), triesOfAName, "too many wrong tries under this name"},
		limited{d.key("tries:address:" + d.masked(address)), triesFromAnIP, "too many wrong tries"})
}

// countOf is count for any limits; agent is the name in the audit.
func (d *Desk) countOf(ctx context.Context, agent, address string, limits ...limited) (try, error) {
	t := try{id: rand.Text()}
	var keys []string
	args := []any{t.id, triesWindow.Milliseconds()}
	for _, l := range limits {
		t.keys, keys, args = append(t.keys, l.key), append(keys, l.key, l.key+":told"), append(args, l.most)
	}
	reply, err := triesScript.Run(ctx, d.cfg.Redis, keys, args...).Int64Slice()
	if err != nil {
		return try{}, stored(err)
	}
	if reply[0] == 0 {
		return t, nil
	}
	for i, l := range limits {
		if reply[1+i] == 1 {
			d.audit(ctx, agent, address, "sign_in_limited", l.reason)
		}
	}
	return try{}, Limited{time.Duration(reply[0]) * time.Millisecond}
}

// giveBack removes a counted try. If the store fails, the try stays counted until it expires.
func (d *Desk) giveBack(ctx context.Context, t try) {
	pipe := d.cfg.Redis.Pipeline()
	for _, key := range t.keys {
		pipe.ZRem(ctx, key, t.id)
	}
	if _, err := pipe.Exec(context.WithoutCancel(ctx)); err != nil {
		d.cfg.Log.WarnContext(ctx, "a try to sign in stays counted", "error", err)
	}
}
