package problem

import (
	"context"
	"errors"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/web/identity"
	"github.com/waitroom/waitroom/web/link"
	"github.com/waitroom/waitroom/web/push"
	"github.com/waitroom/waitroom/web/quota"
	"github.com/waitroom/waitroom/web/signin"
)

// codes maps the errors of the engine and the SMS service to codes.
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
	{signin.ErrTooManyGroups, "too_many_groups"},
	{signin.ErrDenied, "sign_in_denied"},
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
	{room.ErrRoomClosed, "room_closed"},
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

// CodeOf returns an error's code; "internal" for an unknown error.
func CodeOf(err error) string {
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
