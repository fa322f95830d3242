package web

import (
	"net/http"
	"net/url"
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

// joinForm is 준비 완료 without a script.
func (s *site) joinForm(c *gin.Context) {
	if !s.ReadForm(c) {
		return
	}
	if cookieless(c) {
		s.Refuse(c, "cookies_blocked")
		return
	}
	seller := strings.TrimSpace(c.PostForm("seller_id"))
	session, err := s.visitor(c)
	if err == nil {
		_, _, err = s.enter(c, session, seller, true, false)
	}
	if err != nil {
		s.notice(c, problem.CodeOf(err), seller)
	}
	s.back(c, "")
}

// leaveForm is 인증 완료, 취소 or 줄에서 나가기 without a script.
func (s *site) leaveForm(c *gin.Context) {
	if !s.ReadForm(c) {
		return
	}
	if c.PostForm("confirm") != "yes" {
		ask := templates.QuestionLeave
		if c.PostForm("reason") == string(room.Completed) {
			ask = templates.QuestionDone
		}
		s.back(c, "?ask="+ask)
		return
	}
	// The next page already shows that the place has ended.
	if err := s.leaveByForm(c); err != nil && problem.CodeOf(err) != "no_place" {
		s.notice(c, problem.CodeOf(err), "")
	}
	s.back(c, "")
}

func (s *site) leaveByForm(c *gin.Context) error {
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
	session, err := s.visitor(c)
	if err != nil {
		return err
	}
	_, err = s.exit(c, session, reason, fence)
	return err
}

// expectForm is 이제 요청할게요 without a script, and 네 to the question about an unclaimed message.
func (s *site) expectForm(c *gin.Context) {
	if !s.ReadForm(c) {
		return
	}
	session, fence, err := s.holder(c)
	if err == nil {
		_, err = s.expecting(c, room.ExpectRequest{Session: session, Fence: fence, Key: c.PostForm("key"),
			MessageID: c.PostForm("message_id")})
	}
	if err != nil {
		s.notice(c, problem.CodeOf(err), "")
	}
	s.back(c, "")
}

// rejectForm is 번호가 맞지 않아요 without a script.
func (s *site) rejectForm(c *gin.Context) {
	if !s.ReadForm(c) {
		return
	}
	if c.PostForm("confirm") != "yes" {
		s.back(c, "?ask="+templates.QuestionReject)
		return
	}
	session, fence, err := s.holder(c)
	if err == nil {
		err = s.rejecting(c, session, fence, c.PostForm("message_id"))
	}
	if err != nil {
		s.notice(c, problem.CodeOf(err), "")
	}
	s.back(c, "")
}

// holder returns the session and the fence of a form sent during a turn.
func (s *site) holder(c *gin.Context) (session string, fence int64, err error) {
	if session, err = s.visitor(c); err != nil {
		return "", 0, err
	}
	fence, err = parseFence(c.PostForm("fence"))
	return session, fence, err
}

// back redirects the browser to the page, so that a reload does not submit the form again.
func (s *site) back(c *gin.Context, rest string) {
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, pagePath(request.Room(c), rest))
}

func (s *site) notice(c *gin.Context, code, seller string) {
	s.setNotice(c, request.Room(c), url.QueryEscape(code+" "+seller), noticeKept)
}

func (s *site) setNotice(c *gin.Context, id room.ID, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: noticeCookie, Value: value, Path: pagePath(id, ""),
		MaxAge:   maxAge,
		HttpOnly: true, Secure: s.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// addNotice shows the last form's refusal on the page, once.
func (s *site) addNotice(c *gin.Context, id room.ID, v *templates.RoomView) {
	cookie, err := c.Request.Cookie(noticeCookie)
	if err != nil {
		return
	}
	s.setNotice(c, id, "", -1)
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
