package sms

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "***"

// Secret is the text of an SMS or the code in it. Printing, encoding or logging a Secret gives ***; only
// Reveal returns the value. A function holds the value, so that code which walks unexported fields by
// reflection, as fmt does, finds only an address.
type Secret struct{ reveal func() string }

// NewSecret hides a value.
func NewSecret(value string) Secret { return Secret{reveal: func() string { return value }} }

// Reveal returns the value, for the lease's holder alone.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// String returns ***.
func (s Secret) String() string { return redacted }

// GoString returns ***.
func (s Secret) GoString() string { return redacted }

// Format writes *** for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText returns ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON returns "***".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue returns ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
