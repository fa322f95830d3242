package sms

import "errors"

// Errors of a request, in the order of the checks. Callers compare with errors.Is.
var (
	ErrNotConfigured  = errors.New("there is no secret to check messages by")
	ErrSignature      = errors.New("signature does not match")
	ErrInvalidJSON    = errors.New("body is not one JSON object")
	ErrInvalidMessage = errors.New("message is not valid")

	ErrUnknownSource = errors.New("the room has no such source")
	// a delivery report or a ping is answered and has no further effect
	ErrIgnored = errors.New("signed, and no inbound SMS")
)

// IgnoredEvent is ErrIgnored with the name of the event, as the source calls it.
type IgnoredEvent struct{ Name string }

// Ignored returns the error of a request that is no inbound SMS.
func Ignored(event string) error { return &IgnoredEvent{event} }

func (e *IgnoredEvent) Error() string { return ErrIgnored.Error() }

// Unwrap returns ErrIgnored.
func (e *IgnoredEvent) Unwrap() error { return ErrIgnored }

// SignatureFault is ErrSignature of a source, with a hint. It repeats nothing of the request and no secret.
type SignatureFault struct{ Hint string }

func (f *SignatureFault) Error() string { return ErrSignature.Error() + ": " + f.Hint }

// Unwrap returns ErrSignature.
func (f *SignatureFault) Unwrap() error { return ErrSignature }

// Fault is ErrInvalidJSON or ErrInvalidMessage with a remedy. It repeats nothing of the message.
type Fault struct {
	kind   error
	ko, en string
}

// Error returns the fault in English.
func (f *Fault) Error() string { return f.kind.Error() + ": " + f.en }

// Unwrap returns ErrInvalidJSON or ErrInvalidMessage.
func (f *Fault) Unwrap() error { return f.kind }

// Detail returns the remedy in Korean ("ko") or English.
func (f *Fault) Detail(lang string) string {
	if lang == "ko" {
		return f.ko
	}
	return f.en
}

var (
	faultJSON = &Fault{ErrInvalidJSON, `본문에 JSON 객체 하나를 압축하지 않고 UTF-8로 보내 주세요. 예: {"message_id":"m-1","text":"…"}`,
		`Send one JSON object in UTF-8 as the body, not compressed, such as {"message_id":"m-1","text":"…"}.`}
	faultID = &Fault{ErrInvalidMessage, "message_id를 1~128자의 글자나 숫자로 보내 주세요. 같은 문자를 다시 보낼 때는 같은 값이어야 해요.",
		"Give message_id as a number or a string of 1 to 128 printable characters: the same one whenever the " +
			"same SMS is sent again."}
	faultFrom = &Fault{ErrInvalidMessage, "from은 문자열이나 숫자예요. 모르면 빼고 보내 주세요.",
		"Give from as a string or a number, or leave it out."}
	faultTo = &Fault{ErrInvalidMessage, "to에 문자를 받은 번호를 문자열이나 숫자로 보내 주세요. 모르면 빼고 보내 주세요.",
		"Give as to the number that received the SMS, as a string or a number, or leave it out."}
	faultText = &Fault{ErrInvalidMessage, "text에 문자 내용을 문자열로 보내 주세요. 비어 있으면 안 돼요.",
		"Give the SMS itself in text, as a string that is not blank."}
	faultSentAt = &Fault{ErrInvalidMessage,
		"sent_at은 2026-11-21T09:30:00.250+09:00처럼 시간대가 있는 RFC 3339나 유닉스 시각(초 또는 밀리초)으로 보내 주세요. 모르면 빼고 보내 주세요.",
		"Give sent_at in RFC 3339 with its offset, such as 2026-11-21T09:30:00.250+09:00, or as unix seconds or " +
			"milliseconds, or leave it out."}
	faultLeapSecond = &Fault{ErrInvalidMessage, "sent_at의 초는 00~59예요. 윤초(60)는 다음 초로 보내 주세요.",
		"Seconds in sent_at go from 00 to 59: give a leap second (60) as the second after it."}
	faultRoom = &Fault{ErrInvalidMessage, "room은 주소에 있는 방과 같아야 해요. 같게 보내거나 빼고 보내 주세요.",
		"Give as room the one in the address, or leave it out."}
	faultPart = &Fault{ErrInvalidMessage, "긴 문자를 나눠 보낼 때는 ref와 함께 parts(1~255)와 part(1~parts)를 숫자로 보내 주세요.",
		"For a piece of a long message give ref, parts (1 to 255) and part (1 to parts), the last two as numbers."}
	faultLong = &Fault{ErrInvalidMessage, "문자 하나가 16KiB를 넘어요. ROOMS_FILE의 필드 이름을 확인해 주세요.",
		"One message is over 16 KiB: check the names of its fields in ROOMS_FILE."}
	faultNoText = &Fault{ErrInvalidMessage, "보내온 내용에 문자 본문이 없어요. 소스의 본문 틀이나 ROOMS_FILE의 필드 이름을 확인해 주세요.",
		"There is no text in what the source sent: check its template, or the names of its fields in ROOMS_FILE."}
)

// Errors of a body whose signature a Source has verified.
var (
	FaultBody = &Fault{ErrInvalidJSON, "본문을 읽을 수 없어요. 소스의 종류와 본문 형식(JSON 또는 폼)을 확인해 주세요.",
		"The body can not be read: check the source's kind, and that it sends JSON or a form."}
	FaultSeveral = &Fault{ErrInvalidMessage, "한 번에 문자가 여러 건 왔어요. ROOMS_FILE에서 each에 목록의 경로를 적어 주세요.",
		"The post has several messages: name the path of their array in each, in ROOMS_FILE."}
	FaultUnconfirmed = &Fault{ErrInvalidMessage, "구독을 확인하지 못했어요. 서버가 SNS에 연결할 수 있는지 보고 다시 요청해 주세요.",
		"The subscription could not be confirmed: check that the server reaches SNS, and request it again."}
	FaultEncrypted = &Fault{ErrInvalidMessage, "문자가 암호화되어 있어요. 앱에서 받은 문자 암호화를 꺼 주세요.",
		"The message is encrypted: turn off the encryption of received messages in the app."}
)

// FaultLacks is the fault of a post without a field that the source's settings name, by the setting's key.
func FaultLacks(key string) *Fault {
	return &Fault{ErrInvalidMessage, "설정의 " + key + "에 적은 필드가 보내온 내용에 없어요. 필드 이름을 확인해 주세요.",
		"The post has no such field as " + key + " of the source's settings names: check the name."}
}
