package pgtest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// layout is raised when data directories are made in another way.
const layout = 1

// makeData makes the server's data directory. It copies the one that this machine keeps, since initdb takes
// ten times as long.
func (s *server) makeData() error {
	kept, err := s.template()
	if err != nil {
		return s.initData() // there is nowhere to keep it
	}
	err = copyTree(kept, s.data(), s.owner)
	if !errors.Is(err, fs.ErrNotExist) {
		s.kept = kept
		return err
	}
	if err := os.RemoveAll(s.data()); err != nil { // a part, if the template vanished during the copy
		return err
	}
	if err := s.initData("--wal-segsize=1"); err != nil {
		return err
	}
	if err := s.dropTemplate0(); err != nil {
		return err
	}
	s.keep(kept)
	return nil
}

// template returns where this machine keeps a data directory of this version of PostgreSQL.
func (s *server) template() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version, err := s.command("postgres", "--version").Output()
	if err != nil {
		return "", err
	}
	name := strings.Map(func(r rune) rune {
		if r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, strings.TrimSpace(string(version)))
	return filepath.Join(cache, "waitroom-pgtest", fmt.Sprintf("%s-%d", name, layout)), nil
}

// keep stores a copy of the unused data directory as the template, in one step, unless another process was
// faster. If it fails, the next test binary tries again.
func (s *server) keep(kept string) {
	if os.MkdirAll(filepath.Dir(kept), 0o700) != nil {
		return
	}
	made, err := os.MkdirTemp(filepath.Dir(kept), "new")
	if err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(made) }()
	if copyTree(s.data(), filepath.Join(made, "data"), nil) == nil {
		_ = os.Rename(filepath.Join(made, "data"), kept)
	}
}

// copyTree copies files and makes the account their owner.
func copyTree(from, to string, owner *account) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rest)
		if d.IsDir() {
			if err := os.Mkdir(at, 0o700); err != nil {
				return err
			}
			return owner.own(at)
		}
		return copyFile(path, at, owner)
	})
}

func copyFile(from, to string, owner *account) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return owner.own(to)
}

func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

func (s *server) initData(more ...string) error {
	args := append([]string{"-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync"}, more...)
	if out, err := s.command("initdb", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// dropTemplate0 deletes a second, nearly empty database, which is a third of the files.
func (s *server) dropTemplate0() error {
	single := s.command("postgres", "--single", "-D", s.data(), "-c", "fsync=off", "postgres")
	single.Stdin = strings.NewReader("UPDATE pg_database SET datistemplate = false WHERE datname = " +
		"'template0';\nDROP DATABASE template0;\n")
	if out, err := single.CombinedOutput(); err != nil {
		return fmt.Errorf("drop template0: %w\n%s", err, out)
	}
	return nil
}
