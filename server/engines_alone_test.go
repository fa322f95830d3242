//go:build alone

package server

import "github.com/waitroom/waitroom/internal/testkit/webdriver"

// With this tag the journeys are made in the old browser alone.
func init() {
	engines = engines[:1]
	engines[0].name, engines[0].open = "oldchromium", webdriver.OldChromium
}
