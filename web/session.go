package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/identity"
)

const (
	sessionHeader = "X-Session-ID"
	sessionCookie = "waitroom_session"
	sessionKept   = 30 * 24 * 60 * 60

	rememberedKey = "remembered" // the context key of an answer whose cookie is set

	// protocolSession is the prefix of the WebSocket subprotocol with which a page of another site sends its
	// session. A page cannot set headers on a WebSocket, and its cookies are blocked on another site. Unlike
	// the address, subprotocols are in no log and no browser history.
	protocolSession = "waitroom.session."
)

// sessions finds whose request it is: the session of a browser or program, and the seller if it is proven.
type sessions struct{ *base }

// sessionOf returns the caller's session: the named one or, where sellers come with tokens, the seller's own.
func (s *sessions) sessionOf(c *gin.Context, inBody string) (string, error) {
	session, err := s.named(c, inBody)
	if err != nil {
		return "", err
	}
	return s.acting(c, session)
}

// named returns the session that a request names, in its header, body or cookie; "" without one. An invalid
// session in the header or body is refused. An invalid cookie is ignored, since its user cannot change it:
// the next page or join replaces it. Beside a token the cookie is ignored, as another page may have set it.
func (s *sessions) named(c *gin.Context, inBody string) (string, error) {
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

// socketSession returns the session that opens a socket. It refuses a bad cookie, whose browser would
// otherwise watch as a spectator without its place.
func (s *sessions) socketSession(c *gin.Context) (string, error) {
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

// inProtocol returns the value after a prefix in a socket's protocols; "" without one.
func inProtocol(header http.Header, prefix string) string {
	for word := range strings.SplitSeq(strings.Join(header.Values("Sec-WebSocket-Protocol"), ","), ",") {
		if value, ok := strings.CutPrefix(strings.TrimSpace(word), prefix); ok {
			return value
		}
	}
	return ""
}

func (s *sessions) cookie(c *gin.Context) string {
	cookie, err := c.Request.Cookie(s.cookieName(c))
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (s *sessions) cookieName(c *gin.Context) string { return s.proxies.HostCookie(c, sessionCookie) }

// remember sets the session's cookie, once per answer.
func (s *sessions) remember(c *gin.Context, session string) {
	if c.GetString(rememberedKey) == session {
		return
	}
	c.Set(rememberedKey, session)
	http.SetCookie(c.Writer, &http.Cookie{Name: s.cookieName(c), Value: session, Path: "/",
		MaxAge:   s.sessionKept(),
		HttpOnly: true, Secure: s.proxies.Secure(c), SameSite: http.SameSiteLaxMode})
}

// sessionKept returns the cookie's lifetime in seconds.
func (s *sessions) sessionKept() int {
	if s.Sellers != nil {
		return int(identity.Kept.Seconds())
	}
	return sessionKept
}

// cookieField marks forms whose page set a cookie.
const cookieField = "cookies"

// cookieless reports whether a form comes from a browser without cookies. Its place would belong to no
// session on the next page.
func cookieless(c *gin.Context) bool {
	return c.PostForm(cookieField) != "" && len(c.Request.Cookies()) == 0
}

// visitor returns the browser's session, or gives it a new one. So the browser's first join comes from the
// session that it keeps. If sellers come with tokens, visitor makes no session: a browser gets one for the
// token in its address (see arrive), and visitor returns what acting does.
func (s *sessions) visitor(c *gin.Context) (string, error) {
	session, err := room.ParseSession(s.cookie(c))
	if s.Sellers != nil {
		return s.acting(c, session)
	}
	if err != nil {
		session = room.NewSession()
		s.remember(c, session)
	}
	return session, nil
}

// masked returns a session for a page's data: random bytes, then the session's XORed with them. Were it the
// same in each page, the lengths of compressed pages would show it, letter by letter (BREACH).
func masked(session string) string {
	id, err := uuid.Parse(session)
	if err != nil {
		return ""
	}
	data := make([]byte, 2*len(id))
	_, _ = rand.Read(data[:len(id)])
	subtle.XORBytes(data[len(id):], data[:len(id)], id[:])
	return hex.EncodeToString(data)
}
