package sms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

const canary = "80264173"

// hiding has a secret in a field where fmt cannot call its methods.
type hiding struct {
	inner Secret
	Outer Secret
	more  []Secret
	named map[string]*Secret
}

func TestSecretPrintsAsStarsUnderEveryVerb(t *testing.T) {
	secret := NewSecret(canary)
	hidden := hiding{inner: secret, Outer: secret, more: []Secret{secret},
		named: map[string]*Secret{"x": &secret}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%#x", "%d", "%08d", "%o",
		"%b", "%c",
		"%U", "%e", "%f", "%g", "%t", "%p", "%w", "%20s", "%-20v", "%.3s", "%z", "%T"} {
		for _, value := range []any{secret, &secret, []Secret{secret}, map[string]Secret{"k": secret}, hidden,
			&hidden,
			struct{ s any }{secret}} {
			printed := fmt.Sprintf(verb, value)
			require.NotContains(t, printed, canary, "%s of %T", verb, value)
			require.NotContains(t, printed, fmt.Sprintf("%x", canary), "%s of %T", verb, value)
		}
		if verb != "%T" && verb != "%p" && verb != "%w" {
			require.Equal(t, "***", fmt.Sprintf(verb, secret), verb)
		}
	}
	require.Equal(t, "***", fmt.Sprint(secret))
	require.Equal(t, "***", secret.String())
	require.Equal(t, "***", secret.GoString())
	require.Equal(t, canary, secret.Reveal())
	require.Empty(t, Secret{}.Reveal())
	require.Equal(t, "***", Secret{}.String(), "nor does it say that it is empty")
}

func TestSecretIsStarsInErrorsJSONAndLogs(t *testing.T) {
	secret := NewSecret(canary)
	err := fmt.Errorf("outer: %w", errors.Join(fmt.Errorf("code %v", secret),
		fmt.Errorf("%+v", hiding{inner: secret})))
	require.NotContains(t, err.Error(), canary)
	require.NotContains(t, fmt.Sprintf("%#v", err), canary)

	encoded, jsonErr := json.Marshal(map[string]any{"code": secret, "pointer": &secret,
		"hidden": hiding{inner: secret, Outer: secret}})
	require.NoError(t, jsonErr)
	require.NotContains(t, string(encoded), canary)
	require.Contains(t, string(encoded), `"code":"***"`)
	text, textErr := secret.MarshalText()
	require.NoError(t, textErr)
	require.Equal(t, "***", string(text))

	var out bytes.Buffer
	options := &slog.HandlerOptions{Level: slog.LevelDebug}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, options),
		slog.NewJSONHandler(&out, options)} {
		log := slog.New(handler).With("with", secret)
		log.Debug("m", "code", secret, "pointer", &secret, "list", []Secret{secret}, "hidden",
			hiding{inner: secret},
			"error", err, slog.Group("g", "code", secret), "sprint", fmt.Sprint(secret))
	}
	require.NotContains(t, out.String(), canary)
	require.Contains(t, out.String(), "code=***")
	require.Contains(t, out.String(), `"code":"***"`)
}
