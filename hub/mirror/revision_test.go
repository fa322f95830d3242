package mirror

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFreshnessIsOneRule(t *testing.T) {
	span := Span{Revision: Revision{7, 10}, Base: 8, Lineage: "a:1"}
	for name, c := range map[string]struct {
		at        Revision
		lineage   string
		byVersion Freshness // to who knows 7/10
		bySpan    Freshness // and has known everything since 7/8
		byHistory Freshness // in history a:1
	}{
		"the same":                           {Revision{7, 10}, "a:1", Same, Same, Same},
		"the next":                           {Revision{7, 11}, "a:1", Next, Next, Next},
		"one too far":                        {Revision{7, 12}, "a:1", Ahead, Ahead, Ahead},
		"the one before":                     {Revision{7, 9}, "a:1", Known, Known, Known},
		"the snapshot's own":                 {Revision{7, 8}, "a:1", Known, Known, Known},
		"before the snapshot":                {Revision{7, 7}, "a:1", Known, Missed, Missed},
		"never used":                         {Revision{7, 0}, "a:1", Known, Missed, Missed},
		"the same in another history":        {Revision{7, 10}, "b:10,a:1", Same, Same, OtherHistory},
		"the next in another history":        {Revision{7, 11}, "b:10,a:1", Next, Next, OtherHistory},
		"an older one in another history":    {Revision{7, 3}, "b:10,a:1", Known, Missed, OtherHistory},
		"the epoch before":                   {Revision{6, 10}, "a:1", EpochBefore, EpochBefore, EpochBefore},
		"the epoch before, a later version":  {Revision{6, 99}, "z", EpochBefore, EpochBefore, EpochBefore},
		"a session that nothing is known of": {Revision{-1, 0}, "", EpochBefore, EpochBefore, EpochBefore},
		"a new epoch":                        {Revision{8, 1}, "a:1", EpochAfter, EpochAfter, EpochAfter},
		"a new epoch, the same version":      {Revision{8, 10}, "b:1", EpochAfter, EpochAfter, EpochAfter},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.byVersion, span.Revision.Of(c.at))
			require.Equal(t, c.bySpan, span.Of(c.at))
			require.Equal(t, c.byHistory, span.OfHistory(c.at, c.lineage))
			require.Equal(t, c.bySpan == Known || c.bySpan == Same, c.bySpan.Reached())
			require.Equal(t, c.at.Epoch == 7 && c.at.Version > 10, c.bySpan.Unreached())
			require.Equal(t, c.at.Epoch != 7, c.bySpan.OtherEpoch())
		})
	}
}

func TestSpanWithoutASnapshotMissedNothing(t *testing.T) {
	span := Span{Revision: Revision{7, 3}}
	require.Equal(t, Known, span.Of(Revision{7, 0}))
}

func TestSocketGetsOnlyWhatIsNewAndNeverGoesBack(t *testing.T) {
	shows := Sent{Revision{7, 10}, 2, 3, 0, 0}
	for name, c := range map[string]struct {
		next Sent
		want bool
	}{
		"what it shows":                        {shows, false},
		"the next version":                     {Sent{Revision{7, 11}, 2, 3, 0, 0}, true},
		"versions later":                       {Sent{Revision{7, 14}, 2, 3, 0, 0}, true},
		"an older version":                     {Sent{Revision{7, 9}, 2, 3, 0, 0}, false},
		"an older version, another seat":       {Sent{Revision{7, 9}, 3, 4, 0, 0}, false},
		"its own seat":                         {Sent{Revision{7, 10}, 2, 4, 0, 0}, true},
		"the room closes":                      {Sent{Revision{7, 10}, 2, 3, 9, 0}, true},
		"a snapshot of the same version":       {Sent{Revision{7, 10}, 3, 3, 0, 0}, true},
		"a new epoch":                          {Sent{Revision{8, 1}, 3, 3, 0, 0}, true},
		"an epoch that the store went back to": {Sent{Revision{6, 10}, 3, 3, 0, 0}, true},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, shows.Worth(c.next)) })
	}
}

func TestRevisionsAreOrderedByEpochThenVersion(t *testing.T) {
	order := []Revision{{-1, 0}, {6, 99}, {7, 1}, {7, 2}, {8, 0}}
	for i, a := range order {
		for j, b := range order {
			switch {
			case i < j:
				require.Negative(t, a.Compare(b))
			case i > j:
				require.Positive(t, a.Compare(b))
			default:
				require.Zero(t, a.Compare(b))
			}
		}
	}
}
