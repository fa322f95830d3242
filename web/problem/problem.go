// Package problem has the one table of all problems of a request, and the code of each error.
package problem

import (
	"maps"
	"net/http"
	"slices"

	"github.com/waitroom/waitroom/templates"
)

// Refusal is a code of the table as an error, for other packages that refuse a request.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// answer is the answer to a code.
type answer struct {
	status int
	retry  int // seconds; 0 = no Retry-After
}

// table maps each code to its answer. The texts are in templates/locales/problems.yaml.
var table = map[string]answer{
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
	"room_closed":            {http.StatusConflict, 0},
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
	"overloaded":             {http.StatusServiceUnavailable, 2},
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
	"too_many_groups":        {http.StatusForbidden, 0},
	"sign_in_denied":         {http.StatusForbidden, 0},
	"not_allowed":            {http.StatusForbidden, 0},
	"invalid_ticket":         {http.StatusBadRequest, 0},
	"invalid_seconds":        {http.StatusBadRequest, 0},
	"invalid_position":       {http.StatusBadRequest, 0},
	"invalid_text":           {http.StatusBadRequest, 0},
	"invalid_level":          {http.StatusBadRequest, 0},
	"invalid_until":          {http.StatusBadRequest, 0},
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

// Problem is the answer to a code, with its texts.
type Problem struct {
	Status int
	Retry  int // seconds; 0 = no Retry-After
	Words  func(lang string) templates.Problem
	Reason string // why a token was refused, for its portal's developers; "" = nothing to add
}

// For returns the answer to a code; Status is 0 for an unknown code.
func For(code string) Problem {
	a := table[code]
	return Problem{Status: a.status, Retry: a.retry,
		Words: func(lang string) templates.Problem { return Words(lang).API[code] }}
}

// Codes returns all codes of the table, sorted.
func Codes() []string { return slices.Sorted(maps.Keys(table)) }

// Words returns the texts about problems.
func Words(lang string) templates.ProblemsText { return templates.TextIn(lang).Problems }
