package hub

import "github.com/waitroom/waitroom/room"

// channels are those on which the replicas of one deployment talk to each other, besides those of rooms.
type channels struct {
	replicas     string // every replica says each probe how it is; only those with watchers listen
	signedOut    string // whose sign-in ended
	joinedDevice string // another browser was let into a session's place
}

func channelsOf(names room.Names) channels {
	return channels{names.Channel("{waitroom}:replicas"), names.Channel("{waitroom}:signed-out"), names.Channel("{waitroom}:joined-device")}
}
