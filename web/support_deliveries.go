package web

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
func (s *site) deliveriesPage(c *gin.Context) {
	v := templates.DeliveriesView{DeskView: s.deskView(c), Enabled: s.Support.Deliveries != nil}
	v.Retried, _ = strconv.ParseInt(c.Query("retried"), 10, 64) // only a word on the page
	v.RetriedAll, _ = strconv.ParseInt(c.Query("all"), 10, 64)
	status := http.StatusOK
	if v.Enabled {
		ctx, cancel := s.asking(c)
		defer cancel()
		if err := fillDeliveries(ctx, s.Support.Deliveries, &v); err != nil {
			v.Error, status = s.pageError(c, err)
		}
	}
	s.show(c, status, v.Lang, templates.DeliveriesPage(v))
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

// retryDeliveries is POST /support/-/deliveries/retry: all that were given up.
func (s *site) retryDeliveries(c *gin.Context) {
	if s.Support.Deliveries == nil {
		s.refuse(c, "not_found")
		return
	}
	ctx, cancel := s.asking(c)
	defer cancel()
	n, err := s.Support.Deliveries.RetryAll(ctx)
	if err != nil {
		s.fail(c, err)
		return
	}
	by := room.Action{Who: agentOf(c).Name, Action: "delivery_retried", Reason: fmt.Sprint("all deliveries: ", n)}
	if err := s.Support.Engine.Audit(ctx, room.SupportRoom, by); err != nil { // it is done, and a repeat finds nothing
		s.Log.ErrorContext(c.Request.Context(), "a retry is not in the audit", "deliveries", n, "who", by.Who, "error", err)
	}
	c.Redirect(http.StatusSeeOther, deliveriesPath+"?all="+strconv.FormatInt(n, 10))
}

// retryDelivery is POST /support/-/deliveries/{id}/retry.
func (s *site) retryDelivery(c *gin.Context) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || s.Support.Deliveries == nil {
		s.refuse(c, "not_found")
		return
	}
	ctx, cancel := s.asking(c)
	defer cancel()
	if err := s.Support.Deliveries.Retry(ctx, id); err != nil {
		s.fail(c, err)
		return
	}
	by := room.Action{Who: agentOf(c).Name, Action: "delivery_retried", Reason: fmt.Sprint("delivery ", id)}
	if err := s.Support.Engine.Audit(ctx, room.SupportRoom, by); err != nil { // it is done, and a repeat would be refused
		s.Log.ErrorContext(c.Request.Context(), "a retry is not in the audit", "delivery", id, "who", by.Who, "error", err)
	}
	c.Redirect(http.StatusSeeOther, deliveriesPath+"?retried="+strconv.FormatInt(id, 10))
}
