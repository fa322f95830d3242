package browsertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axeSource is axe-core 4.14.1, unchanged; its licences lie beside it.
//
//go:embed testdata/axe/axe.min.js
var axeSource string

// axeRun says what axe found of a serious or critical impact: one line for each element, with the rule that it breaks.
const axeRun = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => JSON.stringify(violations
	.filter(({ impact }) => impact === "serious" || impact === "critical")
	.flatMap(({ id, impact, help, nodes }) => nodes.map(({ target, any, all, none }) =>
		[impact, id, target.join(" "), [...any, ...all, ...none][0]?.message ?? help].join(": ")))))`

// Axe looks for what keeps people out of the page that ctx's tab shows: violations that axe-core calls serious or critical.
// It runs beside the page's own scripts, where the page's content security policy does not reach.
func Axe(ctx context.Context) ([]string, error) {
	found, err := chromedp.Run(ctx, axe)
	if err != nil {
		return nil, fmt.Errorf("axe: %w", err)
	}
	return found, nil
}

func axe(ctx context.Context, t *chromedp.Target) ([]string, error) {
	world, err := ownWorld(ctx, t)
	if err != nil {
		return nil, err
	}
	if _, err := evaluate(ctx, t, world, axeSource+";0"); err != nil {
		return nil, err
	}
	text, err := evaluate(ctx, t, world, axeRun)
	if err != nil {
		return nil, err
	}
	var said string
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, err
	}
	var found []string
	return found, json.Unmarshal([]byte(said), &found)
}

// ownWorld makes a place for scripts that sees the page's document and nothing of its scripts.
func ownWorld(ctx context.Context, t *chromedp.Target) (runtime.ExecutionContextID, error) {
	tree, err := cdp.Call(ctx, t, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return 0, err
	}
	world, err := cdp.Call(ctx, t, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{
		FrameID: tree.FrameTree.Frame.ID, WorldName: "axe",
	})
	return world.ExecutionContextID, err
}

func evaluate(ctx context.Context, t *chromedp.Target, world runtime.ExecutionContextID, expression string) ([]byte, error) {
	yes := true
	result, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ContextID: world, AwaitPromise: &yes, ReturnByValue: &yes,
	})
	if err != nil {
		return nil, err
	}
	if result.ExceptionDetails != nil {
		return nil, fmt.Errorf("%s", words([]*runtime.RemoteObject{result.ExceptionDetails.Exception}))
	}
	return result.Result.Value, nil
}
