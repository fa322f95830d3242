package sms

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "***"

// Secret is the text of an SMS or the code in it. Whatever prints, encodes or logs one gets ***; only
// Reveal gives the value. It is held behind a function, so that what walks unexported fields by
// reflection, as fmt does, finds an address and nothing else.
type Secret struct{ reveal func() string }

// NewSecret hides a value.
func NewSecret(value string) Secret { return Secret{reveal: func() string { return value }} }

// Reveal gives the value: for the one who holds the lease, and nobody else.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// String is ***.
func (s Secret) String() string { return redacted }

// GoString is ***.
func (s Secret) GoString() string { return redacted }

// Format writes *** for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText gives ***.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON gives "***".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue is ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
