package support

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/request"
)

// mostAddresses is how many addresses are listed.
const mostAddresses = 100

// addressRow has the waiters of one address, in the order of the line.
type addressRow struct {
	Address string  `json:"address"` // a digest, of this room and a day
	Places  int     `json:"places"`
	Tickets []int64 `json:"tickets"` // at most as many as one action removes
}

// addresses is GET /api/support/{room}/addresses: the addresses with several waiters, those with most first.
func (d *Desk) addresses(c *gin.Context) {
	ctx, cancel := d.Asking(c)
	defer cancel()
	r, err := d.Engine.Roster(ctx, request.Room(c))
	if err != nil {
		d.Fail(c, err)
		return
	}
	d.JSON(c, http.StatusOK, gin.H{"addresses": byAddress(r.Line)})
}

func byAddress(line []room.Waiter) []addressRow {
	found := make(map[string]*addressRow)
	for _, w := range line {
		if w.Address == "" {
			continue
		}
		row := found[w.Address]
		if row == nil {
			row = &addressRow{Address: w.Address}
			found[w.Address] = row
		}
		if row.Places++; len(row.Tickets) < maxTickets {
			row.Tickets = append(row.Tickets, w.Ticket)
		}
	}
	rows := []addressRow{}
	for _, row := range found {
		if row.Places > 1 {
			rows = append(rows, *row)
		}
	}
	slices.SortFunc(rows, func(a, b addressRow) int {
		return cmp.Or(cmp.Compare(b.Places, a.Places), cmp.Compare(a.Tickets[0], b.Tickets[0]))
	})
	return rows[:min(len(rows), mostAddresses)]
}
