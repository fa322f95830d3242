package server

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3"

	"github.com/waitroom/waitroom/internal/similar"
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
	if quoted.MatchString(value) && !errors.Is(err, errQuoted) {
		err = fmt.Errorf("%w; %w", err, errQuoted)
	}
	if s.secret {
		return fmt.Errorf("%s (--%s): %w", s.env(), s.name, err)
	}
	return fmt.Errorf("%s (--%s) is %q: %w", s.env(), s.name, withoutUser(value), err)
}

// quoted matches what some readers of files with variables leave in a value, such as docker run --env-file.
var quoted = regexp.MustCompile(`^(".*"|'.*')$`)

// errQuoted is also the error of a value that would be taken with its quotes, such as a secret, which would
// then be another than the one that its portal has.
var errQuoted = errors.New("the quotes around it are part of it: leave them out")

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
	switch text = strings.TrimSpace(strings.TrimPrefix(string(content), byteOrderMark)); {
	case text == "":
		return "", fmt.Errorf("%s: %q is empty", file, path)
	case isUTF16(content):
		return "", fmt.Errorf("%s: %q is in UTF-16: save it in UTF-8", file, path)
	case strings.ContainsAny(text, "\r\n") && !slices.Contains(inLines, s.name):
		return "", fmt.Errorf("%s: %q has several lines: want the value alone, on one line", file, path)
	}
	return text, nil
}

// inLines are the lists whose entries may be on lines of their own.
var inLines = []string{"sms-sources", "support-tokens"}

// isUTF16 reports whether a file is in the encoding of Windows' editors. Such a file begins with their mark,
// or half of its bytes are 0.
func isUTF16(content []byte) bool {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return true
	}
	return len(content) > 1 && len(content)%2 == 0 && bytes.Count(content, []byte{0}) == len(content)/2
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
		} else if quoted.MatchString(value) {
			wrong = append(wrong, s.wrong(value, errQuoted))
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

// follow keeps how to read a setting again that is in a file. The error is that of a start with the file.
func (c *Config) follow(s setting, given map[string]string) {
	read := func() (string, error) {
		value, err := s.value(given)
		if err != nil {
			return "", err
		}
		if err := s.read(new(Config), value); err != nil {
			return "", s.wrong(value, err)
		}
		return value, nil
	}
	switch s.name {
	case "redis-url":
		c.redisNow = read
	case "database-url":
		c.databaseNow = read
	}
}

// unknown returns variables that look like settings and are none, each with what to do.
func unknown(environ []string) map[string]string {
	do := make(map[string]string)
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if plain := plainName(name); plain != name && isVariable(plain) {
			do[strconv.Quote(name)] = remedy(plain)
			continue
		}
		if name == "TZ" && !isZone(strings.TrimPrefix(value, ":")) {
			do[name] = "name a zone such as Asia/Seoul: " + strconv.Quote(value) + " is none, and counts as UTC"
			continue
		}
		upper := strings.ToUpper(name)
		if prefix, rest, _ := strings.Cut(upper, "_"); similar.Distance(prefix, envPrefix) == 1 {
			if right := envPrefix + "_" + rest; isVariable(right) {
				do[name] = remedy(right)
				continue
			}
		}
		if ofService(name, value) || isVariable(name) || !strings.HasPrefix(upper, envPrefix+"_") ||
			upper != name && !isVariable(upper) { // a shell's own
			continue
		}
		do[name] = remedy(upper)
	}
	return do
}

// isZone reports whether package time takes a value of TZ, which may also be a path.
func isZone(value string) bool {
	_, err := time.LoadLocation(value)
	return err == nil || strings.HasPrefix(value, "/")
}

// plainName returns a variable's name without what readers of files leave around it: an editor's mark, a
// shell's word, blanks.
func plainName(name string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(name, byteOrderMark), "export "))
}

func isVariable(name string) bool {
	return slices.ContainsFunc(allSettings(), func(s setting) bool { return s.env() == name })
}

// remedy returns what to do about a variable that is no setting, given its name in capitals.
func remedy(upper string) string {
	if plain, file := strings.CutSuffix(upper, "_FILE"); file && isVariable(plain) {
		return "set " + plain + " itself: only secrets are read from files"
	}
	const mostTypos = 2
	meant, least := "", mostTypos+1
	for _, s := range allSettings() {
		if d := similar.Distance(upper, s.env()); d < least {
			meant, least = s.env(), d
		}
	}
	if meant == "" {
		return "correct its name (waitroom --help has all), or take it away"
	}
	return "correct its name to " + meant
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
