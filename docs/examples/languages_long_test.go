//go:build long

package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestExamplesInOtherLanguagesJoinWaitClaimAndAreDone(t *testing.T) {
	tryExamples(t, otherLanguages...)
}

func TestRobotsInOtherLanguagesTakeTheirCode(t *testing.T) { tryRobots(t, otherLanguages...) }

func TestRobotsInOtherLanguagesSayThatATurnIsOverWithoutACode(t *testing.T) {
	tryRobotsWithoutACode(t, otherLanguages...)
}

func TestRobotsInOtherLanguagesStopWhereNoCodeIsOnItsWay(t *testing.T) {
	tryRobotsWhoseTurnIsEnded(t, otherLanguages...)
}

var otherLanguages = []language{
	{"python", run("python3", "python/seller.py"), run("python3", "python/receiver.py"),
		run("python3", "python/robot.py")},
	{"typescript", node("typescript/seller.ts"), node("typescript/receiver.ts"), node("typescript/robot.ts")},
	{"java", run("java", "java/Seller.java"), run("java", "java/Receiver.java"), run("java", "java/Robot.java")},
}

// node runs TypeScript directly if this Node can, otherwise the JavaScript that the script compiles it to.
func node(source string) func(*testing.T) ([]string, bool) {
	return func(t *testing.T) ([]string, bool) {
		prepared := filepath.Join(t.TempDir(), "program.mjs")
		cmd := exec.Command("bash", "typescript/prepare.sh", source, prepared)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		return strings.Fields(string(out)), err == nil && len(out) > 0
	}
}
