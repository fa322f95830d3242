package lock_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/waitroom/waitroom/lock"
	"github.com/waitroom/waitroom/lock/locktest"
)

// ErrBeingWritten is an error of the domain: its callers do not import the lock.
var ErrBeingWritten = errors.New("a page of this book is being written")

// Page is the result of the work.
type Page struct {
	Book   string `json:"book"`
	Number int    `json:"number"`
}

// Writer writes the pages of books, one at a time for each book. A page takes a while and costs money, so a
// second caller gets an error instead of waiting.
type Writer struct {
	Locker lock.Locker
	Pages  map[string]int
	Begun  chan struct{} // for this example: a page is being written
	Finish chan struct{} // and may be finished
}

func (w *Writer) Write(ctx context.Context, book string) (Page, error) {
	key, err := lock.NewKey("book", "progress", book)
	if err != nil {
		return Page{}, err
	}
	page, err := lock.DoValue(ctx, w.Locker, key, 0, 2*time.Minute, func(context.Context, int64) (Page, error) {
		if book == "1" {
			w.Begun <- struct{}{}
			<-w.Finish
		}
		w.Pages[book]++
		return Page{book, w.Pages[book]}, nil
	})
	if errors.Is(err, lock.ErrNotAcquired) {
		return Page{}, fmt.Errorf("book %s: %w", book, ErrBeingWritten)
	}
	return page, err
}

func (w *Writer) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	page, err := w.Write(r.Context(), r.PathValue("book"))
	switch {
	case errors.Is(err, ErrBeingWritten):
		rw.Header().Set("Content-Type", "application/problem+json")
		rw.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(rw).Encode(map[string]string{"code": "lock_held", "detail": err.Error()})
	case err != nil:
		http.Error(rw, "the page was not written", http.StatusInternalServerError)
	default:
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(page)
	}
}

// A web server answers 409 while the work is being done.
func ExampleDoValue_http() {
	w := &Writer{Locker: locktest.NewFake(), Pages: map[string]int{}, Begun: make(chan struct{}),
		Finish: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("POST /books/{book}/pages", w)
	post := func(path string) string {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, nil))
		return fmt.Sprint(answer.Code, " ", strings.TrimSpace(answer.Body.String()))
	}

	first := make(chan string)
	go func() { first <- post("/books/1/pages") }()
	<-w.Begun
	fmt.Println(post("/books/1/pages"))
	fmt.Println(post("/books/2/pages"))
	close(w.Finish)
	fmt.Println(<-first)
	// Output:
	// 409 {"code":"lock_held","detail":"book 1: a page of this book is being written"}
	// 200 {"book":"2","number":1}
	// 200 {"book":"1","number":1}
}
