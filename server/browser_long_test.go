//go:build long

package server

import (
	"testing"
)

func TestTwoBrowsersTakeTheirTurnsOnTheEmbeddedStore(t *testing.T) {
	url := start(t, config(t)).URL()
	wholeTurn(t, url, url)
}
