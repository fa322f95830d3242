//go:build linux || darwin

package doctor

import "syscall"

// freeOn returns how many bytes the disk of a directory has for programs that do not run as root; -1 = not
// known.
func freeOn(dir string) int64 {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil || disk.Blocks == 0 {
		return -1
	}
	return int64(disk.Bavail) * int64(disk.Bsize) // of other types on other systems
}
