package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/lab/stack"
)

// site is a deployment with one replica for sellers and passwords, and one whose desk has a provider.
type site struct {
	*stack.Stack
	rdb          *redis.Client
	sellersURL   string
	providersURL string
}

// providersHost is what the replica with the provider is called.
const providersHost = "desk.example"

// open starts Redis, both replicas, a provider of sign-ins, and a proxy that never answers.
func open(ctx context.Context, root string) (*site, error) {
	base, err := stack.New("waitroom-attack-")
	if err != nil {
		return nil, err
	}
	s := &site{Stack: base}
	program := filepath.Join(s.Dir, "waitroom")
	if err := stack.Build(ctx, root, program); err != nil {
		return s, err
	}
	_, addr, err := s.Redis(ctx)
	if err != nil {
		return s, err
	}
	s.rdb = redis.NewClient(&redis.Options{Addr: addr})
	s.Undo(func() { _ = s.rdb.Close() })
	silent, err := s.silentProxy()
	if err != nil {
		return s, err
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(stack.Random("", 12)), bcrypt.DefaultCost)
	if err != nil {
		return s, err
	}
	shared := []string{"WAITROOM_REDIS_URL=redis://" + addr, "WAITROOM_ROOMS=integration,coupang,x:*",
		"WAITROOM_DATABASE_URL=sqlite:" + filepath.Join(s.Dir, "ledger.db"), "WAITROOM_LOG_LEVEL=error",
		"WAITROOM_SMS_WEBHOOK_SECRET=" + stack.Random("whsec_", 32), "WAITROOM_TRUSTED_PROXIES=127.0.0.1",
		"HTTPS_PROXY=http://" + silent, "NO_PROXY=127.0.0.1"}
	sellers, err := s.Replica(ctx, "sellers", program,
		append(shared, "WAITROOM_SUPPORT_USERS=kim:"+string(hash)))
	if err != nil {
		return s, err
	}
	desk, err := s.Replica(ctx, "desk", program, append(shared, "WAITROOM_PUBLIC_URL=http://"+providersHost,
		"WAITROOM_SUPPORT_OIDC_ISSUER="+s.provider(), "WAITROOM_SUPPORT_OIDC_CLIENT_ID=waitroom",
		"WAITROOM_SUPPORT_OIDC_CLIENT_SECRET=secret", "WAITROOM_SUPPORT_OIDC_ACT_GROUP=act"))
	if err != nil {
		return s, err
	}
	s.sellersURL, s.providersURL = sellers.URL(), desk.URL()
	return s, nil
}

// silentProxy accepts connections and never answers: every push goes through it.
func (s *site) silentProxy() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.Undo(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}()
		}
	}()
	return l.Addr().String(), nil
}

// provider serves what the desk asks a provider of OpenID Connect for: its description and its keys.
func (s *site) provider() string {
	mux := http.NewServeMux()
	at := httptest.NewServer(mux)
	s.Undo(at.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	encode := base64.RawURLEncoding.EncodeToString
	show := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		}
	}
	mux.HandleFunc("/.well-known/openid-configuration", show(map[string]any{"issuer": at.URL,
		"authorization_endpoint": at.URL + "/authorize", "token_endpoint": at.URL + "/token",
		"jwks_uri": at.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}}))
	mux.HandleFunc("/keys", show(map[string]any{"keys": []map[string]string{{"kty": "RSA", "alg": "RS256",
		"use": "sig", "kid": "1", "n": encode(key.N.Bytes()),
		"e": encode(big.NewInt(int64(key.E)).Bytes())}}}))
	return at.URL
}

// measure reads what Redis has in the end.
func (s *site) measure(found *result) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	info, err := s.rdb.Info(ctx, "memory").Result()
	if err != nil {
		return err
	}
	_, used, _ := strings.Cut(info, "used_memory:")
	var bytes float64
	_, err = fmt.Sscan(used, &bytes)
	found.redisMiB = bytes / (1 << 20)
	return err
}

// from returns a client whose connections come from an address of loopback.
func from(address string) *http.Client {
	dialer := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Timeout: 20 * time.Second,
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
