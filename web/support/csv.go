package support

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/request"
)

const (
	rowLimit    = 100_000 // of one export
	csvPage     = 1000    // rows read at a time
	csvPatience = 30 * time.Second
)

// columns are an export's columns. Each kind of row fills its own.
var columns = []string{"kind", "epoch", "ticket", "fence", "seller_id", "joined_at", "granted_at", "ended_at",
	"outcome", "message_id",
	"result", "reason", "sent_at", "received_at", "who", "action", "at", "seconds", "from_position",
	"to_position", "text", "until"}

// historyCSV streams the history page by page. An error before the first byte is a normal problem; after it
// the connection is cut, so that a partial file is not mistaken for the whole.
func (d *Desk) historyCSV(c *gin.Context, f HistoryFilter) {
	limit := rowLimit
	if f.Limit > 0 {
		limit = min(f.Limit, rowLimit)
	}
	f.Limit = min(limit, csvPage)
	page, err := d.rows(c, f)
	if err == nil {
		err = d.exported(c, request.Room(c), "exported")
	}
	if err != nil {
		d.Fail(c, err)
		return
	}
	c.Header("X-Row-Limit", strconv.Itoa(limit))
	csvHeader(c, "history")
	out := newCSVWriter(c.Writer, sheetOf(c))
	for {
		giveTime(c) // a full buffer is sent at once
		limit -= out.page(page)
		d.flush(c, out)
		if page.Next == "" {
			return
		}
		if limit <= 0 {
			out.more(string(page.Next))
			d.flush(c, out)
			return
		}
		f.Cursor, f.Limit = string(page.Next), min(limit, csvPage)
		if page, err = d.rows(c, f); err != nil {
			d.Log.WarnContext(c.Request.Context(), "export broke off", "room", request.Room(c), "error", err)
			panic(http.ErrAbortHandler)
		}
	}
}

// exportParams are the parameters of an export that the audit has as its reason.
var exportParams = []string{"seller", "who", "action", "room", "from", "to", "limit", "cursor"}

// exported records the export in the audit. If that fails, there is no export.
func (d *Desk) exported(c *gin.Context, id room.ID, action string) error {
	query := url.Values{}
	for _, name := range exportParams {
		if value := c.Query(name); value != "" {
			query.Set(name, value)
		}
	}
	return d.audited(c, id, action, query)
}

// audited records in the audit what the agent reads, by its parameters.
func (d *Desk) audited(c *gin.Context, id room.ID, action string, query url.Values) error {
	ctx, cancel := d.Asking(c)
	defer cancel()
	return d.Engine.Audit(ctx, id, d.by(c, action, shorten(readable(query))))
}

// readable returns a query unescaped: an erasure searches for the seller's name as typed.
func readable(query url.Values) string {
	if text, err := url.QueryUnescape(query.Encode()); err == nil {
		return text
	}
	return query.Encode()
}

// shorten truncates a text to a reason's length.
func shorten(text string) string {
	if runes := []rune(text); len(runes) > maxReason {
		return string(runes[:maxReason-1]) + "…"
	}
	return text
}

// csvHeader begins the file of what a room has.
func csvHeader(c *gin.Context, what string) {
	name := "waitroom-" + strings.ReplaceAll(string(request.Room(c)), ":", "-") + "-" + what + ".csv"
	c.Header("Content-Type", "text/csv; charset=utf-8; header=present")
	c.Header("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	c.Status(http.StatusOK)
}

// giveTime gives the reader csvPatience for the following bytes.
func giveTime(c *gin.Context) {
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(csvPatience))
}

// flush sends the buffered bytes. A reader that stalls or is gone ends the export.
func (d *Desk) flush(c *gin.Context, out interface{ Flush() error }) {
	giveTime(c)
	err := out.Flush()
	if err == nil {
		err = http.NewResponseController(c.Writer).Flush()
	}
	if err != nil || c.Request.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
}

// page writes the rows of all kinds, oldest first, and returns how many there are.
func (w *csvWriter) page(h history.Page) int {
	rows := h.Rows(false)
	for _, r := range rows {
		w.row(r)
	}
	return len(rows)
}

// cells returns a row's cells, by the names of its fields in the JSON.
func (w *csvWriter) cells(r history.Row) map[string]string {
	cells, fields := map[string]string{"kind": r.Kind()}, reflect.ValueOf(r)
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
		switch value := fields.Field(i).Interface().(type) {
		case history.Time:
			cells[name] = w.at(value)
		default:
			cells[name] = fmt.Sprint(value)
		}
	}
	return cells
}
