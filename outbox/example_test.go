package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/waitroom/waitroom/outbox"
)

// shop is a program of its own: a paid order is packed, then shipped when the carrier comes, then the
// customer gets a mail.
type shop struct {
	db      *sql.DB
	tasks   *outbox.Store
	carrier bool // the carrier has come
	mail    bool // server is up
}

// pay records a payment and enqueues the tasks that follow from it, in one transaction.
func (s *shop) pay(ctx context.Context, order string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `UPDATE orders SET state = 'paid' WHERE id = ?`, order); err != nil {
		return err
	}
	if err := outbox.Enqueue(ctx, tx, outbox.SQLite,
		outbox.Task{Kind: "order", Key: order, Payload: order, Phase: "pack"}); err != nil {
		return err
	}
	return tx.Commit()
}

// pack changes the order and ends its phase in one transaction, so that no crash makes it pack an order
// twice.
func (s *shop) pack(ctx context.Context, t outbox.Task) (outbox.Phase, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `UPDATE orders SET state = 'packed' WHERE id = ?`, t.Payload); err != nil {
		return "", err
	}
	if err := s.tasks.UnlockTx(ctx, tx, t, "ship"); err != nil {
		return "", err
	}
	fmt.Println("packed", t.Payload)
	return outbox.Settled, tx.Commit()
}

// ship waits for a carrier, which another company sends.
func (s *shop) ship(_ context.Context, t outbox.Task) (outbox.Phase, error) {
	if !s.carrier {
		fmt.Println("no carrier yet for", t.Payload)
		return "", outbox.ErrNotReady
	}
	fmt.Println("shipped", t.Payload)
	return "mail", nil
}

// notify may fail. Then this phase alone is retried, and the order is not shipped twice.
func (s *shop) notify(_ context.Context, t outbox.Task) (outbox.Phase, error) {
	if !s.mail {
		fmt.Println("mail is down")
		return "", errors.New("mail is down")
	}
	fmt.Println("wrote to the customer of", t.Payload)
	return outbox.Done, nil
}

// A paid order is packed, shipped and mailed about, phase by phase. In a real program Worker.Run ticks every
// second; here the example calls Tick.
func Example_order() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir,
		"shop.db")+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(`CREATE TABLE orders (id TEXT, state TEXT); INSERT INTO orders
		VALUES ('order-7', 'new');` + outbox.Schema(outbox.SQLite)); err != nil {
		panic(err)
	}

	now := time.Now() // a clock to set, so that this example need not wait
	s := &shop{db: db, tasks: outbox.NewStore(db, outbox.SQLite,
		outbox.StoreConfig{Now: func() time.Time { return now }})}
	worker, err := outbox.NewWorker(outbox.Config{Store: s.tasks, Kinds: map[string]outbox.Kind{
		"order": {Do: outbox.Phases{"pack": s.pack, "ship": s.ship, "mail": s.notify}.Do},
	}})
	if err != nil {
		panic(err)
	}

	if err := s.pay(ctx, "order-7"); err != nil {
		panic(err)
	}
	for range 3 {
		if err := worker.Tick(ctx); err != nil {
			panic(err)
		}
		now = now.Add(time.Second)
		s.mail, s.carrier = s.carrier, true // the carrier comes first, then the mail server
	}
	// Output:
	// packed order-7
	// no carrier yet for order-7
	// shipped order-7
	// mail is down
	// wrote to the customer of order-7
}

// A task that was given up is a dead letter; an operator retries it once the cause is repaired.
func ExampleStore_Retry() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	if _, err := db.Exec(outbox.Schema(outbox.SQLite)); err != nil {
		panic(err)
	}
	store := outbox.NewStore(db, outbox.SQLite, outbox.StoreConfig{})
	account := "closed"
	worker, err := outbox.NewWorker(outbox.Config{Store: store, Kinds: map[string]outbox.Kind{
		"refund": {Do: func(context.Context, outbox.Task) (outbox.Phase, error) {
			if account == "closed" {
				return "", fmt.Errorf("%w: the account is closed", outbox.ErrGiveUp)
			}
			fmt.Println("refunded")
			return outbox.Done, nil
		}},
	}})
	if err != nil {
		panic(err)
	}
	if err := outbox.Enqueue(ctx, db, outbox.SQLite, outbox.Task{UID: "refund-7", Kind: "refund"}); err != nil {
		panic(err)
	}
	_ = worker.Tick(ctx)
	dead, _ := store.Dead(ctx, "refund")
	fmt.Println(dead[0].UID, "is dead:", dead[0].LastError)

	account = "open"
	if err := store.Retry(ctx, dead[0].ID); err != nil {
		panic(err)
	}
	_ = worker.Tick(ctx)
	// Output:
	// refund-7 is dead: given up: the account is closed
	// refunded
}
