package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/seal"
)

// While a secret is rotated, replicas have different first secrets. A replica that was restarted since has
// both.
func TestSameTextIsTheSameMessageAlsoWhileTheSecretIsReplaced(t *testing.T) {
	older, newer := []byte("the older secret of the number"), []byte("the newer secret of the number")
	learned := seal.NewKeyring(newer)
	learned.Learn(older)
	for name, rings := range map[string][2]*seal.Keyring{
		"first at one that has the older alone": {seal.NewKeyring(older),
			seal.NewKeyring(newer, older)},
		"first at one that has both": {seal.NewKeyring(newer, older),
			seal.NewKeyring(older)},
		"first at one that has both, then the newer": {seal.NewKeyring(newer, older),
			seal.NewKeyring(newer)},
		"first at one that has the newer, then both": {seal.NewKeyring(newer),
			seal.NewKeyring(newer, older)},
		"a server that had the older since its start": {seal.NewKeyring(older), learned},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, room.Config{Keys: rings[0]})
			two := room.New(d.rdb, room.Config{Keys: rings[1], Journal: 10_000, Recovery: -1})
			a, b := d.asker("a"), d.asker("b")
			a.expect()
			d.pass(time.Second)
			_, first := d.sms(saying("인증번호 482913"))
			require.Equal(t, room.Completed, a.stand().Outcome)
			d.pass(time.Second)
			again := sms("other-id", 0, 0)
			again.Shown.Text = "인증번호 482913"
			m := match(t, two, again)
			require.Equal(t, first.Fence, m.Fence, "it is the first one's seller's")
			require.True(t, m.Duplicate)
			require.Equal(t, room.Locked, b.stand().Status)
		})
	}
}
