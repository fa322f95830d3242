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

// So many wrong tries there may be within the window, over all replicas.
const (
	triesWindow   = 10 * time.Minute
	triesOfAName  = 10
	triesFromAnIP = 50
)

// try is one that has been counted and can be given back.
type try struct {
	id   string
	keys []string // of the name, and of the address
}

// count counts a try before anything is compared, so that no number of tries at once gets past the limit. Refusal: Limited, which counts
// nothing.
func (d *Desk) count(ctx context.Context, name, address string) (try, error) {
	ofName, fromIP := prefix+"tries:name:"+d.masked(name), prefix+"tries:address:"+d.masked(address)
	t := try{rand.Text(), []string{ofName, fromIP}}
	reply, err := triesScript.Run(ctx, d.cfg.Redis, []string{ofName, ofName + ":told", fromIP, fromIP + ":told"},
		t.id, triesWindow.Milliseconds(), triesOfAName, triesFromAnIP).Int64Slice()
	if err != nil {
		return try{}, stored(err)
	}
	if reply[0] == 0 {
		return t, nil
	}
	if reply[1] == 1 {
		d.audit(ctx, d.known(name), "sign_in_limited", "too many wrong tries under this name"+from(address))
	}
	if reply[2] == 1 {
		d.audit(ctx, d.known(name), "sign_in_limited", "too many wrong tries"+from(address))
	}
	return try{}, Limited{time.Duration(reply[0]) * time.Millisecond}
}

// giveBack makes a try not have been. Where the store is away it stays counted, until its time is over.
func (d *Desk) giveBack(ctx context.Context, t try) {
	pipe := d.cfg.Redis.Pipeline()
	for _, key := range t.keys {
		pipe.ZRem(ctx, key, t.id)
	}
	if _, err := pipe.Exec(context.WithoutCancel(ctx)); err != nil {
		d.cfg.Log.WarnContext(ctx, "a try to sign in stays counted", "error", err)
	}
}
