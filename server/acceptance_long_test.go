//go:build long

package server

import "testing"

func TestOfManyAtOnceOnTheEmbeddedStoreExactlyOneHolds(t *testing.T) {
	everybodyAtOnce(t, start(t, config(t, "--places-per-ip", "0")).URL(), 200)
}
