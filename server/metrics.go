package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/waitroom/waitroom/server/admission"
)

// metricsServer serves the metrics on a separate address.
type metricsServer struct {
	listener net.Listener
	http     *http.Server
}

func listenMetrics(addr string, handler http.Handler) (*metricsServer, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, notListening("metrics-addr", addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", handler)
	return &metricsServer{listener: listener,
		http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
			WriteTimeout: 30 * time.Second, IdleTimeout: 60 * time.Second}}, nil
}

// notListening returns the error of an address that a setting names.
func notListening(name, addr string, err error) error {
	return fmt.Errorf("%s is %q: %w: %s", called(name), addr, err, admission.ListenRemedy(err))
}

// run serves until close.
func (m *metricsServer) run() error {
	if err := m.http.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (m *metricsServer) close() {
	_ = m.http.Close()
	_ = m.listener.Close() // if run was never called
}
