package doctor

import (
	"context"
	"net"
	"time"
)

// collectorWithin is the time limit for a connection to the collector.
const collectorWithin = 2 * time.Second

// traces checks whether a configured collector can be reached. The server works without it.
func (d *doctor) traces(ctx context.Context) {
	const about = "traces"
	if !d.Tracing.On() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, collectorWithin)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.Tracing.Address())
	if err != nil {
		d.warn(about, "Is it up, and is it OTEL_EXPORTER_OTLP_ENDPOINT's host and port? By HTTP "+
			"collectors listen on 4318. Requests do not wait for it.",
			"The collector can not be reached, and traces are lost: %v.", err)
		return
	}
	_ = conn.Close()
	d.fine(about, "The collector %s can be reached.", d.Tracing.Address())
}
