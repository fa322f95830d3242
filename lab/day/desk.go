package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

// signInFor is how many hours support uses one sign-in, which would last eight.
const signInFor = 6

// signIn signs support in. The previous sign-in expires by itself.
func (d *day) signIn(ctx context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	d.support = &http.Client{Jar: jar, Timeout: callTimeout, Transport: d.client.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"username": {supportName}, "password": {d.password}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.replicas[0].URL()+"/support/sign-in",
		strings.NewReader(form))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := d.support.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		return fmt.Errorf("support's sign-in answers %s", resp.Status)
	}
	return nil
}

// act runs one of support's actions.
func (r *room) act(ctx context.Context, action, fields string) error {
	r.count.actions.Add(1)
	if fields != "" {
		fields += ","
	}
	_, err := r.do(ctx, call{method: http.MethodPost, path: "/api/support/" + r.id + "/" + action,
		want: http.StatusOK, client: r.support,
		body:   fmt.Sprintf(`{%s"reason":"day"}`, fields),
		header: http.Header{"Idempotency-Key": {uuid.NewString()}}})
	return err
}
