package templates_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A status answer has no newcomer's maximum, a lease's end in whole seconds, and claim_by only while the
// lease has to be claimed.
func TestStatusKeepsValuesThatItDoesNotContain(t *testing.T) {
	tab := openModules(t)
	require.Empty(t, run[[]string](tab, `(async () => {
		const { Store } = await import("/static/js/store.js");
		const wrong = [];
		const is = (what, want, got) => want === got || wrong.push([what, got].join(" | "));
		const store = new Store({}, { check: (state) => state });
		const room = (version, me) => ({ room: "r", status: "locked", paused: false, queue_length: 1, expires_in: 10, estimated_wait: 20, epoch: 1, version, server_time: 1000, me });
		const mine = (fence, version, claim_by) => room(version, { status: "locked", ticket: fence, fence, ...(claim_by && { claim_by }), expires_at: "1970-01-01T00:00:11.500Z", epoch: 1, version });
		const frame = (rest) => store.apply({ type: "state", epoch: 1, server_time: 1000, ...rest });

		frame({ version: 5, status: "locked", ticket: 1, fence: 1, lease_expires_at: 11500, claim_by: 9000, codes: { asked: 0, open: 0, ask_after: null } });
		store.applyStatus(mine(1, 5, "1970-01-01T00:00:09.000Z"));
		is("same version", 9000, store.state.claim_by);
		store.applyStatus(mine(1, 6, "1970-01-01T00:00:09.000Z"));
		is("same turn", 9000, store.state.claim_by);
		store.applyAnswer(mine(1, 7).me, 1000);
		is("claimed", null, store.state.claim_by);
		store.applyStatus(mine(1, 7));
		is("claimed already", null, store.state.claim_by);
		frame({ version: 8, status: "locked", ticket: 1, fence: 1, lease_expires_at: 11500, claim_by: 9000 });
		store.applyStatus(mine(2, 9));
		is("another turn", null, store.state.claim_by);

		frame({ version: 10, status: "idle", estimated_wait: 20, maximum_wait: 130, lease_expires_at: 11500 });
		store.applyStatus(room(10, null));
		is("maximum", 130, store.state.maximum_wait);
		is("end", 11500, store.state.lease_expires_at);
		store.applyStatus(room(11, null));
		is("another version", 11, store.state.version);
		is("its maximum", null, store.state.maximum_wait);
		return wrong;
	})()`))
}
