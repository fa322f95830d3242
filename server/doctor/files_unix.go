//go:build unix

package doctor

import "syscall"

// fileLimit returns how many files this process may open; 0 = unknown.
func fileLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // signed on some systems
}
