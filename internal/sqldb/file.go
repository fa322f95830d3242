package sqldb

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// file is the file of an SQLite database, as it was when it was migrated. The zero value is no file. It is
// safe for concurrent use.
type file struct {
	path   string
	opened atomic.Pointer[os.FileInfo]
	asked  atomic.Bool                            // a check in the background runs
	begun  atomic.Pointer[time.Time]              // the last check in the background
	stat   func(path string) (os.FileInfo, error) // nil: os.Stat
}

// checkEvery is the shortest time between two checks in the background.
const checkEvery = 100 * time.Millisecond

func (f *file) look() (os.FileInfo, error) {
	if f.stat != nil {
		return f.stat(f.path)
	}
	return os.Stat(f.path)
}

// note records which file was opened.
func (f *file) note() error {
	if f.path == "" {
		return nil
	}
	info, err := f.look()
	if err != nil {
		return err
	}
	f.opened.CompareAndSwap(nil, &info)
	return nil
}

// same returns an error if the path no longer leads to the file that was opened. What is written to that one
// would be lost with this process.
func (f *file) same() error {
	opened := f.opened.Load()
	if opened == nil {
		return nil
	}
	now, err := f.look()
	if err == nil && !os.SameFile(*opened, now) {
		err = fmt.Errorf("another file is at %s", f.path)
	}
	if err != nil {
		return fmt.Errorf("DATABASE_URL: the file that was opened is no longer there: put it back, or restart "+
			"waitroom, which then goes on with what is there: %w", err)
	}
	return nil
}

// checkFile finds out in the background whether the file is the same, since a lost disk may hang.
func (d *DB) checkFile() {
	last, now := d.file.begun.Load(), time.Now()
	if last != nil && now.Sub(*last) < checkEvery || d.file.opened.Load() == nil ||
		!d.file.asked.CompareAndSwap(false, true) {
		return
	}
	d.file.begun.Store(&now)
	d.probe.aside(func() {
		if err := d.file.same(); err != nil {
			d.circuit.fail(err)
		}
		d.file.asked.Store(false)
	})
}
