package sms

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// deskEngine records reports to support.
type deskEngine struct {
	Engine
	mu       sync.Mutex
	reported []string
	err      error
}

func (*deskEngine) At(at time.Time) int64 { return at.UnixMilli() }

func (d *deskEngine) Incident(_ context.Context, id room.ID, kind, subject, detail string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.reported = append(d.reported, fmt.Sprintf("%s %s %s: %s", id, kind, subject, detail))
	}
	return d.err
}

// heard returns the reports so far, once none is being made.
func (d *deskEngine) heard() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.reported)
}

func (d *deskEngine) fails(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func newDeskService(t *testing.T) (*Service, *deskEngine) {
	t.Helper()
	engine := &deskEngine{}
	s, err := New(Config{Engine: engine, Secret: testSecret})
	require.NoError(t, err)
	return s, engine
}

// counted returns waitroom_sms_total by label, without zeros.
func counted(t *testing.T, s *Service) map[string]float64 {
	t.Helper()
	all := prometheus.NewRegistry()
	all.MustRegister(s.metrics.answers)
	families, err := all.Gather()
	require.NoError(t, err)
	counts := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		if n := m.GetCounter().GetValue(); n > 0 {
			counts[m.GetLabel()[0].GetValue()] = n
		}
	}
	return counts
}

func TestRefusedMessagesAreSentToSupportTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine := newDeskService(t)
		at := time.Now().Unix()
		forged := func() {
			_, err := s.Receive(t.Context(), integration, http.Header{}, []byte(`{"text":"인증번호 482913"}`))
			require.ErrorIs(t, err, ErrSignature)
		}
		forged()
		require.Equal(t, []string{fmt.Sprintf("integration message_refused bad_signature/%d: 1 message was "+
			"refused: bad_signature", at)}, engine.heard())
		for range 3 {
			forged()
		}
		time.Sleep(9 * time.Second) // the bubble's clock, not ours
		require.Len(t, engine.heard(), 1, "not before ten seconds are over")
		time.Sleep(time.Second)
		require.Equal(t, fmt.Sprintf("integration message_refused bad_signature/%d: 3 messages were refused: "+
			"bad_signature", at+10), engine.heard()[1])
		time.Sleep(time.Minute)
		require.Len(t, engine.heard(), 2)
		s.refusals.mu.Lock()
		require.Empty(t, s.refusals.counts, "nothing is kept after the report")
		s.refusals.mu.Unlock()
		forged()
		require.Len(t, engine.heard(), 3, "at once again")
		time.Sleep(time.Minute)
	})
}

func TestEachCodeAndRoomIsReportedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine := newDeskService(t)
		for _, body := range []string{"{", `{"message_id":"m-482913","text":""}`} {
			_, err := s.Receive(t.Context(), integration, signed(t, testSecret, time.Now(), []byte(body)),
				[]byte(body))
			require.Error(t, err)
		}
		s.Refused(integration, "", BodyTooLarge)
		s.Refused("other", "", BodyTooLarge)
		at := time.Now().Unix()
		require.ElementsMatch(t, []string{
			fmt.Sprintf("integration message_refused invalid_json/%d: 1 message was refused: invalid_json. "+
				`Send one JSON object in UTF-8 as the body, not compressed, such as {"message_id":"m-1","text":"…"}.`, at),
			fmt.Sprintf("integration message_refused invalid_message/%d: 1 message was refused: invalid_message. "+
				"Give the SMS itself in text, as a string that is not blank.", at),
			fmt.Sprintf("integration message_refused body_too_large/%d: 1 message was refused: body_too_large", at),
			fmt.Sprintf("other message_refused body_too_large/%d: 1 message was refused: body_too_large", at),
		}, engine.heard())
		require.Equal(t, map[string]float64{"invalid_json": 1, "invalid_message": 1, BodyTooLarge: 2},
			counted(t, s))
		time.Sleep(time.Minute)
	})
}

func TestPresenceThatCouldNotBeRecordedIsRecordedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine := newDeskService(t)
		engine.fails(room.ErrStore)
		s.Refused(integration, "", BodyTooLarge)
		synctest.Wait()
		s.Refused(integration, "", BodyTooLarge)
		engine.fails(nil)
		time.Sleep(time.Minute)
		require.Len(t, engine.heard(), 1)
		require.Contains(t, engine.heard()[0], "2 messages were refused")
	})
}

func TestRefusedMessagesCannotFillTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, engine := newDeskService(t)
		for i := range 1000 {
			s.Refused(room.ID(fmt.Sprint("stock:", i)), "", BodyTooLarge)
		}
		require.Len(t, engine.heard(), refusalsAtOnce)
		time.Sleep(time.Minute)
	})
}
