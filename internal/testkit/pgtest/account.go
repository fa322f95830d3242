package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is a user of this machine.
type account struct{ uid, gid uint32 }

func lookUp(name string) (*account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("uid of %s: %w", name, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("gid of %s: %w", name, err)
	}
	return &account{uint32(uid), uint32(gid)}, nil
}

func (a *account) credential() *syscall.Credential {
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// tempDir makes a directory that the account can use; nil stands for the user of the test.
//
// The name is short, since a socket's path has room for about 100 bytes. For another account the directory is
// in /tmp, which every account can read.
func tempDir(a *account) (string, error) {
	if a == nil {
		return os.MkdirTemp("", "pg")
	}
	dir, err := os.MkdirTemp("/tmp", "pg")
	if err != nil {
		return "", err
	}
	return dir, os.Chown(dir, int(a.uid), int(a.gid))
}
