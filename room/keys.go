package room

// keyNames are the keys of a room. Each has the room's id as its hash tag, so that one script may use all of
// them on Redis Cluster. docs/redis-keys.md has the content of each. No room has the key none: see
// Names.keys.
var keyNames = [...]string{
	"lock", "queue", "state", "places", "sellers", "seen", "away",
	"ended", "leases", "journal", "here", "inbox", "texts", "none",
}

// LockKey returns the lock key of a room without a prefix in database 0, for use with redis-cli.
func LockKey(id ID) string { return Names{}.Lock(id) }

// Channel returns the events channel of a room without a prefix in database 0.
func Channel(id ID) string { return Names{}.Events(id) }
