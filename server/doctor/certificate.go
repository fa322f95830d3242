package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"time"
)

const (
	certificateWarned = 21 * 24 * time.Hour // before its end: who renews it by a program has done so by then
	certificateUrgent = 3 * 24 * time.Hour
	connectWithin     = 2 * time.Second
)

// certificate checks what browsers are shown at PUBLIC_URL: its name, its chain and its end. The balancer may
// be installed later, so an address that cannot be reached is no fault.
func (d *doctor) certificate(ctx context.Context) {
	const about, renew = "balancer", "Renew it, and have the balancer read it: systemctl reload haproxy."
	u, err := url.Parse(d.PublicURL)
	if err != nil || u.Scheme != "https" {
		return
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: d.Roots}}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if refused := (*tls.CertificateVerificationError)(nil); errors.As(err, &refused) {
		d.wrong(about, "Give the balancer a certificate for this name, with its chain. "+renew,
			"Browsers refuse the certificate of %s: %v.", d.PublicURL, refused.Err)
		return
	} else if err != nil {
		d.fine(about, "%s cannot be reached from here: its certificate is not checked.", d.PublicURL)
		return
	}
	defer func() { _ = conn.Close() }()
	left := time.Until(endOf(conn.(*tls.Conn).ConnectionState()))
	text := "The certificate of %s is valid for %d days more."
	switch days := int(left / (24 * time.Hour)); {
	case left < certificateUrgent:
		d.wrong(about, renew, text, d.PublicURL, days)
	case left < certificateWarned:
		d.warn(about, renew, text, d.PublicURL, days)
	default:
		d.fine(about, text, d.PublicURL, days)
	}
}

// endOf returns when the first certificate of the chain ends.
func endOf(state tls.ConnectionState) time.Time {
	end := state.VerifiedChains[0][0].NotAfter
	for _, c := range state.VerifiedChains[0][1:] {
		if c.NotAfter.Before(end) {
			end = c.NotAfter
		}
	}
	return end
}
