// Package clients has generated clients of Go make one call of every kind. scripts/check.sh generates them.
package clients

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"clients/oapi"
	"clients/ogen"
)

var server = os.Getenv("WAITROOM")

// caller sends a client's requests: as a session, or as the carrier, which signs the body.
type caller struct{ session string }

func (c caller) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	switch {
	case strings.HasSuffix(r.URL.Path, "/sms"):
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WAITROOM_SMS_WEBHOOK_SECRET"), "whsec_"))
		if err != nil {
			return nil, err
		}
		mac := hmac.New(sha256.New, secret)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
		r.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		r.Body = io.NopCloser(bytes.NewReader(body))
	case strings.HasPrefix(r.URL.Path, "/api/support/"):
		r.Header.Set("Authorization", "Bearer "+os.Getenv("SUPPORT_TOKEN"))
	default:
		r.Header.Set("X-Session-ID", c.session)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// want ends the test unless a value of an answer is as wanted.
func want[T comparable](t *testing.T, got, wanted T, answer any) {
	t.Helper()
	if got != wanted {
		text, _ := json.Marshal(answer)
		t.Fatalf("got %v, want %v: %T %s", got, wanted, answer, text)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(answer T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

func now() string { return fmt.Sprint(time.Now().Unix()) }

func TestOapiCodegen(t *testing.T) {
	const room = "room:oapi"
	ctx := context.Background()
	open := func() *oapi.ClientWithResponses {
		return must[*oapi.ClientWithResponses](t)(oapi.NewClientWithResponses(server,
			oapi.WithHTTPClient(&http.Client{Transport: caller{uuid.NewString()}})))
	}
	holder, waiter, seller := open(), open(), "s-1"
	joined := must[*oapi.JoinResponse](t)(holder.JoinWithResponse(ctx, room, &oapi.JoinParams{},
		oapi.JoinRequest{SellerId: &seller}))
	want(t, joined.JSON200 != nil, true, joined)
	fence := joined.JSON200.Fence
	seller = "s-2"
	waits := must[*oapi.JoinResponse](t)(waiter.JoinWithResponse(ctx, room, &oapi.JoinParams{},
		oapi.JoinRequest{SellerId: &seller}))
	want(t, waits.JSON202 != nil && waits.JSON202.QueuePosition == 1, true, waits)
	here := true
	status := must[*oapi.StatusResponse](t)(waiter.StatusWithResponse(ctx, room, &oapi.StatusParams{Here: &here}))
	want(t, must[string](t)(status.JSON200.Me.Discriminator()), "waiting", status)

	key, contains := "key-1", "인증"
	asked := must[*oapi.ExpectResponse](t)(holder.ExpectWithResponse(ctx, room, &oapi.ExpectParams{IdempotencyKey: &key},
		oapi.ExpectRequest{Fence: fence, Contains: &contains}))
	want(t, asked.JSON200 != nil && asked.JSON200.Open == 1, true, asked)
	message := oapi.Message{Text: "인증번호 482913"}
	want(t, message.From.FromMessageFrom1(15881234), nil, message)
	want(t, message.MessageId.FromMessageMessageId1(1), nil, message)
	sms := must[*oapi.ReceiveSMSResponse](t)(holder.ReceiveSMSWithResponse(ctx, room,
		&oapi.ReceiveSMSParams{WebhookId: "1", WebhookTimestamp: now()}, message))
	want(t, must[string](t)(sms.JSON200.Discriminator()), "matched", sms)
	wait := 5
	messages := must[*oapi.MessagesResponse](t)(holder.MessagesWithResponse(ctx, room, &oapi.MessagesParams{Wait: &wait}))
	want(t, len(messages.JSON200.Messages) == 1 && *messages.JSON200.Messages[0].Code == "482913", true, messages)
	reason := oapi.LeaveParamsReason("completed")
	left := must[*oapi.LeaveResponse](t)(holder.LeaveWithResponse(ctx, room,
		&oapi.LeaveParams{Reason: &reason, Fence: &fence}, oapi.SessionRequest{}))
	want(t, must[string](t)(left.JSON200.Discriminator()), "released", left)
	refused := must[*oapi.LeaveResponse](t)(holder.LeaveWithResponse(ctx, room, &oapi.LeaveParams{},
		oapi.SessionRequest{}))
	want(t, refused.ApplicationproblemJSON404 != nil && refused.ApplicationproblemJSON404.Code == "no_place", true,
		refused)

	paused := must[*oapi.PauseResponse](t)(holder.PauseWithResponse(ctx, room, &oapi.PauseParams{},
		oapi.ReasonRequest{Reason: "a try"}))
	want(t, paused.JSON200 != nil && paused.JSON200.Ticket == nil, true, paused)
	limit := 10
	history := must[*oapi.HistoryResponse](t)(holder.HistoryWithResponse(ctx, room, &oapi.HistoryParams{Limit: &limit}))
	want(t, history.JSON200 != nil, true, history)
	metrics := must[*oapi.MetricsResponse](t)(holder.MetricsWithResponse(ctx))
	want(t, metrics.StatusCode(), 200, metrics)
}

// keys proves nothing by itself: caller does.
type keys struct{}

func (keys) Bearer(context.Context, ogen.OperationName) (v ogen.Bearer, err error)   { return }
func (keys) Session(context.Context, ogen.OperationName) (v ogen.Session, err error) { return }
func (keys) SessionCookie(context.Context, ogen.OperationName) (v ogen.SessionCookie, err error) {
	return
}
func (keys) SupportCookie(context.Context, ogen.OperationName) (v ogen.SupportCookie, err error) {
	return
}
func (keys) SupportToken(context.Context, ogen.OperationName) (v ogen.SupportToken, err error) {
	return
}

// is returns an answer as one of its types, and ends the test if it is another.
func is[T any](t *testing.T, answer any, err error) T {
	t.Helper()
	found, ok := answer.(T)
	want(t, err, nil, answer)
	want(t, ok, true, answer)
	return found
}

func TestOgen(t *testing.T) {
	const room = "room:ogen"
	ctx := context.Background()
	open := func() *ogen.Client {
		return must[*ogen.Client](t)(ogen.NewClient(server, keys{},
			ogen.WithClient(&http.Client{Transport: caller{uuid.NewString()}})))
	}
	holder, waiter := open(), open()
	join := func(c *ogen.Client, seller ogen.SellerID) (ogen.JoinRes, error) {
		return c.Join(ctx, &ogen.JoinRequest{SellerID: ogen.NewOptSellerID(seller)}, ogen.JoinParams{Room: room})
	}
	joined, err := join(holder, "s-1")
	fence := is[*ogen.Locked](t, joined, err).Fence
	joined, err = join(waiter, "s-2")
	want(t, is[*ogen.Waiting](t, joined, err).QueuePosition, 1, joined)
	status, err := waiter.Status(ctx, ogen.StatusParams{Room: room, Here: ogen.NewOptBool(true)})
	want(t, is[*ogen.Status](t, status, err).Me.Value.Type, ogen.WaitingStanding, status)

	asked, err := holder.Expect(ctx, &ogen.ExpectRequest{Fence: fence, Contains: ogen.NewOptString("인증")},
		ogen.ExpectParams{Room: room, IdempotencyKey: ogen.NewOptString("key-1")})
	want(t, is[*ogen.Expecting](t, asked, err).Open, 1, asked)
	sms, err := holder.ReceiveSMS(ctx, &ogen.Message{Text: "인증번호 482913",
		MessageID: ogen.NewIntMessageMessageID(1), From: ogen.NewIntMessageFrom(15881234)},
		ogen.ReceiveSMSParams{Room: room, WebhookID: "1", WebhookTimestamp: now()})
	want(t, is[*ogen.Attribution](t, sms, err).Attributed.Result, "matched", sms)
	messages, err := holder.Messages(ctx, ogen.MessagesParams{Room: room, Wait: ogen.NewOptInt(5)})
	want(t, is[*ogen.Messages](t, messages, err).Messages[0].Code.Value, "482913", messages)
	leave := func(params ogen.LeaveParams) (ogen.LeaveRes, error) {
		params.Room = room
		return holder.Leave(ctx, ogen.OptSessionRequest{}, params)
	}
	left, err := leave(ogen.LeaveParams{Reason: ogen.NewOptLeaveReason("completed"), Fence: ogen.NewOptFence(fence)})
	want(t, is[*ogen.Left](t, left, err).Type, ogen.ReleasedLeft, left)
	left, err = leave(ogen.LeaveParams{})
	want(t, is[*ogen.LeaveNotFound](t, left, err).Code, "no_place", left)

	paused, err := holder.Pause(ctx, &ogen.ReasonRequest{Reason: "a try"}, ogen.PauseParams{Room: room})
	want(t, is[*ogen.Done](t, paused, err).Ticket.Null, true, paused)
	history, err := holder.History(ctx, ogen.HistoryParams{Room: room, Limit: ogen.NewOptInt(10)})
	is[*ogen.History](t, history, err)
	metrics, err := holder.Metrics(ctx)
	is[ogen.MetricsOK](t, metrics, err)
}
