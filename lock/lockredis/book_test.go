package lockredis_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/lock"
)

// writer makes the pages of books, one at a time for each book.
type writer struct {
	locker lock.Locker
	page   func(ctx context.Context, book string) (string, error)
}

// write does not wait: a caller that comes while a page is made has to come back.
func (w writer) write(ctx context.Context, book string) (page string, err error) {
	key, err := lock.NewKey("book", "progress", book)
	if err != nil {
		return "", err
	}
	return lock.DoValue(ctx, w.locker, key, 0, 120*time.Second,
		func(ctx context.Context, _ int64) (string, error) {
			return w.page(ctx, book)
		})
}

func (w writer) handler() http.Handler {
	gin.SetMode(gin.TestMode)
	g := gin.New()
	g.POST("/books/:book/pages", func(c *gin.Context) {
		switch page, err := w.write(c, c.Param("book")); {
		case errors.Is(err, lock.ErrNotAcquired):
			c.JSON(http.StatusConflict, gin.H{"code": "lock_held", "detail": "지금 다른 페이지를 만들고 있어요. 끝나면 다시 눌러 주세요."})
		case errors.Is(err, lock.ErrInvalidKey):
			c.Status(http.StatusNotFound)
		case err != nil:
			c.Status(http.StatusInternalServerError)
		default:
			c.JSON(http.StatusOK, gin.H{"page": page})
		}
	})
	return g
}

func TestOneAloneGetsTheLockAndItIsFreeAfterwards(t *testing.T) {
	t.Parallel()
	l := newLocker(t, redistest.Shared(t))
	w := writer{l, func(_ context.Context, book string) (string, error) { return "of " + book, nil }}
	page, err := w.write(within(t), "test-book-1")
	require.NoError(t, err)
	require.Equal(t, "of test-book-1", page)
	locked, err := l.IsLocked(within(t), newKey(t, "book", "progress", "test-book-1"))
	require.NoError(t, err)
	require.False(t, locked)
}

func TestOfTenAtOnceExactlyOneSucceeds(t *testing.T) {
	t.Parallel()
	const threads = 10
	var written, refused atomic.Int32
	tried := make(chan struct{}) // closed when all others were refused
	w := writer{newLocker(t, redistest.Shared(t)), func(context.Context, string) (string, error) {
		<-tried
		return "", nil
	}}
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			switch _, err := w.write(within(t), "concurrent-book"); {
			case err == nil:
				written.Add(1)
			case errors.Is(err, lock.ErrNotAcquired):
				if refused.Add(1) == threads-1 {
					close(tried)
				}
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, written.Load())
	require.EqualValues(t, threads-1, refused.Load())
}

func TestFailedWorkReleasesTheLock(t *testing.T) {
	t.Parallel()
	fail := true
	w := writer{newLocker(t, redistest.Shared(t)), func(context.Context, string) (string, error) {
		if fail {
			return "", errMine
		}
		return "", nil
	}}
	_, err := w.write(within(t), "exception-book")
	require.ErrorIs(t, err, errMine)
	fail = false
	_, err = w.write(within(t), "exception-book")
	require.NoError(t, err)
}

func TestCallerWhileAPageIsMadeGets409(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan struct{}), make(chan struct{})
	h := writer{newLocker(t, redistest.Shared(t)), func(_ context.Context, book string) (string, error) {
		if book == "1" {
			close(begun)
			<-finish
		}
		return "of " + book, nil
	}}.handler()
	post := func(path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequestWithContext(within(t), http.MethodPost, path, nil))
		return answer
	}
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- post("/books/1/pages") }()
	<-begun
	second := post("/books/1/pages")
	require.Equal(t, http.StatusConflict, second.Code)
	require.Contains(t, second.Body.String(), `"code":"lock_held"`)
	require.Equal(t, http.StatusOK, post("/books/2/pages").Code, "another book does not wait")
	close(finish)
	done := <-first
	require.Equal(t, http.StatusOK, done.Code)
	require.JSONEq(t, `{"page":"of 1"}`, done.Body.String())
}
