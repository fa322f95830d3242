package admission

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsWhatTheControlGroupsAllow(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"a container": {fstest.MapFS{"proc/self/cgroup": file("0::/\n"),
			"sys/fs/cgroup/memory.max": file("536870912\n")}, 512 << 20},
		"a unit": {fstest.MapFS{"proc/self/cgroup": file("0::/system.slice/waitroom.service\n"),
			"sys/fs/cgroup/system.slice/waitroom.service/memory.max": file("1000\n"),
			"sys/fs/cgroup/system.slice/memory.max":                  file("max\n")}, 1000},
		"a group above it": {fstest.MapFS{"proc/self/cgroup": file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/memory.max": file("1000\n"), "sys/fs/cgroup/a/memory.max": file("900\n")},
			900},
		"no limit": {fstest.MapFS{"proc/self/cgroup": file("0::/a\n"),
			"sys/fs/cgroup/a/memory.max": file("max\n")}, 0},
		"version 1":      {fstest.MapFS{"proc/self/cgroup": file("4:memory:/a\n")}, 0},
		"no such system": {fstest.MapFS{}, 0},
	} {
		require.Equal(t, c.want, memoryAllowed(c.files), name)
	}
}
