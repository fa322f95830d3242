package room

import (
	"cmp"
	"errors"
	"reflect"
	"time"

	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/room/wire"
)

// Terms are the settings that a room may have of its own. Zero durations mean those of Config.
type Terms struct {
	Lease       time.Duration // longest time that the lock is held
	ClaimWithin time.Duration // see Config; negative = leases need no claim
	Quarantine  time.Duration // see Config
	Required    bool          // see Config
}

// Terms returns the settings of a room, with Config's for its zero durations. Required is Config's only if
// Config.Terms is nil.
func (e *Engine) Terms(id ID) Terms {
	if e.cfg.Terms == nil {
		return Terms{Lease: e.cfg.Lease, ClaimWithin: max(e.cfg.ClaimWithin, 0),
			Quarantine: e.cfg.Quarantine, Required: e.cfg.Required}
	}
	t := e.cfg.Terms(id)
	setDefault(&t.Lease, e.cfg.Lease)
	setDefault(&t.ClaimWithin, e.cfg.ClaimWithin)
	t.ClaimWithin = max(t.ClaimWithin, 0)
	setDefault(&t.Quarantine, e.cfg.Quarantine)
	return t
}

// OpensAt returns when a room takes new places again, in unix ms; 0 if it takes them now. It follows the
// room's hours and what support has set. now is the time in unix ms.
func (e *Engine) OpensAt(id ID, by *wire.BySupport, now int64) int64 {
	if by != nil && now < by.ClosedUntil {
		return cmp.Or(e.hoursBegin(id, by.ClosedUntil), by.ClosedUntil)
	}
	if by != nil && now < by.OpenUntil {
		return 0
	}
	return e.hoursBegin(id, now)
}

// hoursBegin returns when a room's hours begin next, in unix ms; 0 within them.
func (e *Engine) hoursBegin(id ID, now int64) int64 {
	if e.cfg.OpensAt == nil {
		return 0
	}
	if at := e.cfg.OpensAt(id, time.UnixMilli(now)); !at.IsZero() {
		return at.UnixMilli()
	}
	return 0
}

// policyOf returns the encoded policy of a room with these settings.
func (e *Engine) policyOf(t Terms) string {
	if known, ok := e.policies.Load(t); ok {
		return known.(string)
	}
	encoded := policyFields.json(reflect.ValueOf(policy{
		Lease: t.Lease, AwayAfter: e.cfg.AwayAfter, DropAfter: e.cfg.DropAfter, ClaimWithin: t.ClaimWithin,
		JournalMax: e.cfg.Journal, EndedKept: max(e.cfg.Outcomes, 0), LeasesKept: max(e.cfg.Leases, 0),
		Events: e.events(), Quarantine: max(t.Quarantine, 0), Required: t.Required,
		Recovery: max(e.cfg.Recovery, 0), Ephemeral: e.cfg.Ephemeral}))
	e.policies.Store(t, encoded)
	return encoded
}

// events returns the suffix of the channel for events; "" = the library publishes none.
func (e *Engine) events() string {
	if e.cfg.Silent {
		return ""
	}
	return e.names.events()
}

// sealer returns the keyring that seals a room's messages.
func (e *Engine) sealer(id ID) *seal.Keyring {
	if e.cfg.RoomKeys != nil {
		if own := e.cfg.RoomKeys(id); own != nil {
			return own
		}
	}
	return e.cfg.Keys
}

// unseal opens a sealed text of a room, with the room's keyring or the engine's. It reports one that neither
// opens.
func (e *Engine) unseal(id ID, sealed, about string) ([]byte, error) {
	text, err := e.sealer(id).Open(sealed, about)
	if errors.Is(err, seal.ErrUnknown) {
		text, err = e.cfg.Keys.Open(sealed, about)
	}
	if err != nil && e.cfg.Unreadable != nil {
		e.cfg.Unreadable(id)
	}
	return text, err
}
