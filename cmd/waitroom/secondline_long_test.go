//go:build long

package main

import (
	"testing"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
)

func TestSecondLineOnPostgreSQLAloneKeepsACodeFromTheWrongSeller(t *testing.T) {
	requireSecondLine(t, "pgx", func(t *testing.T) (url, dsn string) {
		url = pgtest.Start(t).URL()
		return url, url
	})
}
