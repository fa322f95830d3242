package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/quota"
)

// placesInRoom is the most places of one client address in one room: an address with all its places in one
// line would make a newcomer wait for hours.
const placesInRoom = 20

// quota returns the limit of joins per client address.
func (s *Server) quota() *quota.Quota {
	named := make(map[room.ID]bool)
	for _, id := range s.cfg.Rooms.Names() {
		named[id] = true
	}
	return quota.New(quota.Config{Prefixed: func(id room.ID) bool { return !named[id] },
		Redis: s.store.Client, Names: s.engine.Names(), Rooms: s.engine,
		Rate: s.cfg.RateLimit, Places: s.cfg.PlacesPerIP, OfRoom: placesInRoom, Key: s.cfg.addressKey()})
}

// addressKey returns the key with which client addresses are hashed before they are stored. All replicas
// derive it from a shared secret; from a list they take the last one, which stays the same during a rotation.
// Without a key, hashing all addresses would reverse the digests.
func (c Config) addressKey() []byte {
	secrets := strings.Split(string(c.SMSWebhookSecret), ",")
	key := sha256.Sum256([]byte("waitroom addresses " + strings.TrimSpace(secrets[len(secrets)-1])))
	return key[:]
}

// addressMarks returns the digests of client addresses by which support finds the places of one address in
// a room. Another room and another day (UTC) have others, so that they follow no person. Without a shared
// secret a replica has a key of its own: support could otherwise compute the digests of all addresses.
func (c Config) addressMarks() func(netip.Addr, room.ID) string {
	key := c.addressKey()
	if c.SMSWebhookSecret == "" {
		key = []byte(rand.Text())
	}
	return func(from netip.Addr, id room.ID) string {
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "waitroom desk %s %s %s", time.Now().UTC().Format(time.DateOnly), id, from)
		return hex.EncodeToString(mac.Sum(nil)[:5])
	}
}

// hosts returns the names that the server answers to. With embedded Redis, those are this machine's.
func (c Config) hosts() (web.Hosts, error) {
	switch {
	case c.PublicURL != "":
		hosts, err := web.HostOf(c.PublicURL)
		if err != nil {
			return web.Hosts{}, fmt.Errorf("%s: %w", called("public-url"), err)
		}
		return hosts, nil
	case c.Redis.Embedded():
		return web.Loopback(), nil
	}
	return web.Hosts{}, nil
}
