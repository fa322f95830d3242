//go:build !unix

package admission

import "net"

// FileLimit is not known here.
func FileLimit() uint64 { return 0 }

func fileOf(net.Conn) uint64 { return 0 }
