package support

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/internal/similar"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

const (
	mostSought    = 128 // characters of the search text
	mostFoundHere = 20  // rooms
	findWithin    = 15 * time.Second
)

// FoundSellers are the sellers of a search, best match first.
type FoundSellers struct {
	List    []templates.FoundSeller
	Exact   bool // the first one's id is the search text
	Near    bool // no id matches: these differ by a letter or two
	More    bool // there are more than are listed
	Partial bool // the ledger is away: only sellers that it has not recorded yet are listed
}

// findPage is GET /support/-/find?q=: it lists matching sellers and rooms. A single clear match redirects to
// its page.
func (d *Desk) findPage(c *gin.Context) {
	v := templates.FindView{DeskView: d.deskView(c)}
	v.Found = strings.TrimSpace(c.Query("q"))
	if utf8.RuneCountInString(v.Found) > mostSought {
		v.Found = string([]rune(v.Found)[:mostSought])
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), findWithin)
	defer cancel()
	sellers, err := d.find(ctx, &v)
	status := http.StatusOK
	if err != nil {
		v.Error, status = d.PageError(c, err)
	} else if to := onlyFound(sellers, v.Rooms); to != "" {
		c.Redirect(http.StatusSeeOther, to)
		return
	}
	v.Sellers, v.Near, v.More, v.Partial = sellers.List, sellers.Near, sellers.More, sellers.Partial
	d.Show(c, status, v.Lang, templates.FindPage(v))
}

// find searches the rooms, and the sellers in the ledger and in the journals of rooms in use.
func (d *Desk) find(ctx context.Context, v *templates.FindView) (sellers FoundSellers, err error) {
	if v.Found == "" {
		return sellers, nil
	}
	active, err := d.Engine.Active(ctx)
	if err != nil {
		return sellers, err
	}
	v.Rooms = d.findRooms(v.Found, v.Lang, active)
	return d.Records.Sellers(ctx, v.Found, active)
}

// findRooms returns the rooms with a text in their id, name, phone number or marketplace. It searches rooms
// listed by name and rooms in use.
func (d *Desk) findRooms(text, lang string, active []room.ID) (found []templates.RoomName) {
	text = similar.Fold(text)
	ids := append(d.Rooms.Names(), active...)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		info := d.Info(id, lang)
		for _, name := range []string{string(id), info.Name, info.Phone, info.Marketplace.Name} {
			if strings.Contains(similar.Fold(name), text) {
				found = append(found, templates.RoomName{Room: string(id), Name: info.Name, Phone: info.Phone,
					Marketplace: info.Marketplace.Name})
				break
			}
		}
		if len(found) == mostFoundHere {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b templates.RoomName) int {
		return cmp.Compare(similar.PrefixDistance(text, similar.Fold(a.Room)),
			similar.PrefixDistance(text, similar.Fold(b.Room)))
	})
	return found
}

// onlyFound returns the page of the single clear match; "" if a person has to choose.
func onlyFound(sellers FoundSellers, rooms []templates.RoomName) string {
	switch {
	case len(rooms) == 0 && (sellers.Exact || len(sellers.List) == 1 && !sellers.Near && !sellers.Partial):
		return "/support/-/sellers/" + url.PathEscape(sellers.List[0].Seller)
	case len(sellers.List) == 0 && !sellers.Partial && len(rooms) == 1:
		return "/support/" + url.PathEscape(rooms[0].Room)
	}
	return ""
}
