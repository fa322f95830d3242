//go:build !long

package room_test

// bothWays has every test on Redis call the library by functions and, once more, as a script.
const bothWays = false
