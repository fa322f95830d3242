// Package desk serves the sockets of support: one room with its line and side panels, or an overview of all
// rooms.
package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/hub/follow"
	"github.com/waitroom/waitroom/hub/socket"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/storeclock"
)

// Panels reads what a desk shows beside the line, as lists of JSON objects with keys. The desk does not parse
// the objects, and sends again only those that changed.
type Panels interface {
	// Items are the messages and incidents that a person may have to look at, the latest first.
	Items(ctx context.Context, id room.ID) ([]Item, error)
	// Sources are the phones and providers that the room takes messages from.
	Sources(ctx context.Context, id room.ID) ([]Item, error)
	// Pauses are the pauses of the room, with their authors and reasons: at most one, none if it is not
	// known. The desk asks while the room is paused.
	Pauses(ctx context.Context, id room.ID) ([]Item, error)
	// Minutes are the last hour by the minute, or what of it may have changed since an instant (unix ms).
	Minutes(ctx context.Context, id room.ID, since int64) ([]Item, error)
}

// Item is a JSON object for support, and its key.
type Item struct {
	Key  string
	JSON json.RawMessage
}

// Watcher is an agent of support who watches a room.
type Watcher struct {
	Key   string    // of its sign-in: SignOut closes all sockets with it
	Until time.Time // its sign-in ends
	// reports whether the agent is still signed in; called every Recheck. An error: it is not known
	Valid func(context.Context) (bool, error)

	Program bool // it has sent a token, which no page can have a browser send: any Origin will do
}

// Engine reads rooms; *room.Engine is one.
type Engine interface {
	Roster(ctx context.Context, id room.ID) (room.Roster, error)
	Active(ctx context.Context) ([]room.ID, error)
	Glance(ctx context.Context, id room.ID) (room.Glance, error)
	Names() room.Names
	EachRoom(ctx context.Context, ids []room.ID, within time.Duration,
		f func(context.Context, room.ID) error) map[room.ID]error
}

// Host is the replica that a desk is part of.
type Host interface {
	// Accept takes a request over as a socket. It returns false without an error where the connection broke
	// meanwhile.
	Accept(w http.ResponseWriter, r *http.Request, allowed func(*http.Request) bool, c *socket.Conn,
		owner socket.Owner) (bool, error)
	// Open makes this replica's copy of a room send its changes to a socket of support; see Room.Watch.
	Open(id room.ID, c *Conn)
	// Status returns the replica's state.
	Status() Status
	// Spawn runs f in the background; false when the hub has ended.
	Spawn(f func(context.Context)) bool
	// Failed counts a call that the store did not answer. It is made again.
	Failed(ctx context.Context, what string, id room.ID, err error)
}

// Status is the state of a replica.
type Status struct {
	Sockets, Rooms  int
	Stale, Draining bool // no probe of the subscription came back lately; the replica drains
}

// Metrics are the desk's metrics.
type Metrics struct {
	Sockets                       prometheus.Gauge
	Resyncs, Changes, ChangeBytes prometheus.Counter
}

// Settings are what the program sets for a desk. Every field has a default.
type Settings struct {
	Panels Panels             // nil: no messages, incidents and minutes
	Rooms  func(room.ID) bool // whether a room is one of this server's; nil: every room is
	Named  []room.ID          // rooms that are listed also while unused
	Name   string             // of this replica; default: the host's name
	Behind func() bool        // whether the ledger is behind; nil: it never is
	// names of the settings that differ from another replica's, with commas; nil: none ever does
	Differing func() string
	Recheck   time.Duration // how often sign-ins are checked; default 20 s
}

func (s Settings) withDefaults() Settings {
	if s.Rooms == nil {
		s.Rooms = func(room.ID) bool { return true }
	}
	if s.Name == "" {
		s.Name, _ = os.Hostname() // "" where it has none
	}
	if s.Behind == nil {
		s.Behind = func() bool { return false }
	}
	if s.Differing == nil {
		s.Differing = func() string { return "" }
	}
	s.Recheck = cmp.Or(s.Recheck, 20*time.Second)
	return s
}

// Config configures a Desk.
type Config struct {
	Settings
	Host   Host
	Engine Engine
	Redis  redis.UniversalClient
	Sub    *follow.Subscription
	Clock  *storeclock.Clock
	Log    *slog.Logger

	Own func(*http.Request) bool // whether a page of the server's own opens the socket

	Linger      time.Duration // how long the overview is followed without watchers
	Probe       time.Duration // how often replicas announce themselves
	WriteBuffer int           // a seller's socket's, bytes

	Metrics Metrics
}

// Desk holds the sockets of support on one replica.
type Desk struct {
	Config
	names    room.Names
	sockets  sockets
	overview *overview
	replicas *replicas

	signedOut string // channel: the key of a sign-in that ended
	announced string // channel: how a replica is; only replicas with watchers listen
}

// New returns a desk; Run has to be started.
func New(c Config) *Desk {
	c.Settings = c.withDefaults()
	names := c.Engine.Names()
	d := &Desk{Config: c, names: names, signedOut: names.Channel("{waitroom}:signed-out"),
		announced: names.Channel("{waitroom}:replicas")}
	d.sockets.d = d
	d.overview, d.replicas = newOverview(d), newReplicas(d)
	c.Sub.Channels.Add(d.signedOut)
	return d
}

// Run sends heartbeats and checks sign-ins until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	d.Host.Spawn(d.sockets.askAgain)
	d.sockets.run(ctx)
}

// Serve turns a request into a socket of support and returns: of one room, or of all rooms if id is "". A
// page of another origin than the server's own is refused, a program is not.
func (d *Desk) Serve(w http.ResponseWriter, r *http.Request, id room.ID, who Watcher) error {
	c := &Conn{d: d, who: who, next: unopened}
	allowed := d.Own
	if who.Program {
		allowed = nil
	}
	if ok, err := d.Host.Accept(w, r, allowed, &c.Conn, c); !ok {
		return err
	}
	c.SetWriteBuffer(buffers * d.WriteBuffer)
	d.sockets.add(c)
	d.replicas.follow()
	if id == "" {
		d.overview.watch(c)
	} else {
		d.Host.Open(id, c)
	}
	c.run()
	// Check the sign-in again: it may have ended before the socket was in the list that a sign-out closes.
	d.Host.Spawn(func(ctx context.Context) { d.checkEach(ctx, []*Conn{c}) })
	return nil
}

// buffers is the factor by which the write buffer of a socket of support is larger than a seller's, since its
// frames are larger.
const buffers = 8

// Conns returns the sockets of support.
func (d *Desk) Conns() []*Conn { return d.sockets.list() }

// Announce publishes this replica's state.
func (d *Desk) Announce(ctx context.Context) { d.replicas.announce(ctx) }

// Confirmed handles the confirmation of a subscription, from which on no message is missed; it returns false
// if it does nothing for that channel.
func (d *Desk) Confirmed(m *redis.Subscription) bool {
	switch {
	case m.Kind == "psubscribe":
		d.overview.again()
	case m.Channel == d.signedOut:
		if m.Kind == "subscribe" {
			d.sockets.check()
		}
	default:
		return false
	}
	return true
}

// Message handles a message of a subscription; it returns false if the channel is not the desk's.
func (d *Desk) Message(m *redis.Message) bool {
	switch {
	case m.Pattern != "":
		d.overview.touch(d.names.Room(m.Channel))
	case m.Channel == d.signedOut:
		d.sockets.signOut(m.Payload)
	case m.Channel == d.announced:
		d.replicas.message(m.Payload)
	default:
		return false
	}
	return true
}
