// Package haproxytest makes docs/haproxy.cfg, the file that users start from, into a configuration for
// replicas of a test.
package haproxytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// MinDrain is the setting of each replica that the file's head asks for.
const MinDrain = "WAITROOM_MIN_DRAIN=4s"

// Config reads the configuration of a checkout and sets the address where haproxy listens and those of the
// replicas. It changes nothing else.
func Config(root, listen string, replicas []string) ([]byte, error) {
	path := filepath.Join(root, "docs", "haproxy.cfg")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config, bound, backends := fill(string(text), listen, replicas)
	if bound != 1 || backends == 0 || !strings.Contains(config, MinDrain) {
		return nil, fmt.Errorf("%s: %d lines that bind, %d backends with servers, or %s is not in it", path, bound,
			backends, MinDrain)
	}
	return []byte(config), nil
}

// fill makes each backend list all replicas in the form in which it lists the first.
func fill(text, listen string, replicas []string) (config string, bound, backends int) {
	var b strings.Builder
	named := false
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[0] == "bind":
			fmt.Fprintf(&b, "  bind %s\n", listen)
			bound++
		case len(words) > 2 && words[0] == "server":
			if !named {
				backends++
				for i, addr := range replicas {
					name := fmt.Sprint("replica-", i+1)
					rest := strings.ReplaceAll(strings.Join(words[3:], " "), "/"+words[1], "/"+name)
					b.WriteString(strings.TrimRight(fmt.Sprintf("  server %s %s %s", name, addr, rest), " ") + "\n")
				}
			}
			named = true
		default:
			named = named && len(words) == 0
			b.WriteString(line)
		}
	}
	return b.String(), bound, backends
}
