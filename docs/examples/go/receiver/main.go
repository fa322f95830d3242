// Receiver takes webhooks at the address in ADDR, signed with WAITROOM_WEBHOOK_SECRET: go run
// ./docs/examples/go/receiver.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	signed, err := webhooks.NewWebhook(os.Getenv("WAITROOM_WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("ADDR"), "127.0.0.1:9000"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, receive(signed)))
}

func receive(signed *webhooks.Webhook) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = signed.Verify(body, r.Header) // also that it is not older than five minutes
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		var event struct{ Type string }
		if err := json.Unmarshal(body, &event); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		// Delivery is at least once: store each webhook-id, and ignore one that is stored already.
		fmt.Println(r.Header.Get("webhook-id"), event.Type)
		w.WriteHeader(http.StatusNoContent)
	}
}
