package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/roomsfile"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
)

// readSources parses name=kind:secret entries, separated by commas or line ends. The error repeats no secret.
func readSources(c *Config, value string) error {
	sources := map[string]source.Configured{}
	for i, entry := range list(strings.ReplaceAll(value, "\n", ",")) {
		called, secret, ok := strings.Cut(entry, ":")
		name, kind, named := strings.Cut(called, "=")
		if !named {
			kind = name
		}
		name, kind, secret = strings.TrimSpace(name), strings.TrimSpace(kind), strings.TrimSpace(secret)
		if !ok || secret == "" || !source.ValidName(name) {
			return fmt.Errorf("entry %d is not name=kind:secret or kind:secret, "+
				"with a name of small letters, digits, - and _", i+1)
		}
		if kind == "template" {
			return fmt.Errorf("entry %d is a template: set it up in ROOMS_FILE, where its fields can be named", i+1)
		}
		s := sources[name].Settings
		if s.Kind != "" && s.Kind != kind {
			return fmt.Errorf("entry %d has the name of another one, of another kind", i+1)
		}
		s.Kind, s.Secrets = kind, append(s.Secrets, sms.NewSecret(secret))
		made, err := source.New(s)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		sources[name] = made
	}
	if len(sources) > 0 {
		c.SMSSources = sources
	}
	return nil
}

// roomSource returns a room's source by name; nil without one.
func (s *Server) roomSource(id room.ID, name string) sms.Source {
	if found, ok := s.sourcesOf(id)[name]; ok {
		return found
	}
	return nil
}

func (s *Server) sourcesOf(id room.ID) map[string]source.Configured { return s.rooms.Of(id).Sources }

// roomSIM returns the card that has a room's number, of a phone that is a source of the room; "" = not known.
func (s *Server) roomSIM(id room.ID, name string) string { return s.sourcesOf(id)[name].SIM }

// numbered returns the rooms that have a source of this name, for the address of all rooms.
func (s *Server) numbered(name string) (rooms []sms.NumberedRoom) {
	for _, id := range s.listedRooms() {
		if found, ok := s.sourcesOf(id)[name]; ok {
			rooms = append(rooms, sms.NumberedRoom{ID: id, Source: found.Source, Phone: s.roomPhone(id),
				SIM: found.SIM})
		}
	}
	return rooms
}

// knownSource returns the name of a source that a room has; "" for any other name.
func (s *Server) knownSource(name string) string {
	_, known := s.cfg.SMSSources[name]
	s.rooms.Each(func(_ string, e *roomsfile.Entry) {
		_, has := e.Sources[name]
		known = known || has
	})
	if !known {
		return ""
	}
	return name
}

// listedRooms returns the rooms that ROOMS or ROOMS_FILE names.
func (s *Server) listedRooms() []room.ID {
	rooms := s.cfg.Rooms.Names()
	s.rooms.Each(func(name string, _ *roomsfile.Entry) {
		id := room.ID(name)
		if !strings.HasSuffix(name, "*") && s.cfg.Rooms.Has(id) && !slices.Contains(rooms, id) {
			rooms = append(rooms, id)
		}
	})
	return rooms
}

// deskRoom returns the room whose desk shows what concerns no known room; "" for none.
func (s *Server) deskRoom() room.ID {
	if rooms := s.listedRooms(); len(rooms) > 0 {
		return rooms[0]
	}
	return ""
}
