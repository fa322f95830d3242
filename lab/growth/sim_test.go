package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const testFor = 4000 // s of the played world

func TestFormulasAgreeWithWhatIsPlayed(t *testing.T) {
	for _, w := range small {
		require.NoError(t, disagreements(compare(sound, w, theConstants(t).numbers(), testFor, seed)), "%+v", w)
	}
}

// Each of these formulas has a plausible mistake.
func TestAWrongFormulaIsNoticed(t *testing.T) {
	n := theConstants(t).numbers()
	mistakes := map[string]formulas{
		"every change is sent to all": {func(changes, _ float64) float64 { return changes },
			following},
		"the pause alone says how often one is sent": {func(_, pause float64) float64 { return 1 / pause },
			following},
		"every replica follows every room": {coalesced,
			func(w world, _ numbers, _, _ float64) (float64, float64) { return w.replicas, 0 }},
		"a replica forgets a room with its last socket": {coalesced,
			func(w world, n numbers, sockets, _ float64) (float64, float64) {
				return following(w, n, sockets, 0)
			}},
		"a replica of a room that has its own still reads its line for each socket": {coalesced,
			func(w world, n numbers, sockets, churn float64) (float64, float64) {
				follow, _ := following(w, n, sockets, churn)
				return follow, 1 - follow/w.replicas
			}},
		"a replica follows a room for each socket": {coalesced,
			func(_ world, _ numbers, sockets, _ float64) (float64, float64) { return sockets, 0 }},
	}
	for name, f := range mistakes {
		noticed := false
		for _, w := range small {
			noticed = noticed || disagreements(compare(f, w, n, testFor, seed)) != nil
		}
		require.True(t, noticed, name)
	}
}

func TestAWrongSumIsNoticed(t *testing.T) {
	n := theConstants(t).numbers()
	n.redisIdleWaiter = 8 // one that is worth something, whatever was measured last
	for name, forget := range map[string]func(*numbers){
		"idle waiters": func(n *numbers) { n.redisIdleWaiter = 0 },
		"frames":       func(n *numbers) { n.replicaFrame = 0 },
		"patience":     func(n *numbers) { n.patience *= 2 },
	} {
		other := n
		forget(&other)
		played, _ := simulate(small[0], n, testFor, seed)
		formula := sound.rates(small[0], other)
		off := func(p, q float64) bool { return p/q > 1+tolerance || q/p > 1+tolerance }
		require.True(t, off(played.redis, formula.redis) || off(played.replica, formula.replica), name)
	}
}

func TestARoomOfItsOwnThatIsTooMuchIsCarriedByNothing(t *testing.T) {
	n := theConstants(t).numbers()
	_, ok := sound.divide(world{sellers: 1e8, rooms: 1}, n)
	require.False(t, ok)
	e, ok := sound.divide(world{sellers: 1e4, rooms: 1}, n)
	require.True(t, ok)
	require.Equal(t, 1.0, e.cells)
}
