package faults

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var broken = flag.String("faults.broken", "",
	"invariants to break in the product, with commas between, or all: each must be caught")

// breakage is a change of some lines of the product that breaks one rule. Go builds it by an overlay, so the
// checkout stays as it is.
type breakage struct {
	kind  string // of the violation that must be found
	how   string
	plan  Plan
	edits []edit
}

type edit struct{ file, from, to string }

func breakages() []breakage {
	lua := func(file, from, to string) edit { return edit{"room/lua/" + file, from, to} }
	return []breakage{
		{TwoHolders, "every fifth ticket is granted a lock that is held", Calm(), []edit{
			lua("verb/join.lua", "if leases.held() or room.paused then",
				"if (leases.held() and room.tickets % 5 ~= 0) or room.paused then")}},
		{ClaimIgnored, "a claim counts for nothing", only("claims"), []edit{
			lua("presence.lua", "room.claim_by, room.rank_until_claimed, change.codes = 0, nil, true",
				"change.codes = true")}},
		{HeldTooLong, "a lease ends 1.5 s late", Calm(), []edit{
			lua("advance.lua", "if NOW >= room.expires then", "if NOW >= room.expires + 1500 then"),
			lua("advance.lua", "elseif not memo.lock_exists and not change.lease then", "elseif false then")}},
		{EndTooFar, "leases are shown to end six seconds later", Calm(), []edit{
			lua("leases.lua", "room.expires = NOW + (p.lease > 0 and p.lease or settings.lease)",
				"room.expires = NOW + (p.lease > 0 and p.lease or settings.lease) + 6000")}},
		{TimeOff, "frames name a time that is five seconds ahead", Calm(), []edit{
			{"hub/frame.go", "b = strconv.AppendInt(b, now, 10)", "b = strconv.AppendInt(b, now+5000, 10)"}}},
		{NoService, "from the thirtieth ticket on every join fails", Calm(), []edit{
			lua("verb/join.lua", "function verb.join()\n",
				"function verb.join()\n  if room.tickets >= 30 then error('broken') end\n")}},
		{Stuck, "for five of every eight seconds no lease is granted", Calm(), []edit{
			lua("verb/join.lua", "if leases.held() or room.paused then",
				"if leases.held() or room.paused or NOW % 8000 < 5000 then"),
			lua("advance.lua", "  if not leases.held() and not room.paused and line.length() > 0 then",
				"  if not leases.held() and not room.paused and line.length() > 0 and NOW % 8000 >= 5000 then")}},
		{Overtaken, "the last in line is granted", Calm(), []edit{
			lua("line.lua", "command('ZRANGE', QUEUE, int(from), int(from + step - 1), 'WITHSCORES')",
				"command('ZREVRANGE', QUEUE, from, from + step - 1, 'WITHSCORES')")}},
		{FenceBack, "every fourth fence is five seconds old", Calm(), []edit{
			lua("leases.lua", "max(US, room.fence + 1, room.highest_fence + 1), 0",
				"room.tickets % 4 == 0 and US - 5000000 or max(US, room.fence + 1), 0")}},
		{TicketReused, "every sixth ticket is given out twice", Calm(), []edit{
			lua("places.lua", "room.tickets = room.tickets + 1",
				"room.tickets = NOW % 6 == 0 and room.tickets or room.tickets + 1")}},
		{TicketBack, "tickets go back by three now and then", Calm(), []edit{
			lua("places.lua", "room.tickets = room.tickets + 1",
				"room.tickets = room.tickets % 7 == 6 and NOW % 2 == 0 and room.tickets - 3 or room.tickets + 1")}},
		{SamePosition, "the second in line is shown as the first", Calm(), []edit{
			lua("reply.lua", "command('ZRANK', QUEUE, session) + 1",
				"max(1, command('ZRANK', QUEUE, session))")}},
		{TwoPlaces, "pressing again gives a new place", Calm(), []edit{
			lua("verb/join.lua", "if mine and mine.live then", "if mine and mine.live and NOW % 2 == 0 then"),
			lua("verb/join.lua", "not take_seller(refused) then", "not take_seller(refused) and false then")}},
		{TwoOutcomes, "a question how a place ended gets another outcome", Calm(), []edit{
			lua("reply.lua", "return ended(p, p.outcome, p.fence)",
				"return ended(p, NOW % 2 == 0 and 'removed' or p.outcome, p.fence)")}},
		{BackFromEnd, "a place that has ended is shown as waiting", Calm(), []edit{
			lua("reply.lua", "  if not p.live then",
				"  if not p.live and p.ticket % 4 == 0 then\n    p.status, p.outcome, p.position, p.rank = 'waiting', "+
					"'', 1, '1'\n    return wire.place(p)\n  end\n  if not p.live then")}},
		{Vanished, "every fifth waiter's place is forgotten", Calm(), []edit{
			lua("verb/join.lua", "if leases.held() or room.paused then",
				"if leases.held() and room.tickets % 5 == 0 then places.forget(args.session) elseif "+
					"leases.held() or room.paused then")}},
		{LostUnasked, "a new epoch begins for no reason", Calm(), []edit{
			lua("advance.lua", "function advance()\n",
				"function advance()\n  if room.epoch > 0 and room.version > 20 and NOW % 50 == 0 and not change.any "+
					"then\n    room.epoch, room.version, change.any, change.lease = US, 0, true, true\n  end\n")}},
		{VersionBack, "frames name an older version now and then", Calm(), []edit{
			{"hub/frame.go", "`,\"version\":`, m.Version)", "`,\"version\":`, m.Version-m.Version%5/4*3)"}}},
		{SocketBehind, "the socket of every third place gets nothing once it is open", Calm(), []edit{
			{"hub/writer.go", "	if st.Status == room.Locked {\n",
				"	if c.opened && st.Ticket%3 == 0 {\n		return buf, t, false\n	}\n	if st.Status == room.Locked {\n"}}},
		{WrongCode, "a message is shown to the first in line", Calm(), []edit{
			lua("verb/match.lua", "session = l and l.session or '', fence",
				"session = l and (command('ZRANGE', QUEUE, 0, 0)[1] or l.session) or '', fence"),
			lua("verb/look.lua", "return (m.result == 'late' or m.fence == fence or m.ticket == ticket) and 'm'",
				"return 'm'")}},
		{CodeUnseen, "every third ticket is not shown its code", Calm(), []edit{
			lua("verb/look.lua", "  if not p then return {} end",
				"  if not p or p.ticket % 3 == 0 then return {} end")}},
		{CodeLeaked, "an answered message's body is logged", Calm(), []edit{
			{"sms/service.go", `"message answered", "room", id, "message", m.id,`,
				`"message answered", "room", id, "message", string(body),`}}},
		{LedgerMissing, "the ledger skips every seventh ticket", Calm(), []edit{
			{"ledger/drain_order.go", "		for n, r := range e.Records {\n",
				"		for n, r := range e.Records {\n			if r.Ticket%7 == 3 {\n				continue\n			}\n"}}},
		{LedgerOverlap, "leases begin earlier in the ledger", Calm(), []edit{
			{"ledger/drain_lease.go", "new(r.GrantedAt), new(r.ExpiresAt), true",
				"new(r.GrantedAt-700), new(r.ExpiresAt), true"}}},
		{LedgerOutcomes, "the ledger does not close every fifth place", Calm(), []edit{
			{"ledger/drain_record.go", "func (r *run) ended(n record) error {\n",
				"func (r *run) ended(n record) error {\n	if n.Ticket%5 == 0 {\n		return nil\n	}\n"}}},
		{LedgerGap, "every ninth ticket is left out", Calm(), []edit{
			lua("places.lua", "room.tickets = room.tickets + 1",
				"room.tickets = room.tickets + (room.tickets % 9 == 8 and 2 or 1)")}},
		{Miscounted, "no replica counts the end of every fifth place", Calm(), []edit{
			{"ledger/drain_record.go", "r.batch.places[placeKey{n.epoch, n.Ticket}].end(n.Record) {",
				"r.batch.places[placeKey{n.epoch, n.Ticket}].end(n.Record) && n.Ticket%5 != 0 {"}}},
		{WebhookMissing, "the integration gets nothing of every seventh ticket", Calm(), []edit{
			{"ledger/drain_webhook.go", "	if !w.webhooks {", "	if !w.webhooks || e.Ticket%7 == 3 {"}}},
		{WebhookTwice, "every seventh ticket's events are put in twice", Calm(), []edit{
			{"ledger/drain_webhook.go", "	return nil\n}\n\n// enqueue",
				"	if again := w.tasks[len(w.tasks)-1]; e.Ticket%7 == 3 {\n		again.UID += \"-2\"\n		w.tasks = " +
					"append(w.tasks, again)\n	}\n	return nil\n}\n\n// enqueue"}}},
		{WebhookOrder, "the webhook of a lease's end waits for no earlier one", Calm(), []edit{
			{"ledger/drain_webhook.go", "strconv.FormatInt(e.Fence, 10)\n	}\n	about :=",
				"strconv.FormatInt(e.Fence, 10) + string(e.Outcome)\n	}\n	about :="}}},
		{IndexLost, "no replica sees that the index has another generation", only("index-lost"), []edit{
			{"room/rebuild.go", "if l.busy || (!another && found.whole) {",
				"if l.busy || l.generation != \"\" || !another && found.whole {"}}},
		{GhostGranted, "no seller is ever away", only("half-open"), []edit{
			lua("line.lua", "if not gone or not presence.mark_away(session, until_ms) then", "if true then"),
			lua("presence.lua", "if memo.presence_checked or NOW < room.presence_trusted_from or line.length() == "+
				"0 then return end", "if true then return end")}},
		{RequestDropped, "SIGTERM is not listened to", only("rolling-restart"), []edit{
			{"cmd/waitroom/main.go", "os.Interrupt, syscall.SIGTERM}", "os.Interrupt, syscall.SIGHUP}"}}},
		{SellersNoticed, "a ledger that is behind makes a replica not ready", only("database"), []edit{
			{"server/server.go", "ask: s.recorded, soft: true}", "ask: s.recorded}"}}},
	}
}

