// Gen writes what browsers load in one piece: the pages' modules and styles, bundled, with source maps, and compressed by
// Brotli. Run it by make generate.
package main

import (
	"log"
	"os"
	"path/filepath"
)

// sources is where the modules and styles are, as seen from the module's root, and target what is written under it.
const (
	sources = "static"
	target  = "bundle"

	clientDir  = "clients/js" // the package for programs, which shares modules with the pages
	clientFile = "waitroom.js"
)

func main() {
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

// write replaces what is under dir: what nothing is bundled into any more goes.
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
