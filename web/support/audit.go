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

// AuditFilter selects actions of support. Zero fields do not narrow it.
type AuditFilter struct {
	Who      string
	Action   string
	Room     room.ID
	From, To int64 // half-open, unix ms
	Limit    int   // 0 = the ledger's default
	Cursor   string
}

// Audit is a page of support's actions, latest first.
type Audit struct {
	Actions []history.Audited `json:"actions"`
	Next    history.Word      `json:"next"` // the cursor of the next page; "" on the last
}

// auditFilter reads ?who=&action=&room=&from=&to=&limit=&cursor=. Empty parameters do not narrow it.
func auditFilter(c *gin.Context) (f AuditFilter, err error) {
	f = AuditFilter{Who: c.Query("who"), Action: c.Query("action"), Room: room.ID(c.Query("room")),
		Cursor: c.Query("cursor")}
	if f.From, err = parseTime(c.Query("from"), false, time.UTC); err != nil {
		return f, err
	}
	if f.To, err = parseTime(c.Query("to"), true, time.UTC); err != nil {
		return f, err
	}
	f.Limit, err = parseLimit(c.Query("limit"))
	return f, err
}

// audit is GET /api/support/audit.
func (d *Desk) audit(c *gin.Context) {
	f, err := auditFilter(c)
	if err != nil {
		d.Fail(c, err)
		return
	}
	switch format := c.DefaultQuery("format", "json"); {
	case format == "csv":
		text := templates.TextIn(request.Desk.Page(c.Request))
		d.auditFile(c, f, &auditCSV{csvWriter: csvTo(c.Writer, sheetOf(c)), text: text})
	case format == "json" && c.Query("download") == "1":
		d.auditFile(c, f, newAuditJSON(c.Writer))
	case format == "json":
		d.auditJSON(c, f)
	default:
		d.Refuse(c, "invalid_format")
	}
}

func (d *Desk) auditJSON(c *gin.Context, f AuditFilter) {
	page, err := d.auditRows(c, f)
	if err != nil {
		d.Fail(c, err)
		return
	}
	page.Actions = append([]history.Audited{}, page.Actions...)
	d.JSON(c, http.StatusOK, page)
}

func (d *Desk) auditRows(c *gin.Context, f AuditFilter) (Audit, error) {
	ctx, cancel := d.Asking(c)
	defer cancel()
	return d.Records.Audit(ctx, f)
}

// auditPage is GET /support/-/audit, with the filters of the API.
func (d *Desk) auditPage(c *gin.Context) {
	v := templates.AuditView{DeskView: d.deskView(c), Who: c.Query("who"), Action: c.Query("action"),
		Room: c.Query("room"), From: c.Query("from"), To: c.Query("to"), RowLimit: rowLimit}
	f, err := auditFilter(c)
	var page Audit
	if err == nil {
		page, err = d.auditRows(c, f)
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
	v.CSV = auditPath(query, "format", "csv", "bom", "1", "lang", v.Lang)
	v.JSON = auditPath(query, "format", "json", "download", "1")
	v.Rows = page.Actions
	d.Show(c, status, v.Lang, templates.AuditPage(v))
}

// auditPath returns the address of all rows of a search as a file.
func auditPath(query url.Values, set ...string) string {
	search := url.Values{}
	for _, name := range []string{"who", "action", "room", "from", "to"} {
		if value := query.Get(name); value != "" {
			search.Set(name, value)
		}
	}
	for i := 0; i+1 < len(set); i += 2 {
		search.Set(set[i], set[i+1])
	}
	return "/api/support/audit?" + search.Encode()
}
