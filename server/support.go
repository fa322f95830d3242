package server

import (
	"context"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/waitroom/waitroom/hub"
	"github.com/waitroom/waitroom/hub/desk"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/web/signin"
	"github.com/waitroom/waitroom/web/support"
)

// auditWithin bounds the recording of a sign-in.
const auditWithin = 2 * time.Second

// openDesk makes support's sign-in.
func (s *Server) openDesk() {
	cfg := signin.Config{Redis: s.store.Client, Names: s.engine.Names(), Log: s.log, Audit: s.audit,
		Users: make(map[string]string, len(s.cfg.SupportUsers)), Tokens: s.cfg.signinTokens()}
	for name, hash := range s.cfg.SupportUsers {
		cfg.Users[name] = string(hash)
	}
	if o := s.cfg.SupportOIDC; o.Issuer != "" {
		cfg.OIDC = &signin.OIDC{Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: string(o.ClientSecret),
			Redirect: s.cfg.PublicURL + "/support/oidc/callback", WatchGroup: o.WatchGroup,
			ActGroup: o.ActGroup}
	}
	s.desk = signin.New(cfg)
}

// audit records sign-ins and attempts. Its failure does not fail the sign-in.
func (s *Server) audit(ctx context.Context, agent, address, action, reason string) {
	ctx, cancel := context.WithTimeout(ctx, auditWithin)
	defer cancel()
	if err := s.engine.Audit(ctx, room.SupportRoom,
		room.Action{Who: agent, Address: address, Action: action, Reason: reason}); err != nil {
		s.log.ErrorContext(ctx, "a sign-in is not in the audit", "who", agent, "address", address, "action", action,
			"reason", reason, "error", err)
	}
}

// support returns the desk's configuration for package web. Messages are nil if SMS is not configured.
func (s *Server) support(messages *sms.Service) *support.Config {
	d := &support.Config{SignIns: s.desk, Engine: s.engine, Records: records{s.engine, s.ledger.Reader},
		Sockets: deskSockets{s.hub}, Zone: s.zone, Hours: s.hours, Names: s.roomNames}
	if messages != nil {
		d.Assign, d.AllSenders = messages, s.allSenders
	}
	if s.cfg.WebhookURL != "" && s.tasks != nil {
		d.Deliveries = deliveries{s.tasks}
	}
	return d
}

// zone returns the time zone of a room's days: that of its opening hours, else of TZ, else UTC.
func (s *Server) zone(id room.ID) *time.Location {
	if zone := s.rooms.Of(id).Open.Zone(); zone != nil {
		return zone
	}
	zone, err := time.LoadLocation(strings.TrimPrefix(os.Getenv("TZ"), ":"))
	if err != nil {
		return time.UTC
	}
	return zone
}

// deskSockets adapts the hub to package support.
type deskSockets struct{ *hub.Hub }

func (s deskSockets) ServeDesk(w http.ResponseWriter, r *http.Request, id room.ID,
	watcher support.Watcher) error {
	return refusal(w, s.Hub.ServeDesk(w, r, id, desk.Watcher(watcher)))
}

// welcome logs how support signs in, if no setting names its members.
func (s *Server) welcome(ctx context.Context) {
	if len(s.cfg.SupportUsers) > 0 || s.cfg.SupportOIDC.Issuer != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, auditWithin)
	defer cancel()
	password, err := s.desk.OneTime(ctx)
	if err != nil {
		s.log.Warn("there is no one-time password for support; set WAITROOM_SUPPORT_USERS (--support-users)",
			"error", err)
		return
	}
	s.log.Info("support signs in at "+s.outside()+"/support/sign-in as support with this password, once "+
		"and within 24 hours; "+
		"for users that last set WAITROOM_SUPPORT_USERS (--support-users), with waitroom hash-password",
		"password", password)
}

// outside returns the server's URL for people.
func (s *Server) outside() string {
	if s.cfg.PublicURL != "" {
		return s.cfg.PublicURL
	}
	return s.URL()
}

// replicaName returns a replica's name for people, unique on one machine.
func (s *Server) replicaName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return host + " " + s.Addr()
}
