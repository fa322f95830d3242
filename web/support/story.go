package support

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
)

// StoryFilter selects a seller's timeline.
type StoryFilter struct {
	Seller string
	Room   room.ID // "" = every room
	From   int64   // unix ms
	Limit  int     // the latest ones; 0 = the ledger's default
}

// StoryEvent is one event of a seller. Kind determines which fields are set.
type StoryEvent struct {
	At        history.Time   `json:"at"`
	Room      room.ID        `json:"room"`
	Epoch     int64          `json:"epoch"`
	Ticket    history.Number `json:"ticket"`
	Fence     history.Number `json:"fence"`
	Kind      string         `json:"kind"`
	Outcome   history.Word   `json:"outcome,omitempty"`
	Result    history.Word   `json:"result,omitempty"` // of a message
	Reason    history.Word   `json:"reason,omitempty"` // why it is unmatched; of an action: support's reason
	MessageID history.Word   `json:"message_id,omitempty"`
	ExpiresAt history.Time   `json:"expires_at,omitempty"`
	Since     history.Time   `json:"since,omitempty"`
	Position  int            `json:"position,omitempty"`
	Asks      int            `json:"asks,omitempty"`
	Who       history.Word   `json:"who,omitempty"` // of support
	Action    history.Word   `json:"action,omitempty"`
	Duplicate bool           `json:"duplicate,omitempty"`
	Times     int            `json:"times,omitempty"` // refused joins
}

// timelineAnswer is a seller's timeline in a room.
type timelineAnswer struct {
	Events []StoryEvent `json:"events"`
	// the ledger is away: only events that it has not recorded yet are listed
	Partial bool `json:"partial"`
}

// timeline is GET /api/support/{room}/timeline?seller=&from=&limit=.
func (d *Desk) timeline(c *gin.Context) {
	f, err := storyFilter(c, c.Query("seller"), request.Room(c))
	if err != nil {
		d.Fail(c, err)
		return
	}
	events, partial, err := d.readStory(c, f)
	if err != nil {
		d.Fail(c, err)
		return
	}
	d.JSON(c, http.StatusOK, timelineAnswer{Events: append([]StoryEvent{}, events...), Partial: partial})
}

// storyPage is GET /support/-/sellers/{seller}?room=.
func (d *Desk) storyPage(c *gin.Context) {
	var id room.ID
	if text := c.Query("room"); text != "" {
		var err error
		if id, err = room.ParseID(text); err != nil || !d.Rooms.Has(id) {
			d.Refuse(c, "unknown_room")
			return
		}
	}
	f, err := storyFilter(c, c.Param("seller"), id)
	if err != nil {
		d.Fail(c, err)
		return
	}
	events, partial, err := d.readStory(c, f)
	if err != nil {
		d.Fail(c, err)
		return
	}
	v := templates.StoryView{DeskView: d.deskView(c), Seller: f.Seller, Room: string(id), Partial: partial}
	for _, e := range events {
		v.Events = append(v.Events, e.view())
	}
	d.Show(c, http.StatusOK, v.Lang, templates.StoryPage(v))
}

func storyFilter(c *gin.Context, seller string, id room.ID) (f StoryFilter, err error) {
	f.Room = id
	if f.Seller, err = room.ParseSeller(seller); err != nil {
		return f, err
	}
	if f.From, err = parseTime(c.Query("from"), false, time.UTC); err != nil {
		return f, err
	}
	f.Limit, err = parseLimit(c.Query("limit"))
	return f, err
}

// readStory records in the audit that the agent looks at the seller. If that fails, nothing is shown.
func (d *Desk) readStory(c *gin.Context, f StoryFilter) ([]StoryEvent, bool, error) {
	query := url.Values{"seller": {f.Seller}}
	if f.Room != "" {
		query.Set("room", string(f.Room))
	}
	if err := d.audited(c, room.SupportRoom, "looked", query); err != nil {
		return nil, false, err
	}
	ctx, cancel := d.Asking(c)
	defer cancel()
	return d.Records.Story(ctx, f)
}

func (e StoryEvent) view() templates.StoryEvent {
	v := templates.StoryEvent{At: int64(e.At), Room: string(e.Room), Epoch: e.Epoch, Ticket: int64(e.Ticket),
		Fence: int64(e.Fence),
		Kind:  e.Kind, Outcome: string(e.Outcome), Result: string(e.Result), ExpiresAt: int64(e.ExpiresAt),
		Since:    int64(e.Since),
		Position: e.Position, Asks: e.Asks, MessageID: string(e.MessageID), Who: string(e.Who),
		Action:    string(e.Action),
		Duplicate: e.Duplicate, Times: e.Times}
	if e.Who != "" {
		v.Why = string(e.Reason)
	} else {
		v.Reason = string(e.Reason)
	}
	return v
}
