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

// axeRun returns axe's findings of a serious or critical impact. There is one line for each element, with the
// rule that it breaks. %s are the rules to try, as JSON; none: all.
const axeRun = `((rules) =>
	axe.run(document, { resultTypes: ["violations"], preload: false, ...(rules && { runOnly: rules }) })
)(%s).then(({ violations }) => JSON.stringify(violations
	.filter(({ impact }) => impact === "serious" || impact === "critical")
	.flatMap(({ id, impact, help, nodes }) => nodes.map(({ target, any, all, none }) =>
		[impact, id, target.join(" "), [...any, ...all, ...none][0]?.message ?? help].join(": ")))))`

// Axe returns the barriers of the page in ctx's tab: violations that axe-core calls serious or critical.
//
// It runs in an isolated world, which the page's content security policy does not restrict. With rules it
// checks only these, such as "color-contrast", the only rule that another theme can break.
func Axe(ctx context.Context, rules ...string) ([]string, error) {
	found, err := chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) ([]string, error) {
		return axe(ctx, t, rules)
	})
	if err != nil {
		return nil, fmt.Errorf("axe: %w", err)
	}
	return found, nil
}

func axe(ctx context.Context, t *chromedp.Target, rules []string) ([]string, error) {
	world, err := ownWorld(ctx, t)
	if err != nil {
		return nil, err
	}
	there, err := evaluate(ctx, t, world, "self.axe !== undefined") // from the last look at this document
	if err != nil {
		return nil, err
	}
	if string(there) == "false" {
		if _, err := evaluate(ctx, t, world, axeSource+";0"); err != nil {
			return nil, err
		}
	}
	only, err := json.Marshal(rules)
	if err != nil {
		return nil, err
	}
	text, err := evaluate(ctx, t, world, fmt.Sprintf(axeRun, only))
	if err != nil {
		return nil, err
	}
	var encoded string
	if err := json.Unmarshal(text, &encoded); err != nil {
		return nil, err
	}
	var found []string
	return found, json.Unmarshal([]byte(encoded), &found)
}

// ownWorld makes an isolated world for scripts: it sees the page's document and none of its scripts.
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

func evaluate(ctx context.Context, t *chromedp.Target, world runtime.ExecutionContextID,
	expression string) ([]byte, error) {
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
