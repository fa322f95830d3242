package reply

import (
	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// problemOf returns the answer to a code at a path: some codes have other texts at the desk.
func problemOf(c *gin.Context, code string) problem.Problem {
	p := problem.For(code)
	if !request.InSupport(c.Request.URL.Path) {
		return p
	}
	seller := p.Words
	p.Words = func(lang string) templates.Problem {
		if desk, ok := problem.Words(lang).Desk[code]; ok {
			return desk
		}
		return seller(lang)
	}
	return p
}

// refusedByLedger returns the problem of an assignment that the ledger refused: unlike other not_possible
// cases, it changed something.
func refusedByLedger(code string) problem.Problem {
	p := problem.For(code)
	p.Words = func(lang string) templates.Problem { return problem.Words(lang).LedgerRefused }
	return p
}
