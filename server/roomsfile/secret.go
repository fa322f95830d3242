package roomsfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/sms"
)

// fewest is the minimum length of a secret in bytes.
const fewest = 24

// secret parses the secret that `read` makes of a value. It refuses the value if the entry also has the key
// `other`, which is the other way to give the secret. No error contains a secret.
func secret(other string, read func(*reader, string) (string, error)) func(*reader, *draft, *node) error {
	return func(r *reader, d *draft, v *node) error {
		text, err := v.one()
		if err != nil {
			return err
		}
		if d.lines[other] != 0 {
			return fmt.Errorf("and %s: want one of them", other)
		}
		if text, err = read(r, text); err != nil {
			return err
		}
		verifier, err := sms.NewVerifier(text)
		if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "SMS_WEBHOOK_SECRET "))
		}
		keys := verifier.Keys()
		if slices.ContainsFunc(keys, func(key []byte) bool { return len(key) < fewest }) {
			r.warn(d.line, "%s: sms_secret is short and can be guessed: use the base64 of 24 to 64 random bytes, "+
				"such as from openssl rand -base64 32", d.name)
		}
		ring := seal.NewKeyring(keys...)
		r.secrets = append(r.secrets, keys...)
		d.set = append(d.set, func(e *Entry) { e.Verifier, e.Keyring = verifier, ring })
		return nil
	}
}

func (r *reader) asItIs(text string) (string, error) { return text, nil }

// readSecret returns a secret file's content.
func (r *reader) readSecret(path string) (string, error) {
	content, err := r.readFile(path)
	return strings.TrimPrefix(string(content), byteOrderMark), err
}

// readFile returns a file's content; its path is relative to the rooms file.
func (r *reader) readFile(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.checks.Path), path)
	}
	// what is no file, such as a pipe, could be read for ever
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no file", path)
	case err == nil && info.Size() > mostFile:
		err = fmt.Errorf("%s is over %d KiB", path, mostFile>>10)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		var content []byte
		if content, err = os.ReadFile(path); err == nil {
			return content, nil
		}
	}
	return nil, fmt.Errorf("can not be read: %w", err)
}

const mostFile = 1 << 20 // bytes: over those of every secret and logo
