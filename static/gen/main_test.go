package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"
)

func TestBundlesAreThoseOfTheSources(t *testing.T) {
	want, err := bundle("..")
	require.NoError(t, err)
	have := make(map[string][]byte)
	tree := os.DirFS(filepath.Join("..", target))
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			have[name], err = fs.ReadFile(tree, name)
		}
		return err
	}))
	for name, content := range want {
		require.Contains(t, have, name, "run make generate")
		require.True(t, bytes.Equal(plain(t, name, content), plain(t, name, have[name])),
			"%s differs from its sources: run make generate", name)
	}
	require.Len(t, have, len(want), "run make generate")
}

func TestModulesHaveTheStateFrameThatIsDescribed(t *testing.T) {
	store, err := os.ReadFile("../js/store.js")
	require.NoError(t, err)
	types, err := os.ReadFile("../embed.d.ts")
	require.NoError(t, err)
	wantStore, wantTypes, err := withState(store, types, "../../"+described)
	require.NoError(t, err)
	require.Equal(t, string(wantStore), string(store), "static/js/store.js: run make generate")
	require.Equal(t, string(wantTypes), string(types), "static/embed.d.ts: run make generate")
}

// plain returns a file's uncompressed content, since another version of the compressor may write other bytes.
func plain(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	if !strings.HasSuffix(name, ".br") {
		return content
	}
	text, err := io.ReadAll(brotli.NewReader(bytes.NewReader(content)))
	require.NoError(t, err)
	return text
}

// A source outside every bundle reaches no browser. The desk's pages list their stylesheets themselves.
func TestEverySourceIsPartOfABundle(t *testing.T) {
	bundled := make(map[string]bool)
	for _, entry := range append(append([]string{}, scripts...), styles...) {
		_, rest, below := strings.Cut(entry, "/")
		if !below {
			rest = entry
		}
		content, err := os.ReadFile(filepath.Join("..", target, rest+".map"))
		require.NoError(t, err)
		var made struct{ Sources []string }
		require.NoError(t, json.Unmarshal(content, &made))
		for _, source := range made.Sources {
			bundled[path.Join(path.Dir(path.Join(target, rest)), source)] = true
		}
	}
	for _, pattern := range []string{"js/*.js", "js/desk/*.js", "css/[^d]*.css"} {
		found, err := filepath.Glob(filepath.Join("..", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, file := range found {
			name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
			require.True(t, bundled[name] || name == "css/seller.css", "%s is imported by nothing", name)
		}
	}
}

func TestTheClientIsThatOfItsSources(t *testing.T) {
	want, err := bundleClient(filepath.Join("..", "..", clientDir))
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join("..", "..", clientDir, clientFile))
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "run make generate")
}
