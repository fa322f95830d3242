package support

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
)

// roomsPage is GET /support.
func (d *Desk) roomsPage(c *gin.Context) {
	v := templates.RoomsView{DeskView: d.deskView(c)}
	if d.Names != nil {
		v.Names = d.Names(v.Lang)
	}
	d.Show(c, http.StatusOK, v.Lang, templates.RoomsPage(v))
}

// guidePage is GET /support/-/guide.
func (d *Desk) guidePage(c *gin.Context) {
	v := d.deskView(c)
	d.Show(c, http.StatusOK, v.Lang, templates.GuidePage(v))
}

// deskPage is GET /support/{room}.
func (d *Desk) deskPage(c *gin.Context) {
	v := templates.DeskRoomView{DeskView: d.deskView(c), Room: string(request.Room(c)),
		LeaseSeconds: int(room.Seconds(d.Engine.Terms(request.Room(c)).Lease))}
	begin, _ := d.Hours(request.Room(c), time.Now())
	v.Hours = !begin.IsZero()
	if d.AllSenders != nil {
		v.AllSenders, v.Lately = d.AllSenders(c.Request.Context(), request.Room(c))
	}
	d.Show(c, http.StatusOK, v.Lang, templates.DeskRoomPage(v))
}

// historyPage is GET /support/{room}/history.
func (d *Desk) historyPage(c *gin.Context) {
	v := templates.HistoryView{DeskView: d.deskView(c), Room: string(request.Room(c)),
		Seller: c.Query("seller"), From: c.Query("from"),
		To: c.Query("to"), RowLimit: rowLimit}
	f, err := historyFilter(c)
	f.Latest = true
	var page history.Page
	if err == nil {
		page, err = d.rows(c, f)
	}
	status := http.StatusOK
	if err != nil {
		v.Error, status = d.PageError(c, err)
	}
	query := c.Request.URL.Query()
	query.Del("lang")
	if page.Next != "" {
		query.Set("cursor", string(page.Next))
		v.Next = query.Encode()
	}
	v.Rows, v.Export = page.Rows(true), exportPath(request.Room(c), query)
	d.Show(c, status, v.Lang, templates.HistoryPage(v))
}

// exportPath returns the address of all rows of a search as CSV.
func exportPath(id room.ID, query url.Values) string {
	for _, page := range []string{"cursor", "limit", "bom"} {
		query.Del(page)
	}
	return filePath(id, "history", query)
}

// filePath returns the address of what a room has as CSV.
func filePath(id room.ID, what string, query url.Values) string {
	query.Set("format", "csv")
	return "/api/support/" + url.PathEscape(string(id)) + "/" + what + "?" + query.Encode()
}
