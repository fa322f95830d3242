package room

import (
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Names makes the names of one deployment's keys and channels in Redis.
//
// Several deployments may share a Redis, each in its own database or with its own prefix. The zero Names has
// no prefix and database 0, as in docs/redis-keys.md. A name begins with its hash tag, such as "{room}:lock".
// The prefix stands before the tag, so that all keys of a room are in one slot.
type Names struct {
	prefix   string
	database int
}

// NamesOf returns the names of a deployment in the client's database. It panics on a prefix that is not
// valid.
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

// prefixMost is the longest prefix; a longer one would make the names of all keys long.
const prefixMost = 64

// ValidPrefix reports whether a text is a valid prefix: at most 64 ASCII letters, digits and - _ . : /
// characters.
//
// Braces would make another hash tag. The wildcards of SCAN, PSUBSCRIBE and ACL would match the keys of other
// deployments.
func ValidPrefix(prefix string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_.:/", r)
	}
	return len(prefix) <= prefixMost && !strings.ContainsFunc(prefix, other)
}

// Key returns a key's name with the prefix.
func (n Names) Key(name string) string { return n.prefix + name }

// Channel returns a Pub/Sub channel's name with the prefix. Pub/Sub is shared by all databases, so the name
// ends with the database unless it is 0.
func (n Names) Channel(name string) string { return n.prefix + name + n.databaseSuffix() }

func (n Names) databaseSuffix() string {
	if n.database == 0 {
		return ""
	}
	return "@" + strconv.Itoa(n.database)
}

// Lock returns the key of a room's lock, which has the holder.
func (n Names) Lock(id ID) string { return n.room(id) + "lock" }

// Journal returns the key of a room's journal: a stream of the changes that the ledger does not have yet.
func (n Names) Journal(id ID) string { return n.room(id) + "journal" }

// Events returns the channel on which a room's events are published.
func (n Names) Events(id ID) string { return n.room(id) + n.events() }

// EveryEvents returns the pattern of all rooms' event channels.
func (n Names) EveryEvents() string { return n.Events("*") }

// LockNotices returns the channel of Redis's keyspace notifications about a room's lock.
func (n Names) LockNotices(id ID) string {
	return "__keyspace@" + strconv.Itoa(n.database) + "__:" + n.Lock(id)
}

// Room returns the hash tag in the name of a key or channel: the room, if a room has that key. It is "" if
// the name is not one of this deployment.
func (n Names) Room(name string) ID {
	if rest, ok := strings.CutPrefix(name, n.prefix+"{"); ok {
		if id, _, ok := strings.Cut(rest, "}"); ok {
			return ID(id)
		}
	}
	return ""
}

// events returns the end of the names that Events returns, behind the room.
func (n Names) events() string { return "events" + n.databaseSuffix() }

// room returns the start of all names of a room. library.lua takes it from the first of KEYS.
func (n Names) room(id ID) string { return n.prefix + "{" + string(id) + "}:" }

// Keys returns the keys of a room that have neither a digest nor an id in their name.
func (n Names) Keys(id ID) []string { return n.keys(id, true) }

// keys returns the KEYS of a call: the lock key, from which the library derives the others.
//
// A cluster gets all of them. While it moves a room to another node, it then refuses the call as a whole,
// since keys are missing on either node. With the lock key alone it would execute the call on a part of the
// room.
func (n Names) keys(id ID, cluster bool) []string {
	begin := n.room(id)
	if !cluster {
		return []string{begin + keyNames[0]}
	}
	ks := make([]string, len(keyNames))
	for i, name := range keyNames {
		ks[i] = begin + name
	}
	return ks
}
