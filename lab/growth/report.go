package main

import (
	"fmt"
	"math"
	"os"
	"strings"
)

const (
	beginMark = "<!-- tables: begin, written by make growth -->\n"
	endMark   = "<!-- tables: end -->\n"
)

// put replaces this program's part of a file.
func put(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), beginMark)
	_, after, closed := strings.Cut(rest, endMark)
	if !found || !closed {
		return fmt.Errorf("%s has no place for tables", path)
	}
	return os.WriteFile(path, []byte(before+beginMark+text+endMark+after), 0o644)
}

// report returns this program's part of the page. It depends only on the constants.
func report(c constants, all []played) string {
	n := c.numbers()
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "\n### %s\n\n%s", title, text) }
	section("In short", short(n))
	section("What one of each carries", carries(n))
	section("What gives first, in one deployment", firstToGive(n))
	section("The same, if idleness cost nothing", firstToGive(n.busyOnly()))
	section("One hot room", hotRoom(n))
	section("How many of each, and what a month costs", estates(n, false))
	section("The same, if idleness cost nothing, everybody of a room being sent to one replica",
		estates(n.busyOnly(), true))
	section("The arithmetic against what was played", comparisons(all))
	section("The constants", c.table())
	b.WriteString("\n")
	return b.String()
}

// busyOnly returns the constants without the cost of idle sellers and rooms.
func (n numbers) busyOnly() numbers {
	n.redisIdleWaiter, n.redisIdleRoom, n.redisIdleIndex, n.replicaIdleWaiter, n.replicaIdleRoom = 0, 0, 0, 0, 0
	return n
}

// short returns the most important results in words.
func short(n numbers) string {
	w := world{sellers: 1e4, rooms: 1e3}
	d := sound.size(w, n)
	idle := (w.sellers*n.redisIdleWaiter + w.rooms*n.redisIdleRoom) / second / n.redisFull
	busy := n.busyOnly()
	verdict := "What gives first is what sellers do."
	if idle > 0.5*d.redis/n.redisFull {
		verdict = "**What gives first is idleness.**"
	}
	return fmt.Sprintf(`- Of what one Redis may carry, 10,000 waiting sellers in 1,000 rooms take %s; %s of it for those to whom nothing happens. Without that it would be %s.
- One Redis is full at %s connected waiters or %s rooms (a holder, a waiter) to which nothing happens. %s
- One room is full at about %s waiting sellers; if idleness cost nothing, at %s.
`, percent(d.redis/n.redisFull), percent(idle), percent(sound.size(w, busy).redis/n.redisFull), perCore(n.redisFull, n.redisIdleWaiter), perCore(n.redisFull, n.redisIdleRoom+n.redisIdleWaiter), verdict,
		number(fullRoom(n)), number(fullRoom(busy)))
}