// only returns one of the plans.
func only(name string) Plan {
	for _, p := range Plans() {
		if p.Name == name {
			return p
		}
	}
	return Plan{}
}

// TestEveryInvariantIsCaughtWhenTheProductBreaksIt runs plans on programs that break one rule each.
func TestEveryInvariantIsCaughtWhenTheProductBreaksIt(t *testing.T) {
	if *broken == "" {
		t.Skip("takes minutes: make faults-check")
	}
	for _, b := range breakages() {
		if *broken != "all" && !strings.Contains(","+*broken+",", ","+b.kind+",") {
			continue
		}
		t.Run(b.kind, func(t *testing.T) {
			dir := t.TempDir()
			program, err := build(dir, "-overlay", b.overlay(t, dir))
			require.NoError(t, err)
			result, err := Play(t.Context(), t, b.plan, *seed, program, dir)
			kinds := map[string]int{}
			for _, v := range result.Violations {
				kinds[v.Kind]++
				if v.Kind != b.kind {
					t.Log(v)
				}
			}
			t.Logf("%s: %s: found %v (%v)", b.kind, b.how, kinds, err)
			require.Contains(t, kinds, b.kind, b.how)
		})
	}
}

// If a change did not fit the source any more, make faults-check would find out only much later.
func TestEveryBreakageStillFitsTheProduct(t *testing.T) {
	for _, b := range breakages() {
		b.overlay(t, t.TempDir())
	}
}

