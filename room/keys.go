package room

// Every key of a room carries the room's id as its hash tag, so that one script works on all of them
// on Redis Cluster. docs/redis-keys.md has what each holds.
var keyNames = [...]string{
	"lock", "queue", "state", "places", "sellers", "seen", "away", "ended", "leases", "journal", "here", "inbox", "texts",
}

// LockKey is Names.Lock where there is no prefix and the database is 0, as people look it up with redis-cli.
func LockKey(id ID) string { return Names{}.Lock(id) }

// JournalKey is Names.Journal there.
func JournalKey(id ID) string { return Names{}.Journal(id) }

// Channel is Names.Events there.
func Channel(id ID) string { return Names{}.Events(id) }
