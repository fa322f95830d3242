package web

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

const (
	proofKey   = "proof" // the context key of the proven seller
	tokenParam = "token"

	// A seller's page sends with each request the name of the seller that it shows. The server refuses the
	// request if the cookie belongs to another seller by now, who signed in in another tab. A script sends
	// the name in the header pageSeller, in hexadecimal, since headers cannot carry every name. A form
	// without a script sends it unchanged in the field pageSellerForm.
	pageSeller     = "X-Page-Seller"
	pageSellerForm = "page_seller"

	// A browser's WebSocket cannot send headers, so a page sends their values as names of subprotocols, with
	// these prefixes (see protocolSession). They are the seller, as in pageSeller, and the token that
	// otherwise is in the Authorization header.
	protocolSeller = "waitroom.seller."
	protocolToken  = "waitroom.token."
)

// acting returns the engine's session for a request; named is the session that the request sent, "" for none.
//
// Without signed identity it returns named. With signed identity (s.Sellers is set) a token or session of the
// request has to prove a seller, and acting returns that seller's one session, the same for each of the
// seller's browsers. Refusals: those of identity.Sellers, and errSellerChanged if the request comes from a
// page of another seller.
func (s *sessions) acting(c *gin.Context, named string) (string, error) {
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

// another reports whether the request's page was made for another seller.
func another(c *gin.Context, seller string) bool {
	for _, sent := range []string{c.GetHeader(pageSeller), inProtocol(c.Request.Header, protocolSeller)} {
		if sent != "" && sent != hex.EncodeToString([]byte(seller)) {
			return true
		}
	}
	sent := c.Request.PostForm.Get(pageSellerForm) // of a parsed form
	return sent != "" && sent != seller
}

// reading is acting for requests that change nothing. It returns "" instead of a refusal if the request
// proves no seller; a wrong token is still refused.
func (s *sessions) reading(c *gin.Context, named string) (string, error) {
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

func (s *sessions) prove(ctx context.Context, c *gin.Context, named string) (identity.Proof, error) {
	id := pageRoom(c, s.Rooms)
	if token, ok := bearerOf(c); ok {
		return s.Sellers.Bearer(ctx, id, token, named)
	}
	return s.Sellers.Session(ctx, id, named)
}

// hasBearer reports whether the request has a token, where tokens count.
func (s *sessions) hasBearer(c *gin.Context) bool {
	_, ok := bearerOf(c)
	return ok && s.Sellers != nil
}

// bearerOf returns a request's token; other Authorization schemes are ignored. A page's socket sends it among
// its protocols.
func bearerOf(c *gin.Context) (token string, ok bool) {
	if token, ok = request.Token(c); ok {
		return token, true
	}
	token = inProtocol(c.Request.Header, protocolToken)
	return token, token != ""
}

// pageRoom returns a request's room; the first page names none and shows the default.
func pageRoom(c *gin.Context, rooms Rooms) room.ID {
	if id := request.Room(c); id != "" {
		return id
	}
	id, _ := rooms.Default()
	return id
}

// proofOf returns the proof that acting stored in the request's context; ok is false if there is none.
func proofOf(c *gin.Context) (p identity.Proof, ok bool) {
	value, _ := c.Get(proofKey)
	p, ok = value.(identity.Proof)
	return p, ok
}

// publicSession returns the session that an answer may name: the caller's own, which may act for another one.
func (s *sessions) publicSession(c *gin.Context, session string) string {
	if l, ok := linkedOf(c); ok {
		return l.Own
	}
	if p, ok := proofOf(c); ok {
		return p.Known
	}
	return session
}

// sellerOf returns the seller that joins. It comes from the token, which proves the session from then on, or
// from the request.
func (s *sessions) sellerOf(c *gin.Context, claimed string) (string, error) {
	if s.Sellers == nil {
		return room.ParseSeller(claimed)
	}
	p, ok := proofOf(c)
	if !ok {
		return "", identity.ErrNotIdentified
	}
	ctx, cancel := s.Asking(c)
	defer cancel()
	if err := s.Sellers.Keep(ctx, p); err != nil {
		return "", err
	}
	if s.Reach == nil || p.Reach == "" {
		return p.Seller, nil
	}
	return p.Seller, s.Reach.Offer(ctx, p.Seller) // before the place, which may be near at once
}

// guest returns the session of a page's visitor; "" for a visitor who proves no seller, where that is needed.
func (s *sessions) guest(c *gin.Context) (string, error) {
	session, err := s.visitor(c)
	return orNobody(c, session, err)
}

// arrives signs in a seller whose portal's link has a token in the address. It redirects to the same page
// without the token, and reports whether it has answered. A token works once. In a browser of another seller
// with a live place, a page asks first: any site can send a browser to a link.
func (h *pages) arrives(c *gin.Context, id room.ID) bool {
	token, ok := c.GetQuery(tokenParam)
	if !ok || h.Sellers == nil {
		return false
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Referrer-Policy", "no-referrer")
	if onlyLooks(c.Request) {
		c.Status(http.StatusNoContent) // a browser stays on its page
		return true
	}
	other, err := h.displaced(c, id, token)
	switch {
	case err != nil:
		h.Fail(c, err)
	case other != "":
		h.askArrival(c, id, token, other)
	default:
		h.arrive(c, id, token, withoutToken(c.Request.URL))
	}
	return true
}

// arrive exchanges the token for the browser's session, and sends the browser to the page.
func (h *pages) arrive(c *gin.Context, id room.ID, token, page string) {
	ctx, cancel := h.Asking(c)
	defer cancel()
	before, _ := room.ParseSession(h.cookie(c))
	session, err := h.Sellers.Link(ctx, id, token, before)
	if err != nil {
		h.Fail(c, err)
		return
	}
	h.remember(c, session)
	c.Redirect(http.StatusSeeOther, page)
}

// displaced returns the seller of this browser, if it is not the token's and has a live place; else "".
func (h *pages) displaced(c *gin.Context, id room.ID, token string) (seller string, err error) {
	before, _ := room.ParseSession(h.cookie(c))
	if before == "" {
		return "", nil
	}
	ctx, cancel := h.Asking(c)
	defer cancel()
	other, err := h.Sellers.Displaced(ctx, id, token, before)
	if err != nil || other.Seller == "" {
		return "", err
	}
	lives, err := h.lives(ctx, other.Session, append([]room.ID{id}, other.Rooms...))
	if err != nil || !lives {
		return "", err
	}
	return other.Seller, nil
}

const (
	livesMost   = 64 // rooms in which a seller's place is looked for
	livesWithin = time.Second
)

// lives reports whether a session has a live place in the rooms, those with a name, or those in use. A room
// that cannot be read counts as one with a place.
func (h *pages) lives(ctx context.Context, session string, rooms []room.ID) (bool, error) {
	active, err := h.Engine.Active(ctx)
	if err != nil {
		return false, err
	}
	var distinct []room.ID
	for _, id := range slices.Concat(rooms, h.Rooms.Names(), active) {
		if len(distinct) < livesMost && !slices.Contains(distinct, id) {
			distinct = append(distinct, id)
		}
	}
	var found atomic.Bool
	failed := h.Engine.EachRoom(ctx, distinct, livesWithin, func(ctx context.Context, id room.ID) error {
		_, seats, err := h.Engine.Look(ctx, id, session)
		if err == nil && seats[0].Live() {
			found.Store(true)
		}
		return err
	})
	return found.Load() || len(failed) > 0, nil
}

// askArrival asks whether the token's seller may replace the browser's.
func (h *pages) askArrival(c *gin.Context, id room.ID, token, other string) {
	lang := request.Seller.Page(c.Request)
	hideAddress(c)
	info := h.info(id, lang)
	h.Show(c, http.StatusOK, lang, templates.ArrivalPage(templates.ArrivalView{Lang: lang,
		AssetPrefix: h.AssetPrefix, Room: string(id), Name: info.Name, Brand: info.Brand, Token: token,
		Other: other}))
}

// arriveForm is POST /rooms/{room}/arrive: the answer yes to askArrival's question.
func (h *pages) arriveForm(c *gin.Context) {
	if h.Sellers == nil {
		h.Refuse(c, "not_found")
		return
	}
	if !h.ReadForm(c) {
		return
	}
	c.Header("Cache-Control", "no-store")
	id := request.Room(c)
	h.arrive(c, id, c.PostForm(tokenParam), pagePath(id, ""))
}

// onlyLooks reports whether a request may come from no person who navigates to the page: a HEAD, a prefetch,
// an image or a frame.
func onlyLooks(r *http.Request) bool {
	if _, head := r.Context().Value(headKey{}).(bool); head {
		return true
	}
	if part := r.Header.Get("Sec-Fetch-Dest"); part != "" && part != "document" {
		return true
	}
	if strings.HasPrefix(r.Header.Get("Accept"), "image/") { // of a browser without Sec-Fetch-Dest
		return true
	}
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		purpose := strings.ToLower(r.Header.Get(name))
		if strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "prerender") ||
			strings.Contains(purpose, "preview") {
			return true
		}
	}
	return false
}

// withoutToken returns a page's address without its token.
func withoutToken(u *url.URL) string {
	query := u.Query()
	query.Del(tokenParam)
	to := url.URL{Path: u.Path, RawQuery: query.Encode()}
	return to.String()
}

// addSeller shows the seller on the page, where the page does not ask for it.
func (h *pages) addSeller(c *gin.Context, v *templates.RoomView) {
	if h.Sellers == nil {
		return
	}
	p, _ := proofOf(c)
	v.SellerFixed, v.SellerID = true, p.Seller
}
