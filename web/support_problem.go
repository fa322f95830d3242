package web

import (
	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
)

// problemOf is what is answered to whoever asks here: some codes mean something else at the desk.
func problemOf(c *gin.Context, code string) problem {
	p := problemFor(code)
	if !inSupport(c.Request.URL.Path) {
		return p
	}
	seller := p.said
	p.said = func(lang string) templates.Problem {
		if desk, ok := words(lang).Desk[code]; ok {
			return desk
		}
		return seller(lang)
	}
	return p
}

// refusedByLedger is for an assignment that the ledger refused: unlike what else is not_possible, that did something.
func refusedByLedger(code string) problem {
	return problem{problems[code], func(lang string) templates.Problem { return words(lang).LedgerRefused }}
}
