package server

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3"

	"github.com/waitroom/waitroom/server/tracing"
)

// envPrefix begins the name of every environment variable of the server.
const envPrefix = "WAITROOM"

// ErrHelp is returned by ParseConfig when help was requested.
var ErrHelp = flag.ErrHelp

// setting is one setting: a flag and an environment variable of the same name.
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

// wrong returns the error of an invalid setting: its name, its value, and the valid values.
func (s setting) wrong(value string, err error) error {
	if s.secret {
		return fmt.Errorf("%s (--%s): %w", s.env(), s.name, err)
	}
	return fmt.Errorf("%s (--%s) is %q: %w", s.env(), s.name, withoutUser(value), err)
}

// fileSetting returns the setting for a secret's file: other users can list the environment and the
// arguments.
func (s setting) fileSetting() setting {
	return setting{name: s.name + "-file", help: "file that has " + s.name + " in it"}
}

// allSettings returns the settings, each secret also as a file.
func allSettings() []setting {
	var all []setting
	for _, s := range settings() {
		all = append(all, s)
		if s.secret {
			all = append(all, s.fileSetting())
		}
	}
	return all
}

// value returns a setting's value, given directly or by file. Giving both is an error.
func (s setting) value(given map[string]string) (string, error) {
	text, set := given[s.name]
	path, inFile := given[s.fileSetting().name]
	if !s.secret || !inFile {
		if !set {
			text = s.fallback
		}
		return strings.TrimSpace(text), nil
	}
	file := called(s.fileSetting().name)
	if set {
		return "", fmt.Errorf("%s and %s: set one of them", called(s.name), file)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if text = strings.TrimSpace(strings.TrimPrefix(string(content), byteOrderMark)); text == "" {
		return "", fmt.Errorf("%s: %q is empty", file, path)
	}
	return text, nil
}

// byteOrderMark is a prefix that some editors write.
const byteOrderMark = "\uFEFF"

// ParseConfig reads flags, then the environment, then the files that these name. The error names every
// invalid setting. Usage returns ErrHelp.
func ParseConfig(args []string) (Config, error) {
	flags := flag.NewFlagSet("waitroom", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, s := range allSettings() {
		flags.String(s.name, "", s.help)
	}
	if err := ff.Parse(flags, args, ff.WithEnvVarPrefix(envPrefix)); err != nil {
		return Config{}, err
	}
	if flags.NArg() > 0 {
		return Config{}, fmt.Errorf("%q is neither a flag nor a command", flags.Arg(0))
	}
	given := make(map[string]string)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	var c Config
	var wrong []error
	for _, s := range settings() {
		value, err := s.value(given)
		if err != nil {
			wrong = append(wrong, err)
		} else if err := s.read(&c, value); err != nil {
			wrong = append(wrong, s.wrong(value, err))
		} else if _, inFile := given[s.fileSetting().name]; inFile {
			c.follow(s, given)
		}
		c.digest(s.name, value)
	}
	wrong = append(wrong, c.finish()...)
	var err error
	if c.Tracing, err = tracing.FromEnv(os.Getenv); err != nil {
		wrong = append(wrong, err)
	}
	c.Unknown = unknown(os.Environ())
	return c, errors.Join(wrong...)
}

// follow makes new connections to Redis and PostgreSQL use the password that the setting's file has then.
func (c *Config) follow(s setting, given map[string]string) {
	read := func() (string, error) { return s.value(given) }
	switch s.name {
	case "redis-url":
		c.Redis = c.Redis.Following(read)
	case "database-url":
		c.databaseNow = read
	}
}

// unknown returns variables with the server's prefix and no setting: most likely misspelt.
func unknown(environ []string) []string {
	var names []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix+"_") || ofService(name, value) {
			continue
		}
		if !slices.ContainsFunc(allSettings(), func(s setting) bool { return s.env() == name }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// serviceName and serviceURL match the variables that Kubernetes sets in every container for a Service whose
// name begins with waitroom.
var (
	serviceName = regexp.MustCompile(
		`_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`)
	serviceURL = regexp.MustCompile(`^(tcp|udp|sctp)://`)
)

// ofService reports whether Kubernetes set the variable, and not an operator.
func ofService(name, value string) bool {
	return serviceName.MatchString(name) || strings.HasSuffix(name, "_PORT") && serviceURL.MatchString(value)
}

// WriteSettings lists every setting for a person.
func WriteSettings(w io.Writer) {
	for _, s := range settings() {
		fallback := ""
		if s.fallback != "" {
			fallback = " (default " + s.fallback + ")"
		}
		fmt.Fprintf(w, "  --%s, %s\n        %s%s\n", s.name, s.env(), s.help, fallback)
		if file := s.fileSetting(); s.secret {
			fmt.Fprintf(w, "        or a file that has it: --%s, %s\n", file.name, file.env())
		}
	}
}
