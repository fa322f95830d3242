package server

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/quota"
)

// quota is the limit of joins for each client address.
func (s *Server) quota() *quota.Quota {
	return quota.New(quota.Config{Redis: s.store.Client, Names: s.engine.Names(), Rooms: s.engine,
		Rate: s.cfg.RateLimit, Places: s.cfg.PlacesPerIP, Key: s.cfg.addressKey()})
}

// addressKey makes client addresses unreadable in the store. All replicas have it: it is made of the one
// secret that they share, of those in a list the last, which is there before and while a new one comes.
// Without one, a list of all addresses would make them readable.
func (c Config) addressKey() []byte {
	secrets := strings.Split(string(c.SMSWebhookSecret), ",")
	key := sha256.Sum256([]byte("waitroom addresses " + strings.TrimSpace(secrets[len(secrets)-1])))
	return key[:]
}

// hosts are the names that the server answers to. A store in the process is for this machine's browsers.
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
