package server

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3"
)

// envPrefix begins the name of every variable of ours.
const envPrefix = "WAITROOM"

// ErrHelp is returned by ParseConfig when help was asked for.
var ErrHelp = flag.ErrHelp

// setting is one line of the configuration: a flag and an environment variable of the same name.
type setting struct {
	name     string // of the flag; the variable is in capitals
	fallback string
	help     string
	secret   bool // its value is never shown
	read     func(c *Config, value string) error
}

func (s setting) env() string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
}

// wrong says which setting is wrong, how it was given, and what would be right.
func (s setting) wrong(value string, err error) error {
	if s.secret {
		return fmt.Errorf("%s (--%s): %w", s.env(), s.name, err)
	}
	return fmt.Errorf("%s (--%s) is %q: %w", s.env(), s.name, value, err)
}

// ParseConfig reads flags, then the environment. The error names every setting that is wrong.
// Usage asks for ErrHelp.
func ParseConfig(args []string) (Config, error) {
	all := settings()
	flags := flag.NewFlagSet("waitroom", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	values := make([]*string, len(all))
	for i, s := range all {
		values[i] = flags.String(s.name, s.fallback, s.help)
	}
	if err := ff.Parse(flags, args, ff.WithEnvVarPrefix(envPrefix)); err != nil {
		return Config{}, err
	}
	if flags.NArg() > 0 {
		return Config{}, fmt.Errorf("%q is neither a flag nor a command", flags.Arg(0))
	}
	var c Config
	var wrong []error
	for i, s := range all {
		value := strings.TrimSpace(*values[i])
		if err := s.read(&c, value); err != nil {
			wrong = append(wrong, s.wrong(value, err))
		}
	}
	wrong = append(wrong, c.finish()...)
	c.Unknown = unknown(os.Environ())
	return c, errors.Join(wrong...)
}

// unknown are the variables that look like ours and are not: most likely misspelt.
func unknown(environ []string) []string {
	var names []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix+"_") {
			continue
		}
		if !slices.ContainsFunc(settings(), func(s setting) bool { return s.env() == name }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// WriteSettings lists every setting for a person.
func WriteSettings(w io.Writer) {
	for _, s := range settings() {
		fallback := ""
		if s.fallback != "" {
			fallback = " (default " + s.fallback + ")"
		}
		fmt.Fprintf(w, "  --%s, %s\n        %s%s\n", s.name, s.env(), s.help, fallback)
	}
}
