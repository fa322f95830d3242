package clients

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readme is a client's README. Its first code block of the client's language is run unchanged between some
// lines.
type readme struct {
	path, fence string
	program     string // with LINES where the block goes
	file        string
	run         func(dir, file string) *exec.Cmd
}

var readmes = []readme{
	{"../../client/README.md", "go", `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/waitroom/waitroom/client"
)

func main() {
	ctx := context.Background()
	c, err := client.New("https://waitroom.example", client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	pressSendCode := func(context.Context) error {
		fmt.Println("ask")
		_, err := os.Stdin.Read(make([]byte, 1))
		return err
	}
	enter := func(code string) error {
		fmt.Println("code " + code)
		return nil
	}
LINES
	if err != nil {
		log.Fatal(err)
	}
}
`, "main.go", func(dir, file string) *exec.Cmd { return exec.Command("go", "run", file) }},
	{"../../clients/js/README.md", "js", `import { readSync } from "node:fs";
import { join } from "CLIENTS/js/waitroom.js";

const pressSendCode = () => (console.log("ask"), readSync(0, Buffer.alloc(1)));
const enter = (code) => console.log("code " + code);
LINES
`, "main.mjs", func(dir, file string) *exec.Cmd { return exec.Command("node", file) }},
	{"../../clients/python/README.md", "python", `import sys

sys.path.insert(0, "CLIENTS/python")
import waitroom


def press_send_code():
    print("ask", flush=True)
    sys.stdin.read(1)


def enter(code):
    print("code " + code, flush=True)


LINES
`, "main.py", func(dir, file string) *exec.Cmd { return exec.Command("python3", file) }},
}

// The lines in each README receive a code.
func TestTheFiveLinesOfEachREADMETakeACode(t *testing.T) {
	s := newSite(t, 1)
	for _, r := range readmes {
		t.Run(r.fence, func(t *testing.T) {
			text, err := os.ReadFile(r.path)
			require.NoError(t, err)
			block := regexp.MustCompile("(?s)```" + r.fence + "\n(.*?)```").FindSubmatch(text)
			require.NotNil(t, block)
			require.Equal(t, 5, strings.Count(string(block[1]), "\n"))
			clients, err := filepath.Abs("../../clients")
			require.NoError(t, err)
			room := s.room()
			program := strings.NewReplacer("LINES", string(block[1]), "CLIENTS", clients).Replace(r.program)
			program = strings.NewReplacer("https://waitroom.example", s.proxy.URL, `"integration"`,
				`"`+room+`"`).Replace(program)
			at := t.TempDir()
			if r.fence == "go" { // where the module of the client is known
				at, err = os.MkdirTemp(".", "readme-")
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, os.RemoveAll(at)) })
			}
			file := filepath.Join(at, r.file)
			require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
			requireACode(t, s, room, r.run(at, file))
		})
	}
}

// requireACode waits until a program asks, delivers a code, and requires that the program gets it and ends
// well.
func requireACode(t *testing.T, s *site, room string, cmd *exec.Cmd) {
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = t.Output()
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "ask", lines.Text())
	require.Equal(t, "matched", s.send(room, from, "인증번호 482913"))
	_, err = in.Write([]byte("\n"))
	require.NoError(t, err)
	require.True(t, lines.Scan())
	require.Equal(t, "code 482913", lines.Text())
	require.NoError(t, cmd.Wait())
}

// The packed package has every file that its description names.
func TestTheJavaScriptPackageIsWhole(t *testing.T) {
	const at = "../../clients/js/"
	text, err := os.ReadFile(at + "package.json")
	require.NoError(t, err)
	var p struct {
		Types string
		Files []string
	}
	require.NoError(t, json.Unmarshal(text, &p))
	require.ElementsMatch(t, []string{"waitroom.js", filepath.Base(p.Types), "README.md"}, p.Files)
	for _, file := range p.Files {
		require.FileExists(t, at+file)
	}
}
