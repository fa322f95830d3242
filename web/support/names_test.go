package support_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestNamesOfAnActionsFieldsAreExact(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	w := f.call(t, h, "kim", "POST", "/api/support/integration/release",
		`{"fence":7,"FENCE":8,"reason":"r","Reason":"s"}`)
	require.Equal(t, 200, w.Code, w.Body)
	require.Equal(t, []string{"release integration 7"}, f.did)
	require.Equal(t, room.Action{Who: "kim", Address: "192.0.2.1", Action: "release", Reason: "r"}, f.by)
	require.Equal(t, 400, f.call(t, h, "kim", "POST", "/api/support/integration/release",
		`{"FENCE":8,"reason":"r"}`).Code)
}
