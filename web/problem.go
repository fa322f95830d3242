package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/link"
	"github.com/waitroom/waitroom/web/push"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/signin"
)

// Refusal is a code of the problem table as an error, for those who refuse a request elsewhere.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// reply is how a code is answered.
type reply struct {
	status int
	retry  int // seconds; 0 = no Retry-After
}

// problems is the one table of everything that can be wrong with a request. What is said of it is in templates/locales/problems.yaml.
var problems = map[string]reply{
	"invalid_json":           {http.StatusBadRequest, 0},
	"invalid_query":          {http.StatusBadRequest, 0},
	"invalid_seller":         {http.StatusBadRequest, 0},
	"invalid_session":        {http.StatusBadRequest, 0},
	"invalid_reason":         {http.StatusBadRequest, 0},
	"invalid_fence":          {http.StatusBadRequest, 0},
	"invalid_message":        {http.StatusBadRequest, 0},
	"invalid_expect":         {http.StatusBadRequest, 0},
	"invalid_subscription":   {http.StatusBadRequest, 0},
	"cookies_blocked":        {http.StatusBadRequest, 0},
	"bad_signature":          {http.StatusUnauthorized, 0},
	"cross_site":             {http.StatusForbidden, 0},
	"another_seller":         {http.StatusForbidden, 0},
	"seller_changed":         {http.StatusForbidden, 0},
	"not_found":              {http.StatusNotFound, 0},
	"unknown_room":           {http.StatusNotFound, 0},
	"unknown_source":         {http.StatusNotFound, 0},
	"no_place":               {http.StatusNotFound, 0},
	"no_message":             {http.StatusNotFound, 0},
	"no_link":                {http.StatusNotFound, 0},
	"method_not_allowed":     {http.StatusMethodNotAllowed, 0},
	"lock_held":              {http.StatusConflict, 0},
	"room_paused":            {http.StatusConflict, 0},
	"seller_has_place":       {http.StatusConflict, 0},
	"session_has_place":      {http.StatusConflict, 0},
	"stale_fence":            {http.StatusConflict, 0},
	"number_busy":            {http.StatusConflict, 0},
	"too_many_asks":          {http.StatusConflict, 0},
	"idempotency_key_reused": {http.StatusUnprocessableEntity, 0},
	"too_many_rejects":       {http.StatusConflict, 0},
	"wrong_host":             {http.StatusMisdirectedRequest, 0},
	"body_too_large":         {http.StatusRequestEntityTooLarge, 0},
	"unsupported_media_type": {http.StatusUnsupportedMediaType, 0},
	"upgrade_required":       {http.StatusUpgradeRequired, 0},
	"too_many_requests":      {http.StatusTooManyRequests, 1},
	"room_full":              {http.StatusServiceUnavailable, 10},
	"internal":               {http.StatusInternalServerError, 0},
	"store_unavailable":      {http.StatusServiceUnavailable, 1},
	"draining":               {http.StatusServiceUnavailable, 1},
	"not_identified":         {http.StatusUnauthorized, 0},
	"invalid_token":          {http.StatusUnauthorized, 0},
	"token_expired":          {http.StatusUnauthorized, 0},
	"token_early":            {http.StatusUnauthorized, 0},
	"token_used":             {http.StatusUnauthorized, 0},
	"wrong_audience":         {http.StatusUnauthorized, 0},
	"keys_unavailable":       {http.StatusServiceUnavailable, 5},
	"not_signed_in":          {http.StatusUnauthorized, 0},
	"wrong_password":         {http.StatusUnauthorized, 0},
	"sign_in_expired":        {http.StatusUnauthorized, 0},
	"not_admitted":           {http.StatusForbidden, 0},
	"not_allowed":            {http.StatusForbidden, 0},
	"invalid_ticket":         {http.StatusBadRequest, 0},
	"invalid_seconds":        {http.StatusBadRequest, 0},
	"invalid_position":       {http.StatusBadRequest, 0},
	"invalid_key":            {http.StatusBadRequest, 0},
	"invalid_time":           {http.StatusBadRequest, 0},
	"invalid_limit":          {http.StatusBadRequest, 0},
	"invalid_cursor":         {http.StatusBadRequest, 0},
	"invalid_format":         {http.StatusBadRequest, 0},
	"stale_ticket":           {http.StatusConflict, 0},
	"lease_too_long":         {http.StatusConflict, 0},
	"already_matched":        {http.StatusConflict, 0},
	"not_possible":           {http.StatusConflict, 0},
	"not_dead":               {http.StatusConflict, 0},
	"provider_unavailable":   {http.StatusServiceUnavailable, 5},
	"ledger_unavailable":     {http.StatusServiceUnavailable, 5},
	"sms_not_configured":     {http.StatusServiceUnavailable, 60},
}

// problem is a reply with its words.
type problem struct {
	reply
	said func(lang string) templates.Problem
}

// problemFor is what is answered to a code.
func problemFor(code string) problem {
	return problem{problems[code], func(lang string) templates.Problem { return words(lang).API[code] }}
}

func words(lang string) templates.ProblemsText { return templates.TextIn(lang).Problems }

