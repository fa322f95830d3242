package support

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/web/request"
)

// HistoryFilter selects rows of a room's history. Zero fields do not narrow it.
type HistoryFilter struct {
	Seller   string
	From, To int64 // half-open, unix ms
	Limit    int   // rows on a page; 0 = the ledger's default
	Cursor   string
	Latest   bool // latest first
}

// history is GET /api/support/{room}/history.
func (d *Desk) history(c *gin.Context) {
	f, err := historyFilter(c)
	if err != nil {
		d.Fail(c, err)
		return
	}
	switch c.DefaultQuery("format", "json") {
	case "json":
		d.historyJSON(c, f)
	case "csv":
		d.historyCSV(c, f)
	default:
		d.Refuse(c, "invalid_format")
	}
}

func (d *Desk) historyJSON(c *gin.Context, f HistoryFilter) {
	page, err := d.rows(c, f)
	if err != nil {
		d.Fail(c, err)
		return
	}
	page.Leases = append([]history.Lease{}, page.Leases...) // [] in the JSON, not null
	page.Places = append([]history.Place{}, page.Places...)
	page.Messages = append([]history.Message{}, page.Messages...)
	page.Actions = append([]history.Action{}, page.Actions...)
	d.JSON(c, http.StatusOK, page)
}

// rows reads a page of the history.
func (d *Desk) rows(c *gin.Context, f HistoryFilter) (history.Page, error) {
	ctx, cancel := d.Asking(c)
	defer cancel()
	return d.Records.History(ctx, request.Room(c), f)
}
