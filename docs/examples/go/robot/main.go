// Robot takes a turn, asks for a code, uses it and gives the turn back: go run ./docs/examples/go/robot
// [seller id].
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/waitroom/waitroom/client"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	c, err := client.New(cmp.Or(os.Getenv("WAITROOM"), "http://localhost:8080"), client.Config{})
	if err != nil {
		return err
	}
	seller := append(os.Args[1:], "s-1")[0]
	turn, err := c.Join(ctx, cmp.Or(os.Getenv("ROOM"), "integration"), seller)
	if err != nil {
		return err
	}
	for state, err := range turn.Updates(ctx) {
		switch {
		case err != nil:
			return err
		case state.Status == "waiting":
			fmt.Println("waiting", state.Position)
		default:
			fmt.Println(state.Status, state.Fence)
		}
	}
	code, err := turn.Code(ctx, client.Ask(pressSendCode)) // client.From("15881234") names its sender
	if ended, over := errors.AsType[*client.Ended](err); over {
		return fmt.Errorf("no code: the turn is over (%s)", ended.Outcome)
	}
	if err != nil {
		return err
	}
	fmt.Println("code", code.Code) // … enter it at the marketplace …
	if err := turn.Done(ctx); err != nil {
		return err
	}
	fmt.Println("completed")
	return nil
}

// pressSendCode makes the marketplace send the code. It is called once the number is free.
func pressSendCode(context.Context) error {
	fmt.Println("asked")
	return nil
}
