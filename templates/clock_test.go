package templates_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each step has the local clock, a frame's time, the expected lead of the time over the local clock, and the
// machine's clock. All in seconds.
func TestTimeIsTheServersHoweverLateAFrameIs(t *testing.T) {
	tab := openModules(t)
	wrong := run[[]string](tab, `(async () => {
		const { ServerClock } = await import("/static/js/clock.js");
		const table = {
			"one frame is late": [[0, 100, 100], [25, 120, 100], [50, 150, 100]],
			"a stall holds up many": [[0, 100, 100], [10, 105, 100], [10, 106, 100], [10.1, 106.5, 100], [10.1, 107.5, 100], [10.2, 110, 100]],
			"each stall holds up one": [[0, 100, 100], [25, 120, 100], [26, 126, 100], [50, 145, 100], [51, 151, 100]],
			"two stalls in turn": [[0, 100, 100], [25, 120, 100], [50, 140, 100], [75, 175, 100]],
			"frames from before a sleep": [[0, 100, 100], [3600, 110, 100], [3600, 111, 100], [3601, 3701, 100]],
			"the first frame is late": [[0, 95, 95], [1, 101, 100], [2, 102, 100]],
			"every frame is a little late": [[0, 100, 100], [25, 123.5, 100], [50, 149, 100]],
			"no frame has come": [[0, null, 50, 50]],
			"the local clock stands still in a sleep": [[0, 100, 100], [1, null, 3700, 3600], [2, 3702, 3700, 3600], [27, 3727, 3700, 3600]],
			"the machine's clock is set back": [[0, 100, 100], [1, null, 100, -3600], [2, 102, 100, -3600]],
			"the machine's clock is set ahead": [[0, 100, 100], [1, null, 3700, 3600], [2, 102, 100, 3600], [3, null, 100, 3600]],
			"the server's clock is set ahead": [[0, 100, 100], [25, 155, 130]],
			"and right again": [[0, 100, 100], [25, 155, 130], [30, 130, 100]],
			"it is set back by more than the time since the last frame": [[0, 100, 100], [25, 95, 70], [26, 96, 70]],
			"by less": [[0, 100, 100], [25, 115, 100], [50, 140, 90]],
			"by less, with many frames": [[0, 100, 100], [25, 115, 100], [26, 116, 100], [34, 124, 100], [35, 125, 90]],
			"while nothing was heard for long": [[0, 100, 100], [600, 400, 100], [625, 425, -200]],
		};
		const wrong = [];
		for (const [name, steps] of Object.entries(table)) {
			let local, machine;
			const clock = new ServerClock(() => local, () => machine);
			for (const [read, says, ahead, apart = 0] of steps) {
				local = read * 1000;
				machine = local + apart * 1000;
				if (says != null) clock.observe(says * 1000);
				const is = (clock.now() - local) / 1000;
				if (is !== ahead) wrong.push([name, read, is].join(" | "));
			}
		}
		return wrong;
	})()`)
	require.Empty(t, wrong)
}
