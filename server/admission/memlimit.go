package admission

import (
	"bufio"
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// LimitMemory sets the collector's memory limit to two thirds of what the control group allows. The last
// third is for memory that the limit does not count, such as the kernel's socket buffers, and for bursts.
// GOMEMLIMIT takes precedence.
func LimitMemory(log *slog.Logger) {
	allowed := memoryAllowed(os.DirFS("/"))
	if os.Getenv("GOMEMLIMIT") != "" || allowed == 0 {
		return
	}
	limit := allowed / 3 * 2
	debug.SetMemoryLimit(limit)
	log.Info("memory is kept within two thirds of its limit", "limit", allowed, "kept", limit)
}

// memoryAllowed returns the smallest memory limit, in bytes, of this process's control group (version 2) and
// its parents; 0 = none.
func memoryAllowed(root fs.FS) (least int64) {
	own, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(own)); lines.Scan(); {
		group, ok := strings.CutPrefix(lines.Text(), "0::/")
		for ok {
			text, err := fs.ReadFile(root, path.Join("sys/fs/cgroup", group, "memory.max"))
			limit, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && bad == nil && (least == 0 || limit < least) { // else "max": none
				least = limit
			}
			if ok = group != "" && group != "."; ok {
				group = path.Dir(group)
			}
		}
	}
	return least
}
