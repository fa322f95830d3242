package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waitroom/waitroom/internal/sqldb"
	"github.com/waitroom/waitroom/ledger"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/heard"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
)

// journalMax is how many changes of a room wait for the ledger at the most: about a hundred megabytes,
// days of a busy room. It is told loudly long before.
const journalMax = 200_000

// openLedger opens the database with the record in it and, where there is somebody to tell, the outbox beside it.
func (s *Server) openLedger(ctx context.Context, registry prometheus.Registerer) (err error) {
	s.db, err = sqldb.Open(ctx, sqldb.Config{URL: string(s.cfg.DatabaseURL), Migrations: ledger.Migrations(), Log: s.recordLog})
	if err != nil {
		return fmt.Errorf("WAITROOM_DATABASE_URL (--database-url): %w", err)
	}
	c := ledger.Config{DB: s.db, Journal: s.engine, Rooms: s.engine, JournalMax: journalMax, Webhooks: s.cfg.WebhookURL != "", Log: s.recordLog,
		Registerer: registry, Tracer: s.traces.Tracer("ledger"), Guard: s.cfg.SMSGuard, Retention: s.cfg.Retention, OnIncident: s.alarmed}
	if s.pushes != nil {
		c.Pushes = subscriptions{s.pushes, s}
	}
	s.ledger = ledger.New(c)
	return s.openOutbox(registry)
}

// openOutbox makes the worker of what is to be done after it was recorded; none where there is nothing to do.
func (s *Server) openOutbox(registry prometheus.Registerer) error {
	kinds, err := s.kinds()
	if err != nil || len(kinds) == 0 {
		return err
	}
	s.tasks = outbox.NewStore(s.db.SQL(), s.db.Dialect(), outbox.StoreConfig{})
	s.outbox, err = outbox.NewWorker(outbox.Config{Store: s.tasks, Kinds: kinds, Log: s.recordLog, Registerer: registry, Tracer: s.traces.Tracer("outbox")})
	return err
}

// warnOfShort speaks of a secret with fewer bytes than Standard Webhooks asks for.
func (s *Server) warnOfShort(name string, secret Secret) {
	const fewest = 24
	if base64.StdEncoding.DecodedLen(len(strings.TrimPrefix(string(secret), "whsec_"))) < fewest {
		s.log.Warn(name + " is short and can be guessed: use the base64 of 24 to 64 random bytes, such as from openssl rand -base64 32")
	}
}

// sealKeys are the keys that seal messages in the store. Where there is no secret for all rooms it is a key of this process's own: the
// rooms that take messages seal with theirs.
func (s *Server) sealKeys() (*room.Keyring, error) {
	if s.cfg.SMSWebhookSecret == "" {
		if secrets := source.Secrets(s.cfg.SMSSources); len(secrets) > 0 {
			return room.NewKeyring(secrets...), nil
		}
		return room.NewKeyring([]byte(rand.Text())), nil
	}
	secrets, err := sms.Keys(string(s.cfg.SMSWebhookSecret))
	if err != nil {
		return nil, fmt.Errorf("WAITROOM_%w (--sms-webhook-secret)", err)
	}
	return room.NewKeyring(secrets...), nil
}

// orOff is a setting as the engine takes it, where 0 is its default and not none.
func orOff(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// openSMS makes the matching of inbound messages; nil where it is not configured.
func (s *Server) openSMS(registry prometheus.Registerer) (*sms.Service, error) {
	if s.cfg.SMSWebhookSecret == "" && s.rooms == nil && len(s.cfg.SMSSources) == 0 {
		return nil, nil
	}
	service, err := sms.New(sms.Config{Engine: s.engine, Ledger: s.ledger, Secret: string(s.cfg.SMSWebhookSecret), Own: s.roomVerifier(), Source: s.roomSource, Senders: s.roomSenders,
		Heard: heard.New(s.store.Client, s.engine, s.log).Record, Guard: s.cfg.SMSGuard, Completes: s.cfg.SMSCompletes, Log: s.recordLog, Registerer: registry})
	if err != nil {
		return nil, fmt.Errorf("WAITROOM_%w (--sms-webhook-secret)", err)
	}
	for one := range strings.SplitSeq(string(s.cfg.SMSWebhookSecret), ",") {
		if one == "" {
			continue
		}
		s.warnOfShort("WAITROOM_SMS_WEBHOOK_SECRET", Secret(strings.TrimSpace(one)))
	}
	return service, nil
}

// alarmed tells who watches a room that the ledger has written down an incident there.
func (s *Server) alarmed(id room.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), alertWithin)
	defer cancel()
	_ = s.engine.Alert(ctx, id) // else it is looked up at the next change
}

// lost says that the store lost a room's data. Who had a place there is told by the room itself.
func (s *Server) lost(id room.ID, now room.View) {
	s.log.Error("the store lost writes: the room begins a new epoch, and whoever held its lock or is not in what is left has lost the place",
		"room", id, "epoch", now.Epoch, "waiting", now.Waiting)
}

// clockJumped says that Redis's clock was stepped: once a minute, since of a cluster each room is told of. What sellers see of the time goes by it at once.
func (s *Server) clockJumped(by time.Duration) {
	if s.hub != nil {
		s.hub.ClockTurned()
	}
	now := time.Now().UnixNano()
	if last := s.steppedAt.Load(); now-last < int64(time.Minute) || !s.steppedAt.CompareAndSwap(last, now) {
		return
	}
	if by < 0 {
		s.log.Warn("Redis's clock was set back: until it has been there again and the quarantine is over nobody may ask for a code. Have the host of Redis slew its clock",
			"back", -by.Round(time.Millisecond))
		return
	}
	s.log.Warn("Redis's clock was stepped ahead, and leases end early for it; until the quarantine is over nobody may ask for a code. Have the host of Redis slew its clock",
		"ahead", by.Round(time.Millisecond))
}

// looked hands what the sweep found to the ledger, which takes the room's journal in.
func (s *Server) looked(id room.ID, found room.Checked) {
	s.ledger.JournalSeen(id, found)
}

var errBehind = errors.New("ledger is behind")

// recorded is the soft check of the ledger: it may be behind, and nobody's turn waits for it.
func (s *Server) recorded(context.Context) error {
	if s.ledger.Status().Behind {
		return errBehind
	}
	return nil
}
