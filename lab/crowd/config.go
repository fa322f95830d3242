package crowd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of a run: it ends by itself, and it does not take a machine's every file.
const (
	MaxPeople   = 20_000
	MaxDuration = 2 * time.Hour
	maxSettle   = 20 * time.Second
)

// Crowd is the number of sellers in a room.
type Crowd struct {
	Room   string
	People int
}

// Config describes a run: the sellers, the server and what they do.
type Config struct {
	URLs     []string // of the replicas; a session moves between them
	Rooms    []Crowd
	Duration time.Duration
	Seed     uint64
	Mix      Mix
	Arrivals float64       // sellers that come each second, until all have come
	Hold     time.Duration // how long a turn takes in the middle: half to one and a half of it
	Rest     time.Duration // from the end of a place to the next 준비 완료, likewise
	Carrier  Carrier
	Rules    Rules
	Anywhere bool // talk to more than loopback
	Stay     bool // leave the places as they are in the end, instead of giving them back

	// Every is called with the progress once a second, and not after Run has returned; nil = not called.
	Every func(Line)
}

// Carrier sends the codes that holders ask for. Without a secret no seller asks; each ends its turn itself.
type Carrier struct {
	Secret string        // as WAITROOM_SMS_WEBHOOK_SECRET has it
	Rate   float64       // messages a second at most; 0 = as they are asked for
	Number int           // messages in all; then turns end by 인증 완료; 0 = no end
	Delay  time.Duration // from asking to the message, in the middle: half to one and a half of it
}

// Mix has the percentage of sellers with each behaviour; the rest are steady.
type Mix struct {
	Impatient int // leave the line after a while
	Sleeping  int // lose their socket for a while and come back
	Reloading int // reload the page and press again
	Tabs      int // have the page open two to four times
	Forgetful int // let their lease run out
}

// ParseMix reads "impatient=5,tabs=10".
func ParseMix(text string) (m Mix, err error) {
	kinds := map[string]*int{"impatient": &m.Impatient, "sleeping": &m.Sleeping, "reloading": &m.Reloading,
		"tabs": &m.Tabs, "forgetful": &m.Forgetful}
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		name, number, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		to := kinds[name]
		if to == nil || err != nil || n < 0 {
			return Mix{}, fmt.Errorf("%q is not like impatient=5; there are %s", part,
				strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		}
		*to = n
	}
	if m.all() > 100 {
		return Mix{}, fmt.Errorf("mix %q is more than a hundred", text)
	}
	return m, nil
}

func (m Mix) all() int { return m.Impatient + m.Sleeping + m.Reloading + m.Tabs + m.Forgetful }

// ParseRooms reads "integration=90,coupang=10".
func ParseRooms(text string) (rooms []Crowd, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		if name == "" || err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not like integration=100", part)
		}
		rooms = append(rooms, Crowd{name, n})
	}
	return rooms, nil
}

// finish checks the configuration and fills in defaults.
func (c *Config) finish() (err error) {
	if len(c.URLs) == 0 || len(c.Rooms) == 0 {
		return errors.New("the crowd needs a URL and a room to go to")
	}
	c.URLs = slices.Clone(c.URLs)
	for i := range c.URLs {
		if c.URLs[i], err = parseBase(c.URLs[i]); err != nil {
			return err
		}
	}
	people := 0
	for i, r := range c.Rooms {
		if slices.ContainsFunc(c.Rooms[:i], func(other Crowd) bool { return other.Room == r.Room }) {
			return fmt.Errorf("room %s is named twice", r.Room)
		}
		people += r.People
	}
	if people < 1 || people > MaxPeople {
		return fmt.Errorf("%d people: want 1 to %d", people, MaxPeople)
	}
	if c.Duration <= 0 || c.Duration > MaxDuration {
		return fmt.Errorf("duration %s: want up to %s", c.Duration, MaxDuration)
	}
	if c.Mix.all() > 100 {
		return errors.New("the mix is more than a hundred")
	}
	c.Arrivals = cmp.Or(c.Arrivals, 500)
	c.Hold = cmp.Or(c.Hold, time.Second)
	c.Rest = cmp.Or(c.Rest, 2*time.Second)
	if c.Rules.Settle == 0 && c.Mix.Sleeping > 0 { // who sleeps is in line or not: wait until it says
		c.Rules.Settle = min(c.longestNap()+time.Second, maxSettle)
	}
	c.Carrier.Delay = cmp.Or(c.Carrier.Delay, c.Hold/2)
	return nil
}

// nap is how long, on average, a sleeping seller has no socket.
func (c *Config) nap() time.Duration        { return 10 * c.Hold }
func (c *Config) longestNap() time.Duration { return c.nap() * 3 / 2 }
