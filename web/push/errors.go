package push

import (
	"errors"
	"fmt"

	"github.com/waitroom/waitroom/room"
)

// The refusals, and the outcomes of a message.
var (
	ErrInvalid = errors.New("subscription is not valid")
	ErrGone    = errors.New("there is no such subscription any more")
	ErrRefused = errors.New("push service refuses the message")
	ErrLater   = errors.New("push service takes nothing now")
)

// The reasons why a subscription is invalid. None repeats it.
var (
	errEndpoint       = errors.New("endpoint is no https address on port 443")
	errEndpointLength = fmt.Errorf("endpoint is longer than %d bytes", maxEndpoint)
	errInternal       = errors.New("endpoint is of no public network")
	errPoint          = errors.New("p256dh is no point of P-256, uncompressed and in base64url")
	errAuth           = fmt.Errorf("auth is not %d bytes in base64url", authBytes)
	errKey            = errors.New("key in the store is none")
	errKept           = errors.New("what is kept can not be read")
)

// stored marks an error of the store.
func stored(err error) error { return fmt.Errorf("%w: push: %w", room.ErrStore, err) }
