package socket

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheKernelGivesADeadPeerUpInTime(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	there, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = there.Close() }()
	here, err := listener.Accept()
	require.NoError(t, err)
	defer func() { _ = here.Close() }()
	var w wire
	w.attach(struct{ *net.TCPConn }{here.(*net.TCPConn)}, nil) // as a wrapper of the server's hands it over
	w.keepAlive()
	require.NoError(t, w.raw.Control(func(fd uintptr) {
		for option, want := range map[int]int{
			syscall.TCP_KEEPIDLE: 10, syscall.TCP_KEEPINTVL: 2, syscall.TCP_KEEPCNT: 5,
			tcpUserTimeout: 20_000,
		} {
			got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option)
			require.NoError(t, err)
			require.Equal(t, want, got, "option %d", option)
		}
	}))
}
