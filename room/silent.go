package room

import (
	"context"
	"time"
)

var silentScript = script("silent")

// Silence says for how long nothing was heard of a session whose sockets were asked.
type Silence struct {
	Session string
	For     time.Duration
}

// Silent takes presence back: these sessions were there until they were last heard of, whatever was vouched for since. Who was
// vouched for within `lately` is passed by, since another replica has a socket of it: the caller stops vouching, and says so again
// until that time has passed. At most SeenBatch sessions.
func (e *Engine) Silent(ctx context.Context, id ID, lately time.Duration, silent []Silence) (View, error) {
	args := make([]any, 0, 1+2*len(silent))
	args = append(args, lately.Milliseconds())
	for _, s := range silent {
		args = append(args, s.Session, s.For.Milliseconds())
	}
	st, err := e.standing(ctx, silentScript, id, "silent", args...)
	return st.View, err
}
