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
	"github.com/waitroom/waitroom/ledger/schema"
	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/server/heard"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
)

// journalMax is the maximum number of a room's changes that wait for the ledger. It is about a hundred
// megabytes, days of a busy room. The server warns long before.
const journalMax = 200_000

// openLedger opens the database with the ledger and, if there are receivers, the outbox.
func (s *Server) openLedger(ctx context.Context, registry prometheus.Registerer) (err error) {
	s.db, err = sqldb.Open(ctx, sqldb.Config{URL: string(s.cfg.DatabaseURL),
		Reread: s.rereading(s.cfg.databaseNow), Migrations: schema.Migrations(),
		Log: s.recordLog})
	if err != nil {
		return fmt.Errorf("WAITROOM_DATABASE_URL (--database-url): %w", err)
	}
	c := ledger.Config{DB: s.db, Journal: s.engine, Rooms: s.engine, JournalMax: journalMax,
		Webhooks: s.cfg.WebhookURL != "", Log: s.recordLog,
		Registerer: registry, Tracer: s.traces.Tracer("ledger"), Guard: s.cfg.SMSGuard, Retention: s.cfg.Retention,
		OnIncident: s.alarmed}
	if s.pushes != nil {
		c.Pushes = subscriptions{s.pushes, s}
	}
	s.ledger = ledger.New(c)
	s.openNear()
	return s.openOutbox(registry)
}

// openOutbox makes the worker for recorded tasks; none without a kind of task.
func (s *Server) openOutbox(registry prometheus.Registerer) error {
	kinds, err := s.kinds()
	if err != nil || len(kinds) == 0 {
		return err
	}
	s.tasks = outbox.NewStore(s.db.SQL(), s.db.Dialect(), outbox.StoreConfig{})
	s.outbox, err = outbox.NewWorker(outbox.Config{Store: s.tasks, Kinds: kinds, Log: s.recordLog,
		Registerer: registry, Tracer: s.traces.Tracer("outbox")})
	return err
}

// warnOfShort warns of a secret shorter than Standard Webhooks requires.
func (s *Server) warnOfShort(name string, secret Secret) {
	const fewest = 24
	if base64.StdEncoding.DecodedLen(len(strings.TrimPrefix(string(secret), "whsec_"))) < fewest {
		s.log.Warn(name + " is short and can be guessed: use the base64 of 24 to 64 random bytes, such as from " +
			"openssl rand -base64 32")
	}
}

// sealKeys returns the keys that seal messages in the store: from SMS_WEBHOOK_SECRET, else from SMS_SOURCES.
// Without both it is a key of this process: rooms with messages then seal with secrets of their own.
func (s *Server) sealKeys() (*seal.Keyring, error) {
	if s.cfg.SMSWebhookSecret == "" {
		if secrets := source.Secrets(s.cfg.SMSSources); len(secrets) > 0 {
			return seal.NewKeyring(secrets...), nil
		}
		return seal.NewKeyring([]byte(rand.Text())), nil
	}
	secrets, err := sms.Keys(string(s.cfg.SMSWebhookSecret))
	if err != nil {
		return nil, fmt.Errorf("WAITROOM_%w (--sms-webhook-secret)", err)
	}
	return seal.NewKeyring(secrets...), nil
}

// orOff converts a setting for the engine, where 0 is the default and not none.
func orOff(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// codeFrom returns what records who sent a code, for rooms without a list of senders alone.
func (s *Server) codeFrom(r *heard.Recorder) func(context.Context, room.ID, string) {
	return func(ctx context.Context, id room.ID, sender string) {
		if s.openToAll(id) {
			r.RecordSender(ctx, id, sender)
		}
	}
}

// openSMS makes the matcher of inbound messages; nil without configuration.
func (s *Server) openSMS(registry prometheus.Registerer) (*sms.Service, error) {
	if s.cfg.SMSWebhookSecret == "" && s.cfg.RoomsFile == "" && len(s.cfg.SMSSources) == 0 {
		return nil, nil
	}
	recorder := heard.New(s.store.Client, s.engine, s.log)
	service, err := sms.New(sms.Config{Engine: s.engine, Ledger: s.ledger,
		Secret: string(s.cfg.SMSWebhookSecret), Own: s.roomVerifier, Source: s.roomSource, Senders: s.roomSenders,
		Phone: s.roomPhone, SIM: s.roomSIM, Numbered: s.numbered,
		Heard: recorder.Record, CodeFrom: s.codeFrom(recorder), Arrived: recorder.Arrived, Guard: s.cfg.SMSGuard,
		Completes: s.cfg.SMSCompletes, Log: s.recordLog, Registerer: registry})
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

// alarmed notifies the watchers of a room that the ledger has recorded an incident.
func (s *Server) alarmed(id room.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), alertWithin)
	defer cancel()
	_ = s.engine.Alert(ctx, id) // on failure, the next change looks it up
}

// lost logs that the store lost a room's data. The room itself notifies its sellers.
func (s *Server) lost(id room.ID, now room.View) {
	s.log.Error("the store lost writes: the room begins a new epoch, and sellers whose lock or place is not "+
		"in what is left have lost it",
		"room", id, "epoch", now.Epoch, "waiting", now.Waiting)
}

// clockJumped logs a jump of Redis's clock, once a minute: a cluster reports it for each room. Times shown to
// sellers follow the clock at once.
func (s *Server) clockJumped(by time.Duration) {
	if s.hub != nil {
		s.hub.ClockTurned()
	}
	now := time.Now().UnixNano()
	if last := s.jumpedAt.Load(); now-last < int64(time.Minute) || !s.jumpedAt.CompareAndSwap(last, now) {
		return
	}
	if by < 0 {
		s.log.Warn("Redis's clock was set back: until it has caught up and the quarantine is over, "+
			"no seller may ask for a code. Have the host of Redis slew its clock",
			"back", -by.Round(time.Millisecond))
		return
	}
	s.log.Warn("Redis's clock jumped ahead, and leases end early for it; until the quarantine is over, "+
		"no seller may ask for a code. Have the host of Redis slew its clock",
		"ahead", by.Round(time.Millisecond))
}

// looked passes the sweep's findings to the ledger, which records the room's journal, and to the watch for
// places that are near.
func (s *Server) looked(id room.ID, found room.Checked) {
	s.ledger.JournalSeen(id, found)
	if s.near != nil {
		s.near.Seen(id, found.View)
	}
}

var errBehind = errors.New("ledger is behind")

// recorded is the soft check of the ledger: it may lag, and no turn waits for it.
func (s *Server) recorded(context.Context) error {
	if s.ledger.Status().Behind {
		return errBehind
	}
	return nil
}
