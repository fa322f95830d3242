//go:build long

package room_test

const bothWays = true
