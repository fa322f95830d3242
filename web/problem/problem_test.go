package problem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/quota"
)

func TestEveryCodeHasAStatusATitleAndEveryLanguage(t *testing.T) {
	for code, p := range table {
		require.Regexp(t, `^[a-z_]+$`, code)
		require.NotEmpty(t, http.StatusText(p.status), code)
		require.GreaterOrEqual(t, p.status, 400, code)
		busy := p.status == http.StatusTooManyRequests || p.status == http.StatusServiceUnavailable
		require.Equal(t, busy, p.retry > 0, "%s: Retry-After", code)
		require.NotEmpty(t, For(code).Words("ko").Title,
			"templates/locales/problems.yaml has no words for %s", code)
	}
	for _, known := range codes {
		require.Contains(t, slices.Collect(maps.Keys(table)), known.code, "it has no status in the table")
	}
	korean := regexp.MustCompile(`\p{Hangul}`)
	for _, texts := range []func(lang string) map[string]templates.Problem{
		func(lang string) map[string]templates.Problem { return Words(lang).API },
		func(lang string) map[string]templates.Problem { return Words(lang).Desk },
		func(lang string) map[string]templates.Problem { return Words(lang).Limits },
		func(lang string) map[string]templates.Problem { return Words(lang).Bearer },
	} {
		for code, ko := range texts("ko") {
			require.Regexp(t, korean, ko.Detail, code)
			for _, lang := range templates.Languages()[1:] {
				require.NotEmpty(t, texts(lang)[code].Detail, code)
				require.NotRegexp(t, korean, texts(lang)[code].Detail, code)
			}
		}
	}
}

// programs lists the codes that only programs get: a page's buttons never send such requests.
var programs = []string{"invalid_json", "invalid_session", "invalid_reason", "invalid_fence",
	"invalid_message", "invalid_expect", "idempotency_key_reused", "invalid_subscription", "bad_signature",
	"unknown_source",
	"method_not_allowed", "body_too_large", "unsupported_media_type", "upgrade_required",
	"sms_not_configured", "invalid_ticket", "invalid_seconds", "invalid_position",
	"invalid_key", "invalid_time", "invalid_limit", "invalid_cursor", "invalid_format"}

// The page shows a detail unchanged. Names of fields and headers, for programmers, follow in brackets.
func TestDetailsAreInASellersWords(t *testing.T) {
	jargon := regexp.MustCompile(`(?i)[a-z]+_[a-z]+|[a-z]=|Retry-After|Bearer|OpenID|\bWAITROOM|\b(sessions?|leases?|fences?|replicas?|locks?|sockets?|tickets?|tokens?|iat|nbf|aud|sub|exp|store|ledger)\b` +
		`|세션|토큰|セッション|トークン|ロック|会话|令牌|phiên|khóa`)
	aside := regexp.MustCompile(` ?[(（][^)）]*[)）]`)
	for _, lang := range templates.Languages() {
		details := maps.Clone(Words(lang).Limits)
		for code, texts := range Words(lang).Bearer { // a portal's page shows those of embed.js
			details["bearer "+code] = texts
		}
		for code, texts := range Words(lang).API {
			if !slices.Contains(programs, code) {
				details[code] = texts
			}
		}
		for code, texts := range details {
			require.NotRegexp(t, jargon, aside.ReplaceAllString(texts.Detail, ""), "%s %s", code, lang)
		}
	}
}

// An engine error missing from the table would be answered as an internal error.
func TestEveryRefusalOfTheEngineHasACode(t *testing.T) {
	errs, err := os.ReadFile("../../room/errors.go")
	require.NoError(t, err)
	codesFile, err := os.ReadFile("code.go")
	require.NoError(t, err)
	refusals := regexp.MustCompile(`(?m)^\t"[a-z_]+": +(Err\w+),$`).FindAllStringSubmatch(string(errs), -1)
	require.NotEmpty(t, refusals)
	for _, refusal := range refusals {
		require.True(t, bytes.Contains(codesFile, []byte("{room."+refusal[1]+", ")),
			"room.%s has no code in code.go", refusal[1])
	}
}

// A text for an unused code would never be read.
func TestWordsOfErrorsAreForCodesThatThereAre(t *testing.T) {
	text := templates.TextIn("ko")
	texts := slices.Collect(maps.Keys(text.Problems.API))
	require.ElementsMatch(t, slices.Collect(maps.Keys(table)), texts)
	for _, list := range []iter.Seq[string]{
		maps.Keys(text.Problems.Desk), maps.Keys(text.Problems.Bearer), maps.Keys(text.Page.Errors), maps.Keys(text.Desk.Errors),
		maps.Keys(text.Desk.SignIn.Errors), maps.Keys(text.Desk.Live.Refusals),
	} {
		for code := range list {
			if code != "" { // every other
				require.Contains(t, table, code)
			}
		}
	}
	require.ElementsMatch(t, []string{quota.PlacesPerIP, quota.Rooms, "SOCKETS_PER_IP"},
		slices.Collect(maps.Keys(text.Problems.Limits)))
}

func TestErrorsBecomeTheCodesOfTheTable(t *testing.T) {
	require.Equal(t, "stale_fence", CodeOf(fmt.Errorf("leave: %w", room.ErrStaleFence)))
	require.Equal(t, "store_unavailable", CodeOf(fmt.Errorf("%w: %w", room.ErrStore,
		context.DeadlineExceeded)))
	require.Equal(t, "bad_signature", CodeOf(fmt.Errorf("receive: %w", Refusal("bad_signature"))))
	require.Equal(t, "internal", CodeOf(errors.New("who knows")))
}
