package server

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/server/heard"
	"github.com/waitroom/waitroom/server/roomsfile"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/templates"
)

// readRoomsFile sets the file's path. The file itself is read later, since not every command needs it.
func readRoomsFile(c *Config, value string) error {
	if len(value) > 4096 || strings.ContainsFunc(value, unicode.IsControl) {
		return errors.New("want the path of a YAML file")
	}
	c.RoomsFile = value
	return nil
}

// roomChecks returns the rules for ROOMS_FILE.
func (c Config) roomChecks() roomsfile.Checks {
	return roomsfile.Checks{Path: c.RoomsFile,
		Rest: roomsfile.Entry{Lease: c.Lease, ClaimWithin: c.ClaimWithin, Quarantine: c.SMSQuarantine,
			Required: c.SMSExpect == "required",
			Sources:  c.SMSSources},
		Lease: between(leaseLeast, leaseMost), ClaimWithin: between(0, leaseMost),
		Quarantine: between(0, quarantineMost),
		Languages:  templates.Languages(),
		Sealed:     c.SMSWebhookSecret != "" || len(c.SMSSources) > 0,
		Known: func(entry string) bool {
			if prefix, many := strings.CutSuffix(entry, "*"); many {
				return c.Rooms.Begins(prefix)
			}
			return c.Rooms.Has(room.ID(entry))
		}, Rooms: c.Rooms.Entries()}
}

// reload rereads ROOMS_FILE at each signal.
func (s *Server) reload(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.cfg.Reload:
			s.rooms.Reload()
			s.warnOfSenders(ctx)
		}
	}
}

// terms returns the rules of a room.
func (s *Server) terms(id room.ID) room.Terms {
	e := s.rooms.Of(id)
	return room.Terms{Lease: e.Lease, ClaimWithin: orOff(e.ClaimWithin), Quarantine: orOff(e.Quarantine),
		Required: e.Required}
}

// opensAt returns when the hours of a room begin next, as seen at a time; the zero time within them.
func (s *Server) opensAt(id room.ID, now time.Time) time.Time {
	return s.rooms.Of(id).Open.OpensAt(now)
}

// hours returns when a room's hours begin next, as seen at a time, and whether that is outside them. The zero
// time: the room is always open.
func (s *Server) hours(id room.ID, now time.Time) (begin time.Time, outside bool) {
	open := s.rooms.Of(id).Open
	return open.BeginAgain(now), !open.OpensAt(now).IsZero()
}

// roomKeys returns the keys that seal messages of rooms with their own secret. A shared secret replaces them:
// a room's secret may then change at any time, on one replica before the other.
func (s *Server) roomKeys() func(room.ID) *seal.Keyring {
	if s.cfg.SMSWebhookSecret != "" || len(s.cfg.SMSSources) > 0 {
		return nil
	}
	return func(id room.ID) *seal.Keyring { return s.rooms.Of(id).Keyring }
}

// roomVerifier returns the verifier of a room with a secret of its own; nil for any other.
func (s *Server) roomVerifier(id room.ID) *sms.Verifier { return s.rooms.Of(id).Verifier }

// roomSenders returns the accepted senders of a room; none: all.
func (s *Server) roomSenders(id room.ID) []string { return s.rooms.Of(id).AllSenders() }

// openToAll reports whether a room takes texts of every sender.
func (s *Server) openToAll(id room.ID) bool {
	return s.rooms.Of(id).OpenToAll(s.cfg.SMSWebhookSecret != "")
}

// allSenders is openToAll, with the senders of the room's codes of late: none if the store does not answer.
func (s *Server) allSenders(ctx context.Context, id room.ID) (all bool, lately []string) {
	if all = s.openToAll(id); all {
		lately, _ = heard.Senders(ctx, s.store.Client, s.engine.Names(), id)
	}
	return all, lately
}

// mostWarned bounds the rooms of which the log warns one by one.
const mostWarned = 20

// warnOfSenders logs which rooms take texts of every sender, with the senders of their codes of late.
func (s *Server) warnOfSenders(ctx context.Context) {
	named := s.cfg.Rooms.Entries()
	for _, id := range s.listedRooms() {
		named = append(named, string(id))
	}
	ctx, cancel := context.WithTimeout(ctx, auditWithin)
	defer cancel()
	list, err := heard.Warnings(ctx, s.store.Client, s.engine.Names(), named, s.openToAll)
	if err != nil {
		s.log.Warn("the senders of codes could not be read", "error", err)
	}
	for i, w := range list {
		if i == mostWarned {
			s.log.Warn("more rooms take texts of every sender; waitroom doctor lists them", "rooms", len(list)-i)
			return
		}
		s.log.Warn(w.Risk(), "do", w.Remedy())
	}
}

// roomPhone returns the number of a room; "" = not known.
func (s *Server) roomPhone(id room.ID) string { return s.rooms.Of(id).Phone }

// roomNames returns ROOMS_FILE's names of rooms and starred prefixes, in a language of the desk.
func (s *Server) roomNames(lang string) (names []templates.RoomName) {
	s.rooms.Each(func(name string, e *roomsfile.Entry) {
		var markets []string
		for _, m := range e.Markets() {
			markets = append(markets, m.Name.In(lang))
		}
		names = append(names, templates.RoomName{Room: name, Name: e.Name.In(lang), Phone: e.Phone,
			Marketplace: strings.Join(markets, ", ")})
	})
	return names
}

// roomInfo returns the operator's texts for a room, in a language of the page.
func (s *Server) roomInfo(id room.ID, lang string) templates.RoomInfo {
	e := s.rooms.Of(id)
	info := templates.RoomInfo{Name: e.Name.In(lang), Phone: e.Phone, ReturnURL: e.ReturnURL,
		Support: templates.SupportInfo{Text: e.Support.Text.In(lang), URL: e.Support.URL, Tel: e.Support.Tel},
		Brand:   templates.Brand{Name: e.Brand.Name.In(lang), Logo: e.Brand.Logo, Style: e.Brand.Style},
		Zone:    e.Open.Zone()}
	for _, m := range e.Markets() {
		info.Marketplaces = append(info.Marketplaces, templates.MarketplaceInfo{Name: m.Name.In(lang), URL: m.URL,
			From: m.From, Contains: m.Contains})
	}
	return info.Choose(0)
}
