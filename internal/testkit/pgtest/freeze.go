package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Freeze stops the server's processes: connections stay open and get no answer until Thaw or the end of the
// test. It needs /proc.
func (d *DB) Freeze() {
	d.tb.Helper()
	d.tb.Cleanup(d.Thaw)
	if err := d.server.signal(syscall.SIGSTOP); err != nil {
		d.tb.Fatalf("pgtest: freeze: %v", err)
	}
}

// Thaw lets the server go on.
func (d *DB) Thaw() {
	d.tb.Helper()
	if err := d.server.signal(syscall.SIGCONT); err != nil {
		d.tb.Errorf("pgtest: thaw: %v", err)
	}
}

// signal sends the signal to the server before its children, so that a stopped server starts no more of them.
func (s *server) signal(sig syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	s.process.Signal(sig)
	children, err := childrenOf(s.process.Pid())
	for _, pid := range children {
		if err := syscall.Kill(pid, sig); err != nil && err != syscall.ESRCH {
			return err
		}
	}
	return err
}

func childrenOf(parent int) (children []int, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err == nil && len(stats) == 0 {
		err = fmt.Errorf("/proc has no processes")
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …; the name may hold anything
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, err
		}
		children = append(children, pid)
	}
	return children, err
}
