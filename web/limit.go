package web

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// Rate is how often one client address may join. The zero value does not limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// burstSeconds is how many seconds' worth may come at once.
const burstSeconds = 10

// ParseRate reads "100/s" or "30/m"; "0" is no limit. Ten seconds' worth may come at once.
func ParseRate(text string) (Rate, error) {
	if text == "0" {
		return Rate{}, nil
	}
	number, unit, ok := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(n > 0 && n <= 1e6) {
		return Rate{}, fmt.Errorf("rate %q is not like 100/s or 30/m", text)
	}
	switch unit {
	case "s":
	case "m":
		n /= 60
	default:
		return Rate{}, fmt.Errorf("rate %q is neither per second (/s) nor per minute (/m)", text)
	}
	return Rate{PerSecond: n, Burst: max(int(n*burstSeconds), 1)}, nil
}

// remembered is how many client addresses are told apart; beyond that, who was longest away starts anew.
const remembered = 1 << 16

type limiter struct {
	rate    Rate
	clients *lru.Cache[netip.Addr, *rate.Limiter]
}

// newLimiter returns nil where nothing is limited.
func newLimiter(r Rate) *limiter {
	if r.PerSecond == 0 {
		return nil
	}
	clients, err := lru.New[netip.Addr, *rate.Limiter](remembered)
	if err != nil { // only for a size below 1
		panic(err)
	}
	return &limiter{rate: r, clients: clients}
}

// after is how long the client has to wait; 0 lets it in and counts it.
func (l *limiter) after(client netip.Addr) time.Duration {
	fresh := rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
	if known, ok, _ := l.clients.PeekOrAdd(client, fresh); ok {
		fresh = known
		l.clients.Get(client)
	}
	r := fresh.Reserve()
	wait := r.Delay()
	if wait > 0 {
		r.Cancel()
	}
	return wait
}

// limit holds back who joins too often.
func (s *site) limit(c *gin.Context) {
	if s.joins == nil {
		return
	}
	if wait := s.joins.after(network(c.ClientIP())); wait > 0 {
		c.Header("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		s.refuse(c, "too_many_requests")
	}
}

// network is who counts as one client: an IPv4 address, or the /64 that one IPv6 subscriber has.
func network(ip string) netip.Addr {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return netip.Addr{}
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		return netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	return addr
}
