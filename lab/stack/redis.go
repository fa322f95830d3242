package stack

import (
	"context"
	"net"
	"os"
	"os/exec"
	"time"
)

// Redis starts a redis-server without persistence. It returns when the server answers, with its host:port.
func (s *Stack) Redis(ctx context.Context, args ...string) (c *Child, addr string, err error) {
	return s.RedisWith(ctx, nil, args...)
}

// RedisWith is Redis with more environment variables.
func (s *Stack) RedisWith(ctx context.Context, env []string, args ...string) (c *Child, addr string,
	err error) {
	program, err := Find("redis-server", "scripts/setup.sh load")
	if err != nil {
		return nil, "", err
	}
	if addr, err = Address(); err != nil {
		return nil, "", err
	}
	_, port, _ := net.SplitHostPort(addr)
	args = append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
		s.Dir}, args...)
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	if c, err = s.Launch("redis", cmd); err != nil {
		return nil, "", err
	}
	return c, addr, c.Until(ctx, func() error { return answers(addr) })
}

func answers(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err
}
