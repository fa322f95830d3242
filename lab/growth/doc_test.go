package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func theConstants(t *testing.T) constants {
	c, err := readConstants("constants.json")
	require.NoError(t, err)
	return c
}

func TestThePageHasTheTablesOfTheConstants(t *testing.T) {
	const page = "../growth.md"
	committed, err := os.ReadFile(page)
	require.NoError(t, err)
	made := t.TempDir() + "/growth.md"
	require.NoError(t, os.WriteFile(made, committed, 0o600))
	c := theConstants(t)
	require.NoError(t, put(made, report(c, playAll(c.numbers()))))
	again, err := os.ReadFile(made)
	require.NoError(t, err)
	require.True(t, string(committed) == string(again),
		"lab/growth.md has other tables than the constants make: run `make growth`")
}

func TestConstantsNameEachNumberOnceAndSayHowItIsMeasured(t *testing.T) {
	c := theConstants(t)
	broken := func(change func(list []constant) []constant) error {
		return constants{List: change(append([]constant(nil), c.List...))}.check()
	}
	require.NoError(t, broken(func(l []constant) []constant { return l }))
	require.Error(t, broken(func(l []constant) []constant { return l[1:] }))
	require.Error(t, broken(func(l []constant) []constant { return append(l, l[0]) }))
	require.Error(t, broken(func(l []constant) []constant { l[0].Command = ""; return l }))
	require.Error(t, broken(func(l []constant) []constant { l[0].Value = -1; return l }))
}

func TestAValueFromElsewhereTakesThePlaceOfTheOldOne(t *testing.T) {
	c := theConstants(t)
	require.NoError(t, c.set("redis_us_s_idle_room=0.5,hold_s=90"))
	require.Equal(t, 0.5, c.numbers().redisIdleRoom)
	require.Equal(t, 90.0, c.numbers().hold)
	require.Error(t, c.set("no_such=1"))
	require.Error(t, c.set("hold_s=long"))
}
