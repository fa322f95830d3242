package web

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

// noticeCookie carries what a form was refused for over the redirect to the page that says so.
const (
	noticeCookie = "waitroom_notice"
	noticeKept   = 60
)

// joinForm is 준비 완료 without a script.
func (s *site) joinForm(c *gin.Context) {
	if !s.readForm(c) {
		return
	}
	if cookieless(c) {
		s.refuse(c, "cookies_blocked")
		return
	}
	seller := strings.TrimSpace(c.PostForm("seller_id"))
	session, err := s.visitor(c)
	if err == nil {
		_, _, err = s.enter(c, session, seller, true, false)
	}
	if err != nil {
		s.notice(c, codeOf(err), seller)
	}
	s.back(c, "")
}

// leaveForm is 인증 완료, 취소 or 줄에서 나가기 without a script.
func (s *site) leaveForm(c *gin.Context) {
	if !s.readForm(c) {
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
	// The page that comes next says by itself that there is no place any more.
	if err := s.leaveByForm(c); err != nil && codeOf(err) != "no_place" {
		s.notice(c, codeOf(err), "")
	}
	s.back(c, "")
}

func (s *site) leaveByForm(c *gin.Context) error {
	reason, err := parseReason(c.DefaultPostForm("reason", string(room.Cancelled)))
	if err != nil {
		return err
	}
	var fence int64
	if given := c.PostForm("fence"); given != "" { // the field is empty for who waits
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

// expectForm is 이제 요청할게요 without a script, and 네 to the question whose a message is.
func (s *site) expectForm(c *gin.Context) {
	if !s.readForm(c) {
		return
	}
	session, fence, err := s.holder(c)
	if err == nil {
		_, err = s.expecting(c, room.ExpectRequest{Session: session, Fence: fence, Key: c.PostForm("key"),
			MessageID: c.PostForm("message_id")})
	}
	if err != nil {
		s.notice(c, codeOf(err), "")
	}
	s.back(c, "")
}

// rejectForm is 번호가 맞지 않아요 without a script.
func (s *site) rejectForm(c *gin.Context) {
	if !s.readForm(c) {
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
		s.notice(c, codeOf(err), "")
	}
	s.back(c, "")
}

// holder is who sends a form of a turn, and of which turn.
func (s *site) holder(c *gin.Context) (session string, fence int64, err error) {
	if session, err = s.visitor(c); err != nil {
		return "", 0, err
	}
	fence, err = parseFence(c.PostForm("fence"))
	return session, fence, err
}

// readForm reads the fields, and keeps the language that the form's page was in.
func (s *site) readForm(c *gin.Context) bool {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err != nil {
		s.refuse(c, "body_too_large")
		return false
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	if c.Request.ParseForm() != nil { // the fields that it left out would count as not given
		s.refuse(c, "invalid_query")
		return false
	}
	s.choose(c, c.PostForm("lang"))
	return true
}

// back sends the browser to the page, so that a reload asks and does not press again.
func (s *site) back(c *gin.Context, rest string) {
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, pagePath(roomOf(c), rest))
}

func (s *site) notice(c *gin.Context, code, seller string) {
	s.setNotice(c, roomOf(c), url.QueryEscape(code+" "+seller), noticeKept)
}

func (s *site) setNotice(c *gin.Context, id room.ID, value string, maxAge int) {
	http.SetCookie(c.Writer, &http.Cookie{Name: noticeCookie, Value: value, Path: pagePath(id, ""), MaxAge: maxAge,
		HttpOnly: true, Secure: s.secure(c), SameSite: http.SameSiteLaxMode})
}

// addNotice puts what the last form was refused for on the page, once.
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
	if _, ok := problems[code]; ok {
		v.Error, v.ErrorOfSeller = problemFor(code).said(v.Lang).Detail, code == "invalid_seller"
	}
	if v.SellerID == "" {
		v.SellerID = seller
	}
}