// A check that has never failed may check nothing.
func TestEveryKindHasABreakageThatIsReported(t *testing.T) {
	broken := map[string]bool{}
	for _, b := range breakages() {
		broken[b.kind] = true
	}
	page, err := os.ReadFile("../../docs/guarantees.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "## How each rule was seen to fail")
	kinds := kindsOf(t, "check.go")
	require.Contains(t, kinds, TwoHolders)
	for _, kind := range kinds {
		require.True(t, broken[kind], "nothing breaks %s: add it to breakages", kind)
		require.True(t, strings.Contains(table, "`"+kind+"`"), "docs/guarantees.md does not say how %s was broken",
			kind)
	}
}

// kindsOf returns the string constants of a file.
func kindsOf(t *testing.T, file string) (kinds []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if text, ok := spec.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
			kind, err := strconv.Unquote(text.Value)
			require.NoError(t, err)
			kinds = append(kinds, kind)
		}
		return true
	})
	return kinds
}

// overlay writes the changed files, and the list for go build -overlay.
func (b breakage) overlay(t *testing.T, dir string) string {
	changed := map[string][]byte{}
	for _, e := range b.edits {
		text := changed[e.file]
		if text == nil {
			var err error
			text, err = os.ReadFile(filepath.Join("../..", e.file))
			require.NoError(t, err)
		}
		require.Equal(t, 1, bytes.Count(text, []byte(e.from)), "%s: %s has changed: it is to have once %q", b.kind,
			e.file, e.from)
		changed[e.file] = bytes.Replace(text, []byte(e.from), []byte(e.to), 1)
	}
	replace := map[string]string{}
	for file, text := range changed {
		from, err := filepath.Abs(filepath.Join("../..", file))
		require.NoError(t, err)
		replace[from] = filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		require.NoError(t, os.WriteFile(replace[from], text, 0o600))
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	at := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(at, list, 0o600))
	return at
}
