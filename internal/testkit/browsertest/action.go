package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Action is a step without a result, for chromedp.Do.
type Action = chromedp.Action[chromedp.Void]

// Viewport sets the page's size in CSS pixels, its theme, and reduced motion.
func Viewport(width, height int, dark, reducedMotion bool) Action {
	scheme, motion := "light", "no-preference"
	if dark {
		scheme = "dark"
	}
	if reducedMotion {
		motion = "reduce"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: motion},
	}}
	return chromedp.Steps(
		chromedp.EmulateViewport(int64(width), int64(height)),
		call(emulation.SetEmulatedMedia, media),
	)
}

// Language sets the browser's Accept-Language and formats, such as "ko" or "en".
func Language(tag string) Action {
	return chromedp.Steps(
		call(network.SetExtraHTTPHeaders,
			network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": tag}}),
		call(emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: tag}),
	)
}

// WithoutScript turns JavaScript off for the pages opened from now on.
func WithoutScript() Action {
	return call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Screenshot writes the viewport to a PNG file, and makes its directories.
func Screenshot(ctx context.Context, path string) error {
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("screenshot: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, png, 0o644)
}

func call[P, R any](command cdp.Command[P, R], params P) Action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}
