//go:build long

package server

import (
	"testing"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestServesWithSentinelsAndOnACluster(t *testing.T) {
	servesOn(t, map[string]func(*testing.T) string{
		"sentinel": func(t *testing.T) string { return redistest.StartSentinel(t).URL() },
		"cluster":  func(t *testing.T) string { return redistest.StartCluster(t).URL() },
	})
}
