package support

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

const deliveriesPath = "/support/-/deliveries"

// deliveriesPage is GET /support/-/deliveries.
func (d *Desk) deliveriesPage(c *gin.Context) {
	v := templates.DeliveriesView{DeskView: d.deskView(c), Enabled: d.Deliveries != nil}
	v.Retried, _ = strconv.ParseInt(c.Query("retried"), 10, 64) // only shown on the page
	v.RetriedAll, _ = strconv.ParseInt(c.Query("all"), 10, 64)
	status := http.StatusOK
	if v.Enabled {
		ctx, cancel := d.Asking(c)
		defer cancel()
		if err := fillDeliveries(ctx, d.Deliveries, &v); err != nil {
			v.Error, status = d.PageError(c, err)
		}
	}
	d.Show(c, status, v.Lang, templates.DeliveriesPage(v))
}

func fillDeliveries(ctx context.Context, d Deliveries, v *templates.DeliveriesView) (err error) {
	if v.Pending, v.Dead, err = d.Count(ctx); err == nil {
		v.Rows, err = d.Dead(ctx)
	}
	if err == nil {
		v.FailingSince, v.LastError, err = d.Failing(ctx)
	}
	return err
}

// retryDeliveries is POST /support/-/deliveries/retry: it retries all dead events.
func (d *Desk) retryDeliveries(c *gin.Context) {
	if d.Deliveries == nil {
		d.Refuse(c, "not_found")
		return
	}
	ctx, cancel := d.Asking(c)
	defer cancel()
	n, err := d.Deliveries.RetryAll(ctx)
	if err != nil {
		d.Fail(c, err)
		return
	}
	by := d.by(c, "delivery_retried", fmt.Sprint("all deliveries: ", n))
	// the retry is done, and a repeated request would find nothing
	if err := d.Engine.Audit(ctx, room.SupportRoom, by); err != nil {
		d.Log.ErrorContext(c.Request.Context(), "a retry is not in the audit", "deliveries", n, "who", by.Who,
			"error", err)
	}
	c.Redirect(http.StatusSeeOther, deliveriesPath+"?all="+strconv.FormatInt(n, 10))
}

// retryDelivery is POST /support/-/deliveries/{id}/retry.
func (d *Desk) retryDelivery(c *gin.Context) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || d.Deliveries == nil {
		d.Refuse(c, "not_found")
		return
	}
	ctx, cancel := d.Asking(c)
	defer cancel()
	if err := d.Deliveries.Retry(ctx, id); err != nil {
		d.Fail(c, err)
		return
	}
	by := d.by(c, "delivery_retried", fmt.Sprint("delivery ", id))
	// the retry is done, and a repeated request would be refused
	if err := d.Engine.Audit(ctx, room.SupportRoom, by); err != nil {
		d.Log.ErrorContext(c.Request.Context(), "a retry is not in the audit", "delivery", id, "who", by.Who,
			"error", err)
	}
	c.Redirect(http.StatusSeeOther, deliveriesPath+"?retried="+strconv.FormatInt(id, 10))
}
