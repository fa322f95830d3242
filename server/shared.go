package server

import (
	"maps"
	"slices"
	"strconv"

	"github.com/waitroom/waitroom/server/agree"
	"github.com/waitroom/waitroom/server/roomsfile"
)

// sharedSecrets are the secrets, and lists with secrets, that all replicas must share.
var sharedSecrets = []string{"sms-webhook-secret", "sms-sources", "webhook-url", "webhook-secret",
	"support-users", "support-oidc-client-secret", "support-tokens", "seller-jwt-secret", "return-secret"}

// digest keeps the digest of a secret that all replicas must share.
func (c *Config) digest(name, value string) {
	if slices.Contains(sharedSecrets, name) {
		if c.digests == nil {
			c.digests = make(agree.Settings)
		}
		c.digests[name] = agree.Digest(name, value)
	}
}

// shared returns the settings that all replicas must share. sum is the digest of the rooms file, "" for none.
func (c Config) shared(sum string) agree.Settings {
	all := agree.Settings{
		"lease": short(c.Lease), "away-after": short(c.AwayAfter), "drop-after": short(c.DropAfter),
		"claim-within": short(c.ClaimWithin), "rooms": c.Rooms.String(),
		"rooms-file": agree.Digest("rooms-file", sum), "room-limit": strconv.Itoa(c.RoomLimit),
		"sms-quarantine": short(c.SMSQuarantine), "sms-expect": c.SMSExpect, "sms-guard": short(c.SMSGuard),
		"sms-completes": strconv.FormatBool(c.SMSCompletes), "seller-auth": c.SellerAuth,
	}
	maps.Copy(all, c.digests)
	return all
}

// sharedHere is Config.shared of this replica, with the rooms file as it was last read.
func (s *Server) sharedHere() agree.Settings {
	if s.rooms == nil {
		return s.cfg.shared("")
	}
	return s.cfg.shared(s.rooms.Sum())
}

// sharedOnDisk is Config.shared with the rooms file as it is now.
func (c Config) sharedOnDisk() agree.Settings {
	if c.RoomsFile == "" {
		return c.shared("")
	}
	file, err := roomsfile.Read(c.roomChecks())
	if err != nil { // the doctor reports it elsewhere
		all := c.shared("")
		delete(all, "rooms-file")
		return all
	}
	return c.shared(file.Sum)
}
