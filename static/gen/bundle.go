package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/evanw/esbuild/pkg/api"
)

// scripts and styles are the files that pages load first; each becomes one file with all its imports.
var (
	scripts = []string{
		"embed.js", "worker.js", "js/room.js", "js/desk/room.js", "js/desk/rooms.js", "js/desk/pages.js",
		"js/desk/report.js",
	}
	styles = []string{"css/seller.css"}
)

// engines are the oldest browsers that the pages support. The bundler rewrites newer grammar for them;
// compat.config.cjs lists the newer APIs.
var engines = []api.Engine{
	{Name: api.EngineSafari, Version: "15.0"},
	{Name: api.EngineIOS, Version: "15.0"},
	{Name: api.EngineChrome, Version: "100"},
	{Name: api.EngineFirefox, Version: "100"},
}

// bundle makes every file of the sources under dir, by its path under the target.
func bundle(dir string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, entry := range slices.Concat(scripts, styles) {
		if err := add(files, dir, entry); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Collect(maps.Keys(files)) {
		if strings.HasSuffix(name, ".map") {
			continue // browsers ask for it only with developer tools open
		}
		small, err := compress(files[name])
		if err != nil {
			return nil, err
		}
		files[name+".br"] = small
	}
	return files, nil
}

// add bundles one entry. The sources are served beside it, so the map does not repeat
// them; a header names the map.
func add(files map[string][]byte, dir, entry string) error {
	root, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	out := filepath.Join(root, target)
	base := "."
	if kind, _, below := strings.Cut(entry, "/"); below {
		base = kind
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root, EntryPoints: []string{entry}, Outbase: base, Outdir: out,
		Bundle: true, Format: api.FormatESModule, LogLevel: api.LogLevelSilent, Engines: engines,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
	})
	if len(result.Errors) > 0 {
		return errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	for _, f := range result.OutputFiles {
		name, err := filepath.Rel(out, f.Path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if _, twice := files[name]; twice {
			return fmt.Errorf("%s is bundled twice", name)
		}
		files[name] = f.Contents
	}
	return nil
}

// bundleClient makes the package for programs one module, readable and for Node 18 as well as for browsers.
func bundleClient(dir string) ([]byte, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root, EntryPoints: []string{"src/turn.js"}, Bundle: true, Format: api.FormatESModule,
		LogLevel: api.LogLevelSilent, Engines: append([]api.Engine{{Name: api.EngineNode, Version: "18"}},
			engines...),
		Banner: map[string]string{"js": "// Generated from src/turn.js and the modules of the pages: run make " +
			"generate."},
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	return result.OutputFiles[0].Contents, nil
}

func compress(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w := brotli.NewWriterLevel(&out, brotli.BestCompression)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
