package web

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

const (
	proofKey   = "proof" // of the request's context: which seller asks
	tokenParam = "token"

	// Whom the page was made for that a request comes from: the cookie may be another seller's by now, by another tab of the browser, and what
	// is pressed on this page is not for that one to do. In hexadecimal but for the form, since a seller's name is any text.
	pageSeller     = "X-Page-Seller"
	pageSellerForm = "page_seller"
	protocolSeller = "waitroom.seller." // of a socket, see protocolSession
	protocolToken  = "waitroom.token."  // what a page of another site sends as Authorization where it can, of a socket
)

// acting is the session that acts for who asks. Where sellers say themselves who they are, it is the one that was named, "" for none.
// Else it is the seller's own, whichever of its sessions or tokens proved who it is. Refusals: those of identity.Sellers.
func (s *site) acting(c *gin.Context, named string) (string, error) {
	if s.Sellers == nil {
		return named, nil
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	p, err := s.prove(ctx, c, named)
	if err != nil {
		c.Header("WWW-Authenticate", request.Bearer)
		return "", err
	}
	if another(c, p.Seller) {
		return "", errSellerChanged
	}
	c.Set(proofKey, p)
	return p.Session, nil
}

const errSellerChanged = problem.Refusal("seller_changed")

// another reports whether the page that a request comes from was made for another seller.
func another(c *gin.Context, seller string) bool {
	for _, said := range []string{c.GetHeader(pageSeller), inProtocol(c.Request.Header, protocolSeller)} {
		if said != "" && said != hex.EncodeToString([]byte(seller)) {
			return true
		}
	}
	said := c.Request.PostForm.Get(pageSellerForm) // of a form that was read
	return said != "" && said != seller
}

// reading is acting for those who only look: nobody need say who it is. A token that is wrong is refused here too.
func (s *site) reading(c *gin.Context, named string) (string, error) {
	session, err := s.acting(c, named)
	return orNobody(c, session, err)
}

func orNobody(c *gin.Context, session string, err error) (string, error) {
	if errors.Is(err, identity.ErrNotIdentified) {
		c.Writer.Header().Del("WWW-Authenticate")
		return "", nil
	}
	return session, err
}

func (s *site) prove(ctx context.Context, c *gin.Context, named string) (identity.Proof, error) {
	id := pageRoom(c, s.Rooms)
	if token, ok := bearerOf(c); ok {
		return s.Sellers.Bearer(ctx, id, token, named)
	}
	return s.Sellers.Session(ctx, id, named)
}

// hasBearer reports whether a token comes with the request, where tokens count.
func (s *site) hasBearer(c *gin.Context) bool {
	_, ok := bearerOf(c)
	return ok && s.Sellers != nil
}

// bearerOf is the token of a request; other ways of Authorization are not ours to judge. A page's socket has it among its protocols.
func bearerOf(c *gin.Context) (token string, ok bool) {
	if token, ok = request.Token(c); ok {
		return token, true
	}
	token = inProtocol(c.Request.Header, protocolToken)
	return token, token != ""
}

// pageRoom is the room of a request, also of the first page, which names none.
func pageRoom(c *gin.Context, rooms Rooms) room.ID {
	if id := request.Room(c); id != "" {
		return id
	}
	id, _ := rooms.Default()
	return id
}

// proofOf is which seller asks, of a request whose session is known; ok is false where nobody has proven that.
func proofOf(c *gin.Context) (p identity.Proof, ok bool) {
	value, _ := c.Get(proofKey)
	p, ok = value.(identity.Proof)
	return p, ok
}

// told is what the one who asks knows its session by.
func (s *site) told(c *gin.Context, session string) string {
	if l, ok := linkedOf(c); ok {
		return l.Own
	}
	if p, ok := proofOf(c); ok {
		return p.Told
	}
	return session
}

// sellerOf is who joins: whom the token proves, from then on also by its session alone, or who it says it is.
func (s *site) sellerOf(c *gin.Context, said string) (string, error) {
	if s.Sellers == nil {
		return room.ParseSeller(said)
	}
	p, ok := proofOf(c)
	if !ok {
		return "", identity.ErrNotIdentified
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	return p.Seller, s.Sellers.Keep(ctx, p)
}

// guest is the session of who opens a page, who need not be anybody.
func (s *site) guest(c *gin.Context) (string, error) {
	session, err := s.visitor(c)
	return orNobody(c, session, err)
}

// arrives takes a seller in whom the portal has sent with a token in the address, and leads on to the page without it. It reports whether
// it has answered. The token is good for nothing afterwards; where it is refused, it goes no further than this answer.
func (s *site) arrives(c *gin.Context, id room.ID) bool {
	token, ok := c.GetQuery(tokenParam)
	if !ok || s.Sellers == nil {
		return false
	}
	c.Header("Referrer-Policy", "no-referrer")
	if onlyLooks(c.Request) {
		c.Header("Cache-Control", "no-store")
		c.Status(http.StatusNoContent) // which a browser does not take for the page
		return true
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	before, _ := room.ParseSession(s.cookie(c))
	session, err := s.Sellers.Link(ctx, id, token, before)
	if err != nil {
		s.Fail(c, err)
		return true
	}
	s.remember(c, session)
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, withoutToken(c.Request.URL))
	return true
}

// onlyLooks reports whether nobody may be behind a request: it asks for the head alone, or before anybody has pressed.
func onlyLooks(r *http.Request) bool {
	if _, head := r.Context().Value(headKey{}).(bool); head {
		return true
	}
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		said := strings.ToLower(r.Header.Get(name))
		if strings.Contains(said, "prefetch") || strings.Contains(said, "prerender") || strings.Contains(said, "preview") {
			return true
		}
	}
	return false
}

// withoutToken is the address of a page with its token taken out.
func withoutToken(u *url.URL) string {
	query := u.Query()
	query.Del(tokenParam)
	to := url.URL{Path: u.Path, RawQuery: query.Encode()}
	return to.String()
}

// addSeller puts who one is on the page, where that is not to be asked for.
func (s *site) addSeller(c *gin.Context, v *templates.RoomView) {
	if s.Sellers == nil {
		return
	}
	p, _ := proofOf(c)
	v.SellerFixed, v.SellerID = true, p.Seller
}
