package webhook_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/outbox/webhook"
)

// An event is enqueued with the change that caused it, and posted until the receiver accepts it.
func ExampleNew() {
	verifier, err := webhooks.NewWebhook(secret)
	if err != nil {
		panic(err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if verifier.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Printf("%s: %s\n", r.Header.Get("webhook-id"), body)
	}))
	defer other.Close()

	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	if _, err := db.Exec(outbox.Schema(outbox.SQLite)); err != nil {
		panic(err)
	}
	kind, err := webhook.New(webhook.Config{URL: other.URL, Secret: secret})
	if err != nil {
		panic(err)
	}
	worker, err := outbox.NewWorker(outbox.Config{Store: outbox.NewStore(db, outbox.SQLite,
		outbox.StoreConfig{}),
		Kinds: map[string]outbox.Kind{webhook.Kind: kind}})
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	err = outbox.Enqueue(ctx, db, outbox.SQLite, // or within a transaction
		outbox.Task{UID: "evt_1", Kind: webhook.Kind, Key: "order/7", Phase: webhook.Deliver,
			Payload: `{"type":"order.paid"}`},
		outbox.Task{UID: "evt_2", Kind: webhook.Kind, Key: "order/7", Phase: webhook.Deliver,
			Payload: `{"type":"order.shipped"}`})
	if err != nil {
		panic(err)
	}
	if err := worker.Tick(ctx); err != nil {
		panic(err)
	}
	// Output:
	// evt_1: {"type":"order.paid"}
	// evt_2: {"type":"order.shipped"}
}
