package ledger_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestAnIncidentThatARoomSawIsReportedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		seen := room.Record{Type: "incident", At: 7, Action: "carrier_clock", Reason: "sent 90 s ahead",
			MessageNote: room.MessageNote{MessageID: "m"}}
		b.write(1, seen)
		b.write(1, seen)
		b.write(1, room.Record{Type: "incident", At: 8}) // without a kind
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"carrier_clock m sent 90 s ahead 7"}, column(t, l.DB(),
			`SELECT kind || ' ' || subject || ' ' || detail || ' ' || at FROM incidents`))
		require.Equal(t, []string{`{"room":"integration","message_id":"m","kind":"carrier_clock","detail":"sent 90 s ahead"}`}, dataOf(t, l, "incident"))
		require.Equal(t, 1, strings.Count(b.log.String(), "ledger incident"))
		require.Equal(t, 3, count(t, l, "timeline WHERE kind = 'incident'"), "as often as it was journalled")
		require.Equal(t, 1, count(t, l, "parked"))
	})
}

// A message that waitroom refuses unread has no id, and a source whose clock is off is no message.
func TestAnIncidentAboutNoMessageHasNoMessageID(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		for _, subject := range []string{"bad_signature/1", "bad_signature/1", "bad_signature/2"} {
			b.write(1, room.Record{Type: "incident", At: 7, Action: "message_refused", Who: subject})
		}
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"bad_signature/1", "bad_signature/2"}, column(t, l.DB(),
			`SELECT subject FROM incidents ORDER BY subject`))
		const sent = `{"room":"integration","kind":"message_refused"}`
		require.Equal(t, []string{sent, sent}, dataOf(t, l, "incident"))
		require.Equal(t, 2, count(t, l, "(SELECT DISTINCT task_key FROM outbox_tasks) AS keys"),
			"none waits for another")
	})
}

func TestAnIdThatComesWithAnotherMessageIsAnIncidentOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		receive := func(fingerprint, text string) *room.Match {
			t.Helper()
			known, err := l.Receive(t.Context(), here,
				room.MessageNote{MessageID: "m", From: "1588", Text: text, Received: 5, Fingerprint: fingerprint})
			require.NoError(t, err)
			return known
		}
		receive("k1:aa", "the first")
		for _, same := range []string{"k1:aa", "", "k2:bb", "bb"} { // the same, none, by another key, of no key
			receive(same, "again")
		}
		require.Zero(t, count(t, l, "incidents"))
		for range 2 {
			receive("k1:bb", "another")
			require.Equal(t, []string{"message_id_reused m"}, column(t, l.DB(), `SELECT kind || ' ' || subject
				FROM incidents`))
		}
		b.write(1, room.Record{Type: "incident", At: 7, Action: "message_id_reused",
			MessageNote: room.MessageNote{MessageID: "m"}})
		again := unmatched("m", 9, room.NoLease)
		again.Fingerprint = "k1:cc"
		b.write(1, again)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"message_id_reused m"}, column(t, l.DB(), `SELECT kind || ' ' || subject
			FROM incidents`))
		require.Equal(t, 1, count(t, l, "outbox_tasks WHERE payload LIKE '{\"type\":\"incident\"%'"))
		require.Equal(t, []string{"the first k1:aa"}, column(t, l.DB(), `SELECT body || ' ' || fingerprint
			FROM messages`))
		require.Equal(t, room.NoLease, receive("k1:dd", "another").Reason, "the first answer stays")
	})
}

// A match waits for the ledger for half a second only. By then the answer to the earlier message is known,
// and no other call would record the reuse.
func TestAnIdThatComesAgainIsRecordedAlsoWhereThatTakesLong(t *testing.T) {
	b := onPostgres(t)
	l := b.open(t)
	first := room.MessageNote{MessageID: "m", From: "1588", Text: "the first", Received: 5, Fingerprint: "k1:aa"}
	_, err := l.Receive(t.Context(), here, first)
	require.NoError(t, err)
	release := hold(t, b.open(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	second, received := first, make(chan error, 1)
	second.Text, second.Fingerprint = "another", "k1:bb"
	go func() {
		_, err := l.Receive(ctx, here, second)
		received <- err
	}()
	wait(t, func() bool {
		return count(t, l, "pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'") == 1
	})
	cancel() // as its time would end
	release()
	require.NoError(t, <-received)
	require.Equal(t, []string{"message_id_reused m"}, column(t, l.DB(), `SELECT kind || ' ' || subject
		FROM incidents`))
}

// If the incident cannot be recorded, the store gives the earlier answer and journals the incident, as long
// as it remembers the message.
func TestARepeatedMessageIDIsDecidedByTheStoreWhereTheIncidentIsNotRecorded(t *testing.T) {
	b := newBench("sqlite:" + filepath.Join(t.TempDir(), "waitroom.db"))
	l := b.open(t)
	reported, unreported := unmatched("told", 5, room.NoLease), unmatched("untold", 5, room.NoLease)
	reported.Fingerprint, unreported.Fingerprint = "k1:aa", "k1:aa"
	b.write(1, reported)
	require.NoError(t, l.Drain(t.Context(), here))
	_, err := l.Receive(t.Context(), here, unreported.MessageNote)
	require.NoError(t, err)
	_, err = l.DB().Exec(`CREATE TRIGGER fails BEFORE INSERT ON incidents BEGIN
		SELECT RAISE(ABORT, 'the disk is full'); END`)
	require.NoError(t, err)
	again := func(r room.Record, received int64) (*room.Match, error) {
		note := r.MessageNote
		note.Text, note.Fingerprint, note.Received = "another", "k1:bb", received
		return l.Receive(t.Context(), here, note)
	}
	_, err = again(reported, 24*time.Hour.Milliseconds())
	require.ErrorContains(t, err, "the disk is full")
	before, err := again(unreported, 6)
	require.NoError(t, err)
	require.EqualValues(t, 5, before.At, "the store was not asked yet")
}

// Some phones count their messages from 1 again.
func TestAnIdThatIsUsedAgainADayLaterIsAnotherMessages(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		receive := func(fingerprint string, at int64) (*room.Match, error) {
			return l.Receive(t.Context(), here, room.MessageNote{MessageID: "1", From: "1588", Received: at,
				Fingerprint: fingerprint})
		}
		day := 24 * time.Hour.Milliseconds()
		_, err := receive("k1:aa", 5)
		require.NoError(t, err)
		_, err = receive("k1:bb", 6+day)
		require.ErrorIs(t, err, room.ErrIDUsedAgain)
		require.Zero(t, count(t, l, "incidents"))
		known, err := receive("k1:aa", 6+day)
		require.NoError(t, err)
		require.EqualValues(t, 5, known.At, "the same message comes again")
		_, err = receive("k1:bb", 5+day)
		require.NoError(t, err)
		require.Equal(t, []string{"message_id_reused 1"}, column(t, l.DB(), `SELECT kind || ' ' || subject
			FROM incidents`))
	})
}

func TestAnotherMessageUnderAnIdIsFoundWhereTheRoomForgotTheFirst(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		l := b.open(t)
		first, second := unmatched("m", 9, room.NoLease), unmatched("m", 19, room.NoLease)
		first.Fingerprint, second.Fingerprint = "k1:aa", "k1:bb"
		b.write(1, first)
		b.write(2, second)
		require.NoError(t, l.Drain(t.Context(), here))
		require.Equal(t, []string{"message_id_reused 19"}, column(t, l.DB(), `SELECT kind || ' ' || at
			FROM incidents`))
		require.Equal(t, []string{"9"}, column(t, l.DB(), `SELECT matched_at FROM messages`))
	})
}
