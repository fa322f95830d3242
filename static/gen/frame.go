package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// described is the description of the sockets' frames, seen from the module's root.
const described = "web/describe/asyncapi.yaml"

// property is a member of the state frame, as the description has it.
type property struct {
	Name        string
	Type        any        `yaml:"type"`
	Const       string     `yaml:"const"`
	Enum        []string   `yaml:"enum"`
	Ref         string     `yaml:"$ref"`
	OneOf       []property `yaml:"oneOf"`
	Description string     `yaml:"description"`
	Properties  yaml.MapSlice

	optional bool // some frames lack it
}

// stateFrame returns the members of the state frame, in order.
func stateFrame(path string) ([]property, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties yaml.MapSlice
			}
		}
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	state := doc.Components.Schemas["State"]
	list := make([]property, 0, len(state.Properties))
	for _, item := range state.Properties {
		p, err := propertyOf(item)
		if err != nil {
			return nil, err
		}
		p.optional = !slices.Contains(state.Required, p.Name)
		list = append(list, p)
	}
	return list, nil
}

func propertyOf(item yaml.MapItem) (p property, err error) {
	text, err := yaml.Marshal(item.Value)
	if err == nil {
		err = yaml.Unmarshal(text, &p)
	}
	p.Name = fmt.Sprint(item.Key)
	return p, err
}

// everyFrame are the members that each frame sets; before the first one a page has none of them.
var everyFrame = []string{"room", "epoch", "version", "server_time"}

// nothing returns the state of a page that has no frame yet, as JavaScript.
func nothing(frame []property) string {
	var b strings.Builder
	b.WriteString("const NOTHING = {\n")
	for _, p := range frame {
		if !p.optional && !slices.Contains(everyFrame, p.Name) {
			fmt.Fprintf(&b, "  %s: %s,\n", p.Name, p.zero())
		}
	}
	return b.String() + "};\n"
}

func (p property) zero() string {
	switch {
	case p.Const != "":
		return `"` + p.Const + `"`
	case len(p.Enum) > 0:
		return `"` + p.Enum[0] + `"`
	case p.Type == "boolean":
		return "false"
	case p.Type == "integer":
		return "0"
	}
	return "null"
}

// stateType returns the type of the state in TypeScript.
func stateType(frame []property) (string, error) {
	var b strings.Builder
	b.WriteString("export interface State {\n")
	for _, p := range frame {
		if p.Name == "type" || p.Name == "room" { // the page that embeds the module knows both
			continue
		}
		typed, err := p.typed()
		if err != nil {
			return "", err
		}
		if p.Description != "" {
			fmt.Fprintf(&b, "  /** %s */\n", p.Description)
		}
		mark := ""
		if p.optional || slices.Contains(everyFrame, p.Name) {
			mark = "?"
		}
		fmt.Fprintf(&b, "  readonly %s%s: %s;\n", p.Name, mark, typed)
	}
	return b.String() + "}\n", nil
}

// typed returns the TypeScript type of a member.
func (p property) typed() (string, error) {
	switch ref := p.Ref[strings.LastIndex(p.Ref, "/")+1:]; {
	case p.Name == "epoch":
		return "string | number | null", nil
	case ref == "Outcome":
		return ref, nil
	case ref == "Unclaimed":
		return "true", nil
	case ref == "Codes":
		return "{ readonly asked: number; readonly open: number; readonly ask_after: number | null }", nil
	case ref == "Announcement":
		return `{ readonly text: string; readonly level: "info" | "warning"; readonly until: number }`, nil
	case slices.Contains([]string{"Fence", "Milliseconds", "Ticket", "Version"}, ref) || p.Type == "integer":
		return "number", nil
	case len(p.Enum) > 0:
		return `"` + strings.Join(p.Enum, `" | "`) + `"`, nil
	case p.Type == "boolean" || p.Type == "string":
		return p.Type.(string), nil
	case p.Type == "null":
		return "null", nil
	case len(p.OneOf) > 0:
		var types []string
		for _, one := range p.OneOf {
			typed, err := one.typed()
			if err != nil {
				return "", err
			}
			types = append(types, typed)
		}
		return strings.Join(types, " | "), nil
	}
	return "", fmt.Errorf("%s: the state's %s has a type that this generator does not know", described, p.Name)
}

// Where the state is in the sources.
var (
	nothingIn = regexp.MustCompile(`(?s)const NOTHING = \{.*?\n\};\n`)
	typeIn    = regexp.MustCompile(`(?s)export interface State \{.*?\n\}\n`)
)

// withState returns the module with the page's first state, and the types of the embedded one, for the state
// frame that is described.
func withState(store, types []byte, path string) (newStore, newTypes []byte, err error) {
	frame, err := stateFrame(path)
	if err != nil {
		return nil, nil, err
	}
	typed, err := stateType(frame)
	if err != nil {
		return nil, nil, err
	}
	return nothingIn.ReplaceAllLiteral(store, []byte(nothing(frame))),
		typeIn.ReplaceAllLiteral(types, []byte(typed)), nil
}

// writeState brings the sources to the state frame that is described.
func writeState() error {
	const storePath, typesPath = sources + "/js/store.js", sources + "/embed.d.ts"
	store, err := os.ReadFile(storePath)
	if err != nil {
		return err
	}
	types, err := os.ReadFile(typesPath)
	if err != nil {
		return err
	}
	if store, types, err = withState(store, types, described); err != nil {
		return err
	}
	if err := os.WriteFile(storePath, store, 0o644); err != nil {
		return err
	}
	return os.WriteFile(typesPath, types, 0o644)
}
