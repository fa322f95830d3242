package support

import (
	"bufio"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

// auditFile is an audit file in progress. It keeps its error until Flush.
type auditFile interface {
	name() (file, contentType string)
	begin()
	rows(list []history.Audited)
	end(next history.Word) // "" = all rows were written
	Flush() error
}

// auditFile streams all rows of a search, latest first, page by page. An error before the first byte is a
// normal problem; after it the connection is cut, so that a partial file is not mistaken for the whole.
func (d *Desk) auditFile(c *gin.Context, f AuditFilter, out auditFile) {
	left := rowLimit
	if f.Limit > 0 {
		left = min(f.Limit, rowLimit)
	}
	limit := left
	f.Limit = min(left, csvPage)
	page, err := d.auditRows(c, f)
	if err == nil {
		err = d.exported(c, room.SupportRoom, "exported_audit")
	}
	if err != nil {
		d.Fail(c, err)
		return
	}
	fileHeader(c, out, limit)
	out.begin()
	for {
		giveTime(c)
		out.rows(page.Actions)
		if left -= len(page.Actions); page.Next == "" || left <= 0 {
			out.end(page.Next)
			d.flush(c, out)
			return
		}
		d.flush(c, out)
		f.Cursor, f.Limit = string(page.Next), min(left, csvPage)
		if page, err = d.auditRows(c, f); err != nil {
			d.Log.WarnContext(c.Request.Context(), "export broke off", "error", err)
			panic(http.ErrAbortHandler)
		}
	}
}

func fileHeader(c *gin.Context, out auditFile, limit int) {
	file, contentType := out.name()
	c.Header("Content-Type", contentType)
	c.Header("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file}))
	c.Header("X-Row-Limit", strconv.Itoa(limit))
	c.Status(http.StatusOK)
}

// auditCSV is for people: headings and actions are in the reader's language.
type auditCSV struct {
	*csvWriter
	text templates.Text
}

func (a *auditCSV) name() (file, contentType string) {
	return "waitroom-audit.csv", "text/csv; charset=utf-8; header=present"
}

// auditColumns are the columns of the audit's CSV by their names in the JSON.
var auditColumns = []string{"at", "who", "action", "room", "seller_id", "ticket", "fence", "seconds",
	"from_position", "to_position", "message_id", "reason", "address", "text", "until"}

func (a *auditCSV) begin() {
	t, s := a.text.Desk, a.text.Desk.Audit
	when, until := t.Time, s.UntilColumn
	if a.sheet != nil {
		zone := " (" + a.sheet.zone.String() + ")"
		when, until = when+zone, until+zone
	}
	a.write([]string{when, t.Who, t.What, t.Room, t.Seller, t.Ticket, t.Fence,
		s.SecondsColumn, s.FromColumn, s.ToColumn, s.MessageColumn, t.Reason, s.Address,
		s.TextColumn, until})
}

func (a *auditCSV) rows(list []history.Audited) {
	for _, r := range list {
		by := a.cells(r.Action)
		by["room"], by["address"] = string(r.Room), string(r.Address)
		by["action"], by["reason"] = a.text.DeskAction(r.Name), a.text.DeskReason(r.Name, r.Reason)
		cells := make([]string, len(auditColumns))
		for i, name := range auditColumns {
			cells[i] = a.cell(name, by[name])
		}
		a.write(cells)
	}
}

func (a *auditCSV) end(next history.Word) {
	if next != "" {
		a.write(append([]string{"more", a.cell("cursor", string(next))}, make([]string, len(auditColumns)-2)...))
	}
}

// auditJSON is for programs, in the form of one page with all rows.
type auditJSON struct {
	*bufio.Writer
	first bool
}

func newAuditJSON(w io.Writer) *auditJSON { return &auditJSON{bufio.NewWriter(w), true} }

func (a *auditJSON) name() (file, contentType string) {
	return "waitroom-audit.json", "application/json"
}

func (a *auditJSON) begin() { _, _ = a.WriteString(`{"actions":[`) }

func (a *auditJSON) rows(list []history.Audited) {
	for _, r := range list {
		if !a.first {
			_ = a.WriteByte(',')
		}
		a.first = false
		a.value(r)
	}
}

func (a *auditJSON) end(next history.Word) {
	_, _ = a.WriteString(`],"next":`)
	a.value(next)
	_ = a.WriteByte('}')
}

func (a *auditJSON) value(v any) {
	text, err := json.Marshal(v)
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	_, _ = a.Write(text)
}
