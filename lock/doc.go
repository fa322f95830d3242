// Package lock is a fair, fenced lock for the processes that share a Redis. Who waits gets the lock
// in the order of asking, and is woken by a push: the one who unlocks assigns the lock to the next in
// line in the same step. Nobody polls.
package lock
