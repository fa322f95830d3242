package server

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger/schema"
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

// withDatabase adds which database the replica has. DATABASE_URL does not show it: one database has several
// URLs, and one path is another file on each host. Nothing is added while id is not known.
func withDatabase(all agree.Settings, id string) agree.Settings {
	if id != "" {
		all["database"] = agree.Digest("database", id)
	}
	return all
}

// sharedHere returns the settings that all replicas must share, as this one has them: with the rooms file as
// it was last read, and the database's name.
func (s *Server) sharedHere() agree.Settings {
	return withDatabase(s.cfg.shared(s.rooms.Sum()), s.databaseID())
}

// databaseID returns the name of this replica's database; "" while the database has not answered yet.
func (s *Server) databaseID() string {
	if known := s.database.Load(); known != nil {
		return *known
	}
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	id, err := s.ledger.Identity(ctx)
	if err != nil {
		return ""
	}
	s.database.Store(&id)
	return id
}

// sharedOnDisk is Config.shared with the rooms file and the database as they are now.
func (c Config) sharedOnDisk(ctx context.Context) agree.Settings {
	if c.RoomsFile == "" {
		return withDatabase(c.shared(""), c.databaseOnDisk(ctx))
	}
	file, err := roomsfile.Read(c.roomChecks())
	if err != nil { // the doctor reports it elsewhere
		all := c.shared("")
		delete(all, "rooms-file")
		return withDatabase(all, c.databaseOnDisk(ctx))
	}
	return withDatabase(c.shared(file.Sum), c.databaseOnDisk(ctx))
}

// databaseOnDisk returns the name of the database at DATABASE_URL; "" if it does not answer or was not
// migrated yet, which the doctor reports elsewhere. It makes no SQLite file.
func (c Config) databaseOnDisk(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if path, lite := strings.CutPrefix(string(c.DatabaseURL), "sqlite:"); lite {
		if _, err := os.Stat(path); err != nil {
			return ""
		}
	}
	pool, err := sqldb.Connect(string(c.DatabaseURL))
	if err != nil {
		return ""
	}
	defer func() { _ = pool.Close() }()
	id, err := schema.IdentityOf(ctx, pool)
	if err != nil {
		return ""
	}
	return id
}
