package room

// Every key of a room carries the room's id as its hash tag, so that one script works on all of them
// on Redis Cluster. docs/architecture.md says what each holds.
var keyNames = [...]string{
	"lock", "queue", "state", "places", "sellers", "seen", "away", "ended", "leases", "journal", "here", "inbox", "texts",
}

// LockKey is the key that says who holds the lock.
func LockKey(id ID) string { return key(id, "lock") }

// JournalKey is the stream of what happened in a room, until the ledger has it.
func JournalKey(id ID) string { return key(id, "journal") }

// Channel is the Pub/Sub channel on which a room's events are told.
func Channel(id ID) string { return key(id, "events") }

func key(id ID, name string) string { return "{" + string(id) + "}:" + name }

// keys are the KEYS of every script, in the order prelude.lua names them; own are the verb's: the first holds the reply to
// this very request.
func keys(id ID, own []string) []string {
	ks := make([]string, 0, len(keyNames)+len(own))
	for _, name := range keyNames {
		ks = append(ks, key(id, name))
	}
	for _, name := range own {
		ks = append(ks, key(id, name))
	}
	return ks
}
