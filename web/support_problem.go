package web

import "github.com/gin-gonic/gin"

// words are what support is told of a code instead of what a seller is told.
type words struct{ title, ko, en string }

// deskWords are for those codes that mean something else at the desk.
var deskWords = map[string]words{
	"invalid_json": {"Body is not one JSON object",
		"본문에 JSON 객체 하나를 보내 주세요. 예: {\"fence\":1795220000000001,\"reason\":\"판매자 요청\"}",
		"Send one JSON object as the body, such as {\"fence\":1795220000000001,\"reason\":\"the seller asked\"}."},
	"invalid_reason": {"Reason is not valid",
		"사유를 1~200자로 적어 주세요.", "Say why in reason: a text of 1 to 200 characters."},
	"invalid_fence": {"Fence is not valid",
		"fence는 화면에 보이는 차례의 양의 정수예요.", "Give the positive integer that the lease is shown with."},
	"invalid_message": {"Message id is not valid",
		"message_id에 문자의 ID를 1~128자로 보내 주세요.", "Give the id of a message in message_id: a text of 1 to 128 characters."},
	"cross_site": {"Request comes from another site",
		"다른 사이트에서 온 요청이라 받지 않았어요. 고객센터 화면에서 직접 눌러 주세요.",
		"This came from another site. Use the desk's own pages; no other site may act here."},
	"no_message": {"There is no such message",
		"이 방에 그런 문자가 없거나 너무 오래됐어요.", "This room has no such message, or it is too old to be given to anybody."},
	"stale_fence": {"Fence is not a live lease's",
		"그 차례는 이미 끝났어요. 아무것도 바뀌지 않았어요. 지금 화면을 다시 확인해 주세요.",
		"That lease is over. Nothing was changed: look at the room again."},
	"too_many_requests": {"Too many wrong tries",
		"틀린 시도가 너무 많았어요. 잠시 뒤 다시 해 주세요.", "There were too many wrong tries. Wait as long as Retry-After says."},
	"internal": {"Something went wrong here",
		"저희 쪽에 문제가 생겼어요. 화면을 다시 확인한 뒤 눌러 주세요.",
		"This is our fault. Look at the room before you ask again, or repeat the request with its Idempotency-Key."},
	"store_unavailable": {"Store cannot be reached",
		"지금은 저장소에 닿지 않아요. 됐는지 알 수 없으니 화면을 확인한 뒤 다시 눌러 주세요.",
		"Whether it was done is not known. Look at the room, or repeat the request with its Idempotency-Key."},
}

// ledgerWords are for an assignment that the ledger refused: unlike what else is not_possible, that did something.
var ledgerWords = words{"Ledger refused the message for that lease",
	"기록(원장)이 거절해서 이 문자는 누구의 것도 아니에요. 진행 중이던 차례는 이 일로 끝났어요(인증번호가 와도 끝나지 않는 설정이 아니라면). 화면을 다시 확인해 주세요.",
	"The ledger refused it, so the message belongs to nobody. A lease that was live has ended by it, unless codes end no lease here: look at the room again."}

func (p problem) in(w words) problem {
	p.title, p.ko, p.en = w.title, w.ko, w.en
	return p
}

// problemOf is what is said about a code to whoever asks here.
func problemOf(c *gin.Context, code string) problem {
	p := problems[code]
	if w, ok := deskWords[code]; ok && inSupport(c.Request.URL.Path) {
		p = p.in(w)
	}
	return p
}
