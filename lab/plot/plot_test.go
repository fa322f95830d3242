package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCurvesAreWellFormedWhateverTheyAreCalled(t *testing.T) {
	label := func(v float64) string { return fmt.Sprintf("%.1f ms", v) }
	for name, series := range map[string][]Series{
		"none":    nil,
		"a point": {{Name: "p < 99 & more", X: []float64{0}, Y: []float64{0}}},
		"two lines": {{Name: "one", X: []float64{0, 10}, Y: []float64{1, 2}},
			{Name: "two", X: []float64{0, 7}, Y: []float64{3, 4}, Dashed: true}},
	} {
		svg := Lines("Title <1>", "axis", series, label)
		require.NotContains(t, svg, "NaN", name)
		require.NotContains(t, svg, "Inf", name)
		decoder := xml.NewDecoder(strings.NewReader(svg))
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
		}
	}
}
