// Package agree compares the settings that all replicas of a deployment must share.
//
// Each replica writes its settings into one hash in Redis every two seconds, and reads those of the others.
// Secrets are there as digests of two bytes: enough to see that two differ, too few to try guesses with.
package agree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

const (
	key   = "{waitroom}:settings"
	every = 2 * time.Second
	// a replica that has not written for longer has ended
	silent = 10 * time.Second
	kept   = time.Minute // of what such a replica has written
)

// Settings has the settings of one replica by name: plain values, and digests of secrets.
type Settings map[string]string

// digestMark begins a digest.
const digestMark = "#"

// Digest returns what Settings has of a secret; "" if the secret is not set.
func Digest(name, secret string) string {
	if secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("waitroom setting " + name + "\x00" + secret))
	return digestMark + hex.EncodeToString(sum[:2])
}

// entry is what a replica writes, in JSON.
type entry struct {
	At       int64    `json:"at"` // unix ms of Redis's clock
	Name     string   `json:"name"`
	Settings Settings `json:"settings"`
}

// Difference is a setting that has another value in another replica.
type Difference struct {
	Setting string
	Replica string // the other one
	Here    string // "" where the setting is not set; digests are left out
	There   string
}

// String describes the difference for a person.
func (d Difference) String() string {
	if d.Here == "" && d.There == "" {
		return d.Setting + " is another one in " + d.Replica
	}
	return fmt.Sprintf("%s is %s here and %s in %s", d.Setting, said(d.Here), said(d.There), d.Replica)
}

func said(value string) string {
	if value == "" {
		return "not set"
	}
	return value
}

// differences compares settings with those of other replicas. It passes over a setting that a replica of
// another version does not have.
func differences(mine Settings, others []entry) (all []Difference) {
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		for _, other := range others {
			value, known := other.Settings[name]
			if !known || value == mine[name] {
				continue
			}
			d := Difference{Setting: name, Replica: other.Name, Here: mine[name], There: value}
			if strings.HasPrefix(d.Here, digestMark) || strings.HasPrefix(d.There, digestMark) {
				d.Here, d.There = "", ""
			}
			all = append(all, d)
		}
	}
	return all
}

// read returns what replicas wrote, by id, without those that are silent, and the fields to delete.
func read(fields map[string]string, now int64) (live map[string]entry, old []string) {
	live = make(map[string]entry)
	for id, text := range fields {
		var one entry
		if json.Unmarshal([]byte(text), &one) != nil {
			old = append(old, id)
			continue
		}
		switch age := now - one.At; {
		case age > kept.Milliseconds():
			old = append(old, id)
		case age <= silent.Milliseconds():
			live[id] = one
		}
	}
	return live, old
}

// Compare returns how these settings differ from those of the replicas that serve now.
func Compare(ctx context.Context, c redis.UniversalClient, names room.Names,
	mine Settings) ([]Difference, error) {
	now, err := c.Time(ctx).Result()
	if err != nil {
		return nil, err
	}
	fields, err := c.HGetAll(ctx, names.Key(key)).Result()
	if err != nil {
		return nil, err
	}
	live, _ := read(fields, now.UnixMilli())
	return differences(mine, sorted(live)), nil
}

// sorted returns entries by the name of their replica.
func sorted(live map[string]entry) []entry {
	ids := slices.SortedFunc(maps.Keys(live), func(a, b string) int {
		return strings.Compare(live[a].Name+a, live[b].Name+b)
	})
	list := make([]entry, len(ids))
	for i, id := range ids {
		list[i] = live[id]
	}
	return list
}
