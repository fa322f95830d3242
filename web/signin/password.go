package signin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// longest is the part of a password that bcrypt reads; it would accept longer ones with the same beginning.
const longest = 72

// SignIn checks a password and begins a session; token is the credential. Address is the client's, for the
// limit. Refusals: ErrWrong, Limited. Other errors are the store's.
func (d *Desk) SignIn(ctx context.Context, name, password, address string) (token string, agent Agent,
	err error) {
	if !d.ByPassword() {
		return "", Agent{}, ErrWrong
	}
	t, err := d.count(ctx, name, address)
	if err != nil {
		return "", Agent{}, err
	}
	s := session{Name: name, Role: Act, How: byPassword}
	if d.takesOneTime() {
		s.How = byOneTime
	}
	s.By = d.by(name, s.How)
	token, agent, err = d.check(ctx, s, password)
	if errors.Is(err, ErrWrong) {
		d.audit(ctx, d.known(name), address, "sign_in_failed", "wrong name or password")
		return "", Agent{}, err
	}
	d.giveBack(ctx, t)
	if err != nil {
		return "", Agent{}, err
	}
	d.audit(ctx, name, address, "signed_in", "by "+s.How)
	return token, agent, nil
}

// check begins the session if the password is right. ErrWrong leaves the try counted.
func (d *Desk) check(ctx context.Context, s session, password string) (token string, agent Agent, err error) {
	if s.How == byOneTime {
		return d.useOneTime(ctx, s, password)
	}
	if err := d.verify(ctx, s.Name, password); err != nil {
		return "", Agent{}, err
	}
	return d.begin(ctx, s)
}

// verify takes the same time for an unknown name. Few checks run at once; after a long wait it returns
// Limited without comparing.
func (d *Desk) verify(ctx context.Context, name, password string) error {
	turn, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	if d.hashing.Acquire(turn, 1) != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.cfg.Log.WarnContext(ctx, "too many passwords to check at once", "waited", d.patience)
		return Limited{d.patience}
	}
	defer d.hashing.Release(1)
	hash, known := d.cfg.Users[name]
	if !known {
		hash = d.decoy(name)
	}
	fits := d.compare([]byte(hash), []byte(password)) == nil
	if !fits || !known || len(password) > longest {
		return ErrWrong
	}
	return nil
}

// known returns a name that may be recorded.
func (d *Desk) known(name string) string {
	if _, is := d.cfg.Users[name]; is || (d.takesOneTime() && name == oneTimeName) {
		return name
	}
	return "?"
}

// decoy returns the hash that an unknown name's password is compared with. It depends on the name alone, so
// that users whose hashes differ in cost do not stand out.
func (d *Desk) decoy(name string) string {
	sum := 0
	for _, c := range d.masked(name) {
		sum += int(c)
	}
	return d.decoys[sum%len(d.decoys)]
}

func decoysOf(users map[string]string) []string {
	var decoys []string
	for _, name := range slices.Sorted(maps.Keys(users)) {
		cost, err := bcrypt.Cost([]byte(users[name]))
		if err != nil { // no password matches it anyway
			cost = bcrypt.DefaultCost
		}
		decoys = append(decoys, fmt.Sprintf("$2a$%02d$%s", cost, strings.Repeat(".", 53)))
	}
	return decoys
}

// atOnce is the number of concurrent password checks. Each takes a core for a good part of a second, and
// sellers need some too.
func atOnce() int64 { return int64(min(4, max(1, runtime.GOMAXPROCS(0)/2))) }
