package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/identity"
)

const (
	sessionHeader = "X-Session-ID"
	sessionCookie = "waitroom_session"
	sessionKept   = 30 * 24 * 60 * 60

	rememberedKey = "remembered" // of an answer: the session in its cookie

	// protocolSession begins the one word by which a page of another site can name a session to a socket: a browser sends no headers of
	// a page's with it, but the protocols that the page asks for. Unlike an address, those are in no log and no history.
	protocolSession = "waitroom.session."
)

// sessionOf is who acts: by the session that is named or, where sellers are known by tokens, the one of whom that is proven for.
func (s *site) sessionOf(c *gin.Context, inBody string) (string, error) {
	session, err := s.named(c, inBody)
	if err != nil {
		return "", err
	}
	return s.acting(c, session)
}

// named is the session that a request names: the header says, else the body, else the cookie; "" for nobody. What a
// client names itself must be valid. A cookie that is not is as good as none, since whoever has it
// cannot change it: the next page or join replaces it. Beside a token a cookie says nothing: another page may have set it.
func (s *site) named(c *gin.Context, inBody string) (string, error) {
	if named := c.GetHeader(sessionHeader); named != "" {
		return room.ParseSession(named)
	}
	if inBody != "" {
		return room.ParseSession(inBody)
	}
	if s.hasBearer(c) {
		return "", nil
	}
	session, err := room.ParseSession(s.cookie(c))
	if err != nil {
		return "", nil
	}
	return session, nil
}

// socketSession is who opens a socket. Here a bad cookie is refused: a browser that sends one would
// otherwise watch as a spectator and never learn of its place.
func (s *site) socketSession(c *gin.Context) (string, error) {
	named := c.GetHeader(sessionHeader)
	if named == "" {
		named = inProtocol(c.Request.Header, protocolSession)
	}
	if named == "" && !s.hasBearer(c) {
		named = s.cookie(c)
	}
	if named != "" {
		if _, err := room.ParseSession(named); err != nil {
			return "", err
		}
	}
	return s.reading(c, strings.ToLower(named))
}

// inProtocol is what the protocols of a socket say behind a prefix; "" where none does.
func inProtocol(header http.Header, prefix string) string {
	for word := range strings.SplitSeq(strings.Join(header.Values("Sec-WebSocket-Protocol"), ","), ",") {
		if said, ok := strings.CutPrefix(strings.TrimSpace(word), prefix); ok {
			return said
		}
	}
	return ""
}

func (s *site) cookie(c *gin.Context) string {
	cookie, err := c.Request.Cookie(s.cookieName(c))
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (s *site) cookieName(c *gin.Context) string { return s.proxies.HostCookie(c, sessionCookie) }

// remember gives the browser its session for the requests to come, once an answer.
func (s *site) remember(c *gin.Context, session string) {
	if c.GetString(rememberedKey) == session {
		return
	}
	c.Set(rememberedKey, session)
	http.SetCookie(c.Writer, &http.Cookie{Name: s.cookieName(c), Value: session, Path: "/", MaxAge: s.sessionKept(),
		HttpOnly: true, Secure: s.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// sessionKept is for how many seconds a browser keeps its session.
func (s *site) sessionKept() int {
	if s.Sellers != nil {
		return int(identity.Kept.Seconds())
	}
	return sessionKept
}

// cookieField is of forms whose page had the browser keep a cookie.
const cookieField = "cookies"

// cookieless reports whether a form comes from a browser that keeps no cookies. A place that it took would be nobody's with the next page.
func cookieless(c *gin.Context) bool {
	return c.PostForm(cookieField) != "" && len(c.Request.Cookies()) == 0
}
