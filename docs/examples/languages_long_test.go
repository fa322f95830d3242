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
	tryExamples(t,
		language{"python", run("python3", "python/seller.py"), run("python3", "python/receiver.py")},
		language{"typescript", node("typescript/seller.ts"), node("typescript/receiver.ts")},
		language{"java", run("java", "java/Seller.java"), run("java", "java/Receiver.java")},
	)
}

// node runs TypeScript as it is where Node can; an older one is given what the script makes of it.
func node(source string) func(*testing.T) ([]string, bool) {
	return func(t *testing.T) ([]string, bool) {
		prepared := filepath.Join(t.TempDir(), "program.mjs")
		cmd := exec.Command("bash", "typescript/prepare.sh", source, prepared)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		return strings.Fields(string(out)), err == nil && len(out) > 0
	}
}