// codes are the codes of what the engine and the SMS service refuse.
var codes = []struct {
	err  error
	code string
}{
	{room.ErrInvalidRoom, "unknown_room"},
	{room.ErrInvalidSeller, "invalid_seller"},
	{room.ErrInvalidSession, "invalid_session"},
	{room.ErrNoPlace, "no_place"},
	{room.ErrStaleFence, "stale_fence"},
	{room.ErrInvalidExpect, "invalid_expect"},
	{room.ErrNumberBusy, "number_busy"},
	{room.ErrTooManyAsks, "too_many_asks"},
	{room.ErrNoMessage, "no_message"},
	{room.ErrKeyReused, "idempotency_key_reused"},
	{room.ErrStaleTicket, "stale_ticket"},
	{room.ErrLeaseTooLong, "lease_too_long"},
	{room.ErrAlreadyMatched, "already_matched"},
	{room.ErrNotPossible, "not_possible"},
	{sms.ErrRefused, "not_possible"},
	{signin.ErrNotSignedIn, "not_signed_in"},
	{signin.ErrWrong, "wrong_password"},
	{signin.ErrNotAdmitted, "not_admitted"},
	{signin.ErrExpired, "sign_in_expired"},
	{signin.ErrAway, "provider_unavailable"},
	{identity.ErrNotIdentified, "not_identified"},
	{identity.ErrToken, "invalid_token"},
	{identity.ErrExpired, "token_expired"},
	{identity.ErrEarly, "token_early"},
	{identity.ErrUsed, "token_used"},
	{identity.ErrAudience, "wrong_audience"},
	{identity.ErrKeys, "keys_unavailable"},
	{push.ErrInvalid, "invalid_subscription"},
	{link.ErrNone, "no_link"},
	{link.ErrUsed, "no_link"},
	{room.ErrTooManyRejects, "too_many_rejects"},
	{room.ErrLockHeld, "lock_held"},
	{room.ErrPaused, "room_paused"},
	{room.ErrRoomFull, "room_full"},
	{room.ErrSellerHasPlace, "seller_has_place"},
	{sms.ErrNotConfigured, "sms_not_configured"},
	{sms.ErrUnknownSource, "unknown_source"},
	{sms.ErrSignature, "bad_signature"},
	{sms.ErrInvalidJSON, "invalid_json"},
	{sms.ErrInvalidMessage, "invalid_message"},
	{room.ErrStore, "store_unavailable"},
	{context.DeadlineExceeded, "store_unavailable"},
	{context.Canceled, "store_unavailable"},
}

// codeOf is the code of an error; what nobody thought of is internal.
func codeOf(err error) string {
	if refusal, ok := errors.AsType[Refusal](err); ok {
		return string(refusal)
	}
	if _, limited := errors.AsType[signin.Limited](err); limited {
		return "too_many_requests"
	}
	if _, limited := errors.AsType[quota.Limited](err); limited {
		return "too_many_requests"
	}
	for _, known := range codes {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return "internal"
}

// fail answers an error.
func (s *site) fail(c *gin.Context, err error) {
	code := codeOf(err)
	s.failed(c, code, err)
	if limit, ok := errors.AsType[quota.Limited](err); ok {
		s.refuseFor(c, limit)
		return
	}
	if errors.Is(err, sms.ErrRefused) {
		s.tell(c, code, refusedByLedger(code), nil)
		return
	}
	s.refuse(c, code)
}

// failed writes down what went wrong here.
func (s *site) failed(c *gin.Context, code string, err error) {
	switch {
	case problems[code].status < http.StatusInternalServerError || c.Request.Context().Err() != nil:
	case code == "room_full" || code == "sms_not_configured": // as it is set; for the first see limited
	case code == "store_unavailable":
		s.away.request(c.FullPath(), err)
	default:
		s.spanError(c, err)
		s.Log.WarnContext(c.Request.Context(), "request failed", "route", c.FullPath(), "code", code, "error", err)
	}
}

// refuse answers a code of the table: in JSON to a program, on a page to a person.
func (s *site) refuse(c *gin.Context, code string) {
	if _, ok := problems[code]; !ok {
		code = "internal"
	}
	s.tell(c, code, problemOf(c, code), nil)
}

// tell answers a problem; after is from when the holder may ask, where that is the problem.
func (s *site) tell(c *gin.Context, code string, p problem, after *instant) {
	c.Abort()
	s.spanProblem(c, code)
	header := c.Writer.Header()
	if p.retry > 0 && header.Get("Retry-After") == "" {
		header.Set("Retry-After", strconv.Itoa(p.retry))
	}
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept, Accept-Language, Cookie")
	if wantsPage(c) {
		s.errorPage(c, code, p)
		return
	}
	writeProblem(c, code, p, after)
}

func writeProblem(c *gin.Context, code string, p problem, after *instant) {
	lang := spoken(c).accepted(c.Request)
	said := p.said(lang)
	body, err := json.Marshal(struct {
		Type     string   `json:"type"`
		Title    string   `json:"title"`
		Status   int      `json:"status"`
		Code     string   `json:"code"`
		Detail   string   `json:"detail"`
		AskAfter *instant `json:"ask_after,omitempty"`
	}{"urn:waitroom:problem:" + code, said.Title, p.status, code, said.Detail, after})
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	c.Header("Content-Language", lang)
	c.Data(p.status, "application/problem+json", body)
}

func (s *site) nothingHere(c *gin.Context) { s.refuse(c, "not_found") }

func (s *site) notLikeThis(c *gin.Context) { s.refuse(c, "method_not_allowed") }
