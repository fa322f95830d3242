package room

import (
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Names are what the keys and channels of one deployment are called in Redis. Several deployments may share a Redis: in databases of their
// own, or with prefixes of their own. The zero Names are those without a prefix in database 0, as docs/redis-keys.md lists them.
//
// A name begins with its hash tag, such as "{room}:lock". The prefix stands before the tag, so that all keys of a room are in one slot.
type Names struct {
	prefix   string
	database int
}

// NamesOf are the names of a deployment that uses this client's database. It panics on a prefix that is not valid: see ValidPrefix.
func NamesOf(rdb redis.UniversalClient, prefix string) Names {
	if !ValidPrefix(prefix) {
		panic("room: not a valid prefix of keys: " + strconv.Quote(prefix))
	}
	n := Names{prefix: prefix}
	if one, ok := rdb.(interface{ Options() *redis.Options }); ok { // a cluster has no databases
		n.database = one.Options().DB
	}
	return n
}

// prefixMost keeps names short.
const prefixMost = 64

// ValidPrefix reports whether a text may stand before every key and channel: letters, digits and - _ . : / of ASCII. Braces would make another hash
// tag, and a pattern's characters (SCAN, PSUBSCRIBE, ACL) would match what is somebody else's.
func ValidPrefix(prefix string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.:/", r)
	}
	return len(prefix) <= prefixMost && !strings.ContainsFunc(prefix, other)
}

// Key is what the key of that name is called.
func (n Names) Key(name string) string { return n.prefix + name }

// Channel is what the Pub/Sub channel of that name is called. It names the database too, where that is not 0: Pub/Sub knows none.
func (n Names) Channel(name string) string { return n.prefix + name + n.databaseSuffix() }

func (n Names) databaseSuffix() string {
	if n.database == 0 {
		return ""
	}
	return "@" + strconv.Itoa(n.database)
}

// Lock is the key that says who holds a room's lock.
func (n Names) Lock(id ID) string { return n.room(id) + "lock" }

// Journal is the stream of what happened in a room, until the ledger has it.
func (n Names) Journal(id ID) string { return n.room(id) + "journal" }

// Events is the channel on which a room's events are published.
func (n Names) Events(id ID) string { return n.room(id) + n.events() }

// EveryEvents is the pattern of all those channels.
func (n Names) EveryEvents() string { return n.Events("*") }

// LockNotices is the channel on which Redis notifies of a room's lock key.
func (n Names) LockNotices(id ID) string {
	return "__keyspace@" + strconv.Itoa(n.database) + "__:" + n.Lock(id)
}

// Room is the room that a key or channel is of, or what else its hash tag is; "" where the name is not one of this deployment.
func (n Names) Room(name string) ID {
	if rest, ok := strings.CutPrefix(name, n.prefix+"{"); ok {
		if id, _, ok := strings.Cut(rest, "}"); ok {
			return ID(id)
		}
	}
	return ""
}

// events is the end of Events.
func (n Names) events() string { return "events" + n.databaseSuffix() }

// room is how all names of a room begin. Scripts take it from the first key that they are handed: see library.lua.
func (n Names) room(id ID) string { return n.prefix + "{" + string(id) + "}:" }

// keys are the KEYS of every script, in the order library.lua names them; own are the verb's: the first holds the reply to
// this very request.
func (n Names) keys(id ID, own []string) []string {
	begin := n.room(id)
	ks := make([]string, 0, len(keyNames)+len(own))
	for _, name := range keyNames {
		ks = append(ks, begin+name)
	}
	for _, name := range own {
		ks = append(ks, begin+name)
	}
	return ks
}
