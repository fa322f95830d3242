//go:build !long

package room_test

// bothWays reports whether each test on Redis runs a second time, with scripts instead of functions.
const bothWays = false
