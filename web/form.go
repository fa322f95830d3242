package web

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// noticeCookie carries a form's refusal over the redirect to the page that shows it.
const (
	noticeCookie = "waitroom_notice"
	noticeKept   = 60
)

// joinForm is join for a browser without scripts: a form, and a page as the answer.
func (h *pages) joinForm(c *gin.Context) {
	if !h.ReadForm(c) {
		return
	}
	if cookieless(c) {
		h.Refuse(c, "cookies_blocked")
		return
	}
	seller := strings.TrimSpace(c.PostForm("seller_id"))
	session, err := h.visitor(c)
	if err == nil {
		_, _, err = h.enter(c, session, seller, true, false)
	}
	h.notice(c, err, seller)
	h.back(c, "")
}

// leaveForm is leave for a browser without scripts.
func (h *pages) leaveForm(c *gin.Context) {
	if !h.ReadForm(c) {
		return
	}
	if c.PostForm("confirm") != "yes" {
		ask := templates.QuestionLeave
		if c.PostForm("reason") == string(room.Completed) {
			ask = templates.QuestionDone
		}
		h.back(c, "?ask="+ask)
		return
	}
	// The next page already shows that the place has ended.
	if err := h.leaveByForm(c); err != nil && problem.CodeOf(err) != "no_place" {
		h.notice(c, err, "")
	}
	rest := ""
	if entered := c.PostForm("entered"); entered != "" {
		rest = "?" + url.Values{"entered": {entered}}.Encode()
	}
	h.back(c, rest)
}

func (h *pages) leaveByForm(c *gin.Context) error {
	reason, err := parseReason(c.DefaultPostForm("reason", string(room.Cancelled)))
	if err != nil {
		return err
	}
	var fence int64
	if given := c.PostForm("fence"); given != "" { // the field is empty for a seller in line
		if fence, err = parseFence(given); err != nil {
			return err
		}
	}
	session, err := h.visitor(c)
	if err != nil {
		return err
	}
	_, err = h.exit(c, session, reason, fence)
	return err
}

// expectForm is expect for a browser without scripts: to ask for a code, or to claim a message that no ask
// explains.
func (h *pages) expectForm(c *gin.Context) {
	if !h.ReadForm(c) {
		return
	}
	session, fence, err := h.holder(c)
	q := room.ExpectRequest{Session: session, Fence: fence, Key: c.PostForm("key"),
		MessageID: c.PostForm("message_id")}
	rest := ""
	if q.MessageID == "" {
		at, _ := strconv.Atoi(c.PostForm("market")) // none: the only one
		m := h.info(request.Room(c), "").Choose(at).Marketplace
		q.Filter = room.Filter{From: m.From, Contains: m.Contains}
		if at != 0 { // the page then shows the chosen one
			rest = "?market=" + strconv.Itoa(at)
		}
	}
	if err == nil {
		_, err = h.expecting(c, q)
	}
	h.notice(c, err, "")
	h.back(c, rest)
}

// rejectForm is reject for a browser without scripts.
func (h *pages) rejectForm(c *gin.Context) {
	if !h.ReadForm(c) {
		return
	}
	if c.PostForm("confirm") != "yes" {
		h.back(c, "?ask="+templates.QuestionReject)
		return
	}
	session, fence, err := h.holder(c)
	if err == nil {
		err = h.rejecting(c, session, fence, c.PostForm("message_id"))
	}
	h.notice(c, err, "")
	h.back(c, "")
}

// claimForm is claim for a browser without scripts. The field fence is empty for a seller in line.
func (h *pages) claimForm(c *gin.Context) {
	if !h.ReadForm(c) {
		return
	}
	session, err := h.visitor(c)
	var fence int64
	if given := c.PostForm("fence"); err == nil && given != "" {
		fence, err = parseFence(given)
	}
	if err == nil {
		_, err = h.claiming(c, session, fence)
	}
	h.notice(c, err, "")
	h.back(c, "")
}

// holder returns the session and the fence of a form sent during a turn.
func (h *pages) holder(c *gin.Context) (session string, fence int64, err error) {
	if session, err = h.visitor(c); err != nil {
		return "", 0, err
	}
	fence, err = parseFence(c.PostForm("fence"))
	return session, fence, err
}

// addNotice shows the last form's refusal on the page, once.
func (h *pages) addNotice(c *gin.Context, id room.ID, v *templates.RoomView) {
	cookie, err := c.Request.Cookie(noticeCookie)
	if err != nil {
		return
	}
	h.setNotice(c, id, "", -1)
	value, err := url.QueryUnescape(cookie.Value)
	if err != nil {
		return
	}
	code, seller, _ := strings.Cut(value, " ")
	if p := problem.For(code); p.Status != 0 {
		v.Error, v.ErrorOfSeller = p.Words(v.Lang).Detail, code == "invalid_seller"
	}
	if v.SellerID == "" {
		v.SellerID = seller
	}
}
