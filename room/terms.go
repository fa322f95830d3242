package room

import (
	"errors"
	"reflect"
	"time"
)

// Terms are the settings that a room may have of its own. Zero durations mean those of Config.
type Terms struct {
	Lease       time.Duration // longest time that the lock is held
	ClaimWithin time.Duration // see Config; negative = leases need no claim
	Quarantine  time.Duration // see Config
	Required    bool          // see Config
}

// Terms returns the settings of a room, with Config's for those that it does not have.
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

// OpensAt returns when a room that takes no new places now opens, the zero time for a room that is open.
func (e *Engine) OpensAt(id ID) time.Time {
	if e.cfg.OpensAt == nil {
		return time.Time{}
	}
	return e.cfg.OpensAt(id)
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
func (e *Engine) sealer(id ID) *Keyring {
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
	text, err := e.sealer(id).open(sealed, about)
	if errors.Is(err, errSealed) {
		text, err = e.cfg.Keys.open(sealed, about)
	}
	if err != nil && e.cfg.Unreadable != nil {
		e.cfg.Unreadable(id)
	}
	return text, err
}