// fullRoom returns how many sellers may wait in one room.
func fullRoom(n numbers) float64 {
	low, high := 1.0, 1e9
	for high/low > 1.001 {
		middle := math.Sqrt(low * high)
		if sound.size(world{sellers: middle, rooms: 1}, n).stands() {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// perCore returns how many of something fill a core up to the planned load.
func perCore(full, each float64) string {
	if each == 0 {
		return "any number of"
	}
	return number(full * second / each)
}

func carries(n numbers) string {
	t := newTable("", "at the most", "because of")
	redis, replica := fmt.Sprintf("a core of Redis filled to %s", percent(n.redisFull)),
		fmt.Sprintf("a core of a replica filled to %s", percent(n.replicaFull))
	t.row("one Redis: connected waiters to whom nothing happens", perCore(n.redisFull, n.redisIdleWaiter), redis)
	t.row("one Redis: rooms in which nothing happens (a holder, a waiter)",
		perCore(n.redisFull, n.redisIdleRoom+n.redisIdleWaiter), redis)
	t.row("one Redis: who joins and gives up, a second", perCore(n.redisFull, n.redisJoin+n.redisLeave), redis)
	t.row("one Redis: who joins, has a turn with a code and is done, a second",
		perCore(n.redisFull, n.redisJoin+n.redisHandoff+n.redisCode), redis)
	t.row("one Redis: events handed to replicas, a second", perCore(n.redisFull, n.redisDeliver), redis)
	t.row("one deployment: rooms, by the one slot of their index", perCore(n.redisFull, n.redisIdleIndex), redis)
	t.row("one deployment: replicas", number(n.redisClients/n.replicaConnections),
		"connections that one Redis takes, if each replica needs all of its own")
	t.row("one replica: states told, a second", perCore(n.replicaFull, n.replicaFrame), replica)
	t.row("one replica: sockets opened, a second", perCore(n.replicaFull, n.replicaReconnect), replica)
	t.row("one replica: sockets", number(n.replicaSockets),
		fmt.Sprintf("open files; %s GiB of memory",
			number((n.replicaSockets*n.replicaSocketKiB/1024+n.replicaBaseMiB)/1024)))
	t.row("one core of PostgreSQL: turns with a code, a second",
		perCore(n.dbFull, n.dbJoin+n.dbHandoff+n.dbCode),
		fmt.Sprintf("a core filled to %s, each written by itself", percent(n.dbFull)))
	return t.String()
}

var (
	manySellers = []float64{1e4, 1e6, 1e8}
	manyRooms   = []float64{1, 1e3, 1e6}
)

// everyWorld calls do for all worlds of the page.
func everyWorld(do func(name string, w world)) {
	for _, sellers := range manySellers {
		for _, rooms := range manyRooms {
			do(fmt.Sprintf("%s in %s", whole(sellers), whole(rooms)), world{sellers: sellers, rooms: rooms})
		}
	}
}

func firstToGive(n numbers) string {
	t := newTable("waiting sellers in rooms", "one Redis would be full to", "masters", "replicas",
		"cores of PostgreSQL", "then first to give", "used")
	everyWorld(func(name string, w world) {
		d := sound.size(w, n)
		if d.replicas > noEnd { // each that is added has to follow the room, too
			t.row(name, "–", "–", "–", number(d.ledger), "no number of replicas is enough", "–")
			return
		}
		masters := whole(d.masters)
		if d.masters > 10*n.clusterMasters {
			masters = "–"
		}
		t.row(name, filled(d.redis/n.redisFull), masters, whole(d.replicas), number(d.ledger), d.gives().name,
			filled(d.gives().used))
	})
	return t.String()
}

// filled formats a share of a limit.
func filled(part float64) string {
	if part > 1 {
		return "**" + number(part) + " ×**"
	}
	return percent(part)
}

func hotRoom(n numbers) string {
	t := newTable("waiting in one room", "changes/s", "frames/s", "Mbit/s", "replicas", "cores of replicas",
		"of the one core of Redis", "mirror in each replica", "who ever gets the lock",
		"the last one's wait, if nobody left")
	for _, sellers := range []float64{100, 1e3, 1e4, 1e5, 1e6} {
		d := sound.size(world{sellers: sellers, rooms: 1}, n)
		const headers = 70 // TCP and IP, and those of the frame
		t.row(whole(sellers), number(d.joins+d.leaves+d.turns), number(d.frames),
			number(d.frames*(n.frameBytes+headers)*8/1e6), whole(d.replicas), number(d.replica),
			filled(d.redis), number(sellers*n.replicaTicketBytes/mib)+" MiB", number(100*d.turns/d.joins)+" %",
			span(sellers*n.hold))
	}
	return t.String()
}

func estates(n numbers, routed bool) string {
	t := newTable("waiting sellers in rooms", "deployments", "each: replicas", "masters", "cores of PostgreSQL",
		"all: cores", "GiB of memory", "core-hours a month", "GiB of disk more each month")
	everyWorld(func(name string, w world) {
		w.routed = routed
		e, ok := sound.divide(w, n)
		if !ok {
			t.row(name, "**none carries it**", "", "", "", "", "", "", "")
			return
		}
		t.row(name, whole(e.cells), whole(e.replicas), whole(e.masters), whole(max(e.dbCores, 1)), whole(e.cores()),
			number(e.memory(n)),
			number(e.cores()*month/3600), number(e.cells*e.diskGiB))
	})
	return t.String()
}

func comparisons(all []played) string {
	t := &table{}
	head := []string{"a second"}
	for _, p := range all {
		name := fmt.Sprintf("%s in %s, %s replicas", whole(p.sellers), whole(p.rooms), whole(p.replicas))
		if p.routed {
			name += ", rooms sent to one"
		}
		head = append(head, name, "formula")
	}
	t = newTable(head...)
	for i, c := range all[0].list {
		cells := []string{c.name}
		for _, p := range all {
			formula := number(p.list[i].formula)
			if !p.list[i].agrees {
				formula = "**" + formula + "**"
			}
			cells = append(cells, number(p.list[i].played), formula)
		}
		t.row(cells...)
	}
	return t.String()
}

func (c constants) table() string {
	t := &table{}
	fmt.Fprintf(t, "Measured on: %s.\n\n", c.Machine)
	t.WriteString("| constant | value | unit | kind | what | measured by |\n|---|--:|---|---|---|---|\n")
	for _, k := range c.List {
		command := k.Command
		if command != "" {
			command = "`" + command + "`"
		}
		t.row("`"+k.Name+"`", number(k.Value), k.Unit, k.Kind, k.What, command)
	}
	return t.String()
}
