// Command sbom prints a Go program's modules as CycloneDX 1.6 JSON: those that its linker
// wrote into it, and no others.
//
//	sbom PROGRAM VERSION
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM VERSION")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(w io.Writer, program, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	b := bill{Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   metadata{module("application", info.Main.Path, version)},
		Components: []component{module("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}}
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "vcs.revision" {
			b.Metadata.Component.Properties = append(b.Metadata.Component.Properties, property{s.Key, s.Value})
		}
	}
	for _, d := range info.Deps {
		used := cmp.Or(d.Replace, d, &debug.Module{})
		c := module("library", used.Path, used.Version)
		c.Properties = []property{{"go.sum", used.Sum}}
		b.Components = append(b.Components, c)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(b)
}

func module(kind, path, version string) component {
	ref := "pkg:golang/" + path + "@" + version
	return component{Type: kind, Ref: ref, Name: path, Version: version, PURL: ref}
}
