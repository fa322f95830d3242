// Gen writes the bundles that browsers load: the pages' modules and styles with source maps, compressed by
// Brotli. Before that it writes the state frame, as web/describe has it, into the modules. Run it by make
// generate.
package main

import (
	"log"
	"os"
	"path/filepath"
)

// sources is the folder of modules and styles, seen from the module's root; write puts the bundles in target.
const (
	sources = "static"
	target  = "bundle"

	clientDir  = "clients/js" // the package for programs, which shares modules with the pages
	clientFile = "waitroom.js"
)

func main() {
	if err := writeState(); err != nil {
		log.Fatal(err)
	}
	files, err := bundle(sources)
	if err != nil {
		log.Fatal(err)
	}
	if err := write(filepath.Join(sources, target), files); err != nil {
		log.Fatal(err)
	}
	client, err := bundleClient(clientDir)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clientDir, clientFile), client, 0o644); err != nil {
		log.Fatal(err)
	}
}

// write replaces all files under dir: a bundle without an entry disappears.
func write(dir string, files map[string][]byte) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
