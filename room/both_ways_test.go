//go:build !long

package room_test

// bothWays runs every test on Redis by functions and once more by scripts.
const bothWays = false
