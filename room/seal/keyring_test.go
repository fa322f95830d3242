package seal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A sealed text opens only for its owner. Any other text never opens.
func FuzzSealed(f *testing.F) {
	keys := NewKeyring([]byte("a secret of the tests"), []byte("the one before"))
	other := NewKeyring([]byte("another room's secret"))
	f.Add([]byte("text"), "abc", other.Seal([]byte("{}"), "integration/abc"))
	f.Add([]byte(""), "", keys.keys[0].id+".")
	f.Add([]byte("null"), "x|y", keys.keys[1].id+".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add([]byte("{}"), "1|2|3|4|5|6|7|8|9|1", ".")
	f.Fuzz(func(t *testing.T, text []byte, about, forged string) {
		sealed := keys.Seal(text, about)
		opened, err := keys.Open(sealed, about)
		require.NoError(t, err)
		require.Equal(t, string(text), string(opened))
		for _, wrong := range []func() ([]byte, error){
			func() ([]byte, error) { return keys.Open(sealed, about+" ") },
			func() ([]byte, error) { return other.Open(sealed, about) },
			func() ([]byte, error) { return keys.Open(forged, about) },
		} {
			_, err := wrong()
			require.Error(t, err)
		}
	})
}
