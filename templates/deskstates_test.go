package templates_test

import (
	"fmt"
	"testing"
	"time"
)

func busyDesk(t *testing.T) *fakeDesk {
	d := startFakeDesk(t, 3214)
	for i := 3; i < 3214; i += 9 {
		d.line[i].away = time.Now().Add(-time.Duration(20+i%200) * time.Second).UnixMilli()
	}
	d.rooms = manyRooms(400)
	d.beside = []object{{"type": "items", "reset": true, "set": list{lateMessage(1)}}, minutesFrame(),
		{"type": "replicas", "list": list{replica("a", "ok", "ok"), replica("b", "ok", "ok")}},
		{"type": "sources", "reset": true, "set": list{phone("phone-2", time.Now().Add(-time.Minute), 3200),
			phone("twilio", time.Time{}, 0)}}}
	return d
}

// pausedDesk returns a fake desk that kim paused for a reason.
func pausedDesk(t *testing.T, reason string, at time.Time) *fakeDesk {
	d := busyDesk(t)
	d.paused = true
	pause := object{"key": "1", "who": "kim", "reason": reason, "at": at.UnixMilli()}
	d.beside = append(d.beside, object{"type": "pause", "reset": true, "set": list{pause}})
	return d
}

// phone returns the panel of an SMS source: when it was last heard, and by how many milliseconds its clock is
// behind.
func phone(name string, heard time.Time, behind int) object {
	kind, at := "android-sms-gateway", int64(0)
	if name == "twilio" {
		kind = name
	}
	if !heard.IsZero() {
		at = heard.UnixMilli()
	}
	return object{"key": name, "kind": kind, "heard_at": at, "clock_ms": behind, "events": object{"sms:sent": 3}}
}

func troubledDesk(t *testing.T) *fakeDesk {
	d := busyDesk(t)
	for i := range d.line {
		d.line[i].away = time.Now().Add(-time.Duration(20+i%200) * time.Second).UnixMilli()
	}
	d.holder = nil
	d.beside[0] = object{"type": "items", "reset": true, "set": list{unowned(2), lateMessage(1), incident(3),
		unowned(4)}}
	d.beside[2] = object{"type": "replicas",
		"list": list{replica("a", "ok", "behind"), replica("b", "stale", "ok")}}
	return d
}

func manyRooms(n int) list {
	rooms := make(list, 0, n)
	now := time.Now()
	for i := range n {
		room := object{"room": fmt.Sprintf("market-%04d", i), "paused": false, "holder": sellerName(i),
			"expires_at": now.Add(time.Duration(i%120) * time.Second).UnixMilli(),
			"waiting":    i * 7 % 40, "away": i % 5, "oldest": now.Add(
				-time.Duration(i*37%4000) * time.Second).UnixMilli(), "handoffs": i % 4, "trouble": list{}}
		switch {
		case i%40 == 0 && n > 10:
			room["trouble"], room["holder"], room["expires_at"], room["waiting"] = list{"stuck", "nobodys"}, nil, nil,
				i%17+3
		case i%55 == 0 && n > 10:
			room["trouble"], room["paused"] = list{"paused"}, true
		case i%70 == 0 && n > 10:
			room["trouble"] = list{"expired"}
		case i%3 == 0:
			room["holder"], room["expires_at"], room["waiting"], room["oldest"] = nil, nil, 0, 0
		}
		rooms = append(rooms, room)
	}
	return rooms
}

func unowned(i int64) object {
	now := time.Now()
	at := func(seconds int) int64 { return now.Add(-time.Duration(seconds) * time.Second).UnixMilli() }
	return object{"key": fmt.Sprintf("m:%d", i), "kind": "message", "at": at(int(i) * 50),
		"message_id": fmt.Sprintf("id-%d", i), "result": "unmatched",
		"reason": "ambiguous", "text": "[쿠팡] 인증번호 ●●●●●● 을 입력해 주세요", "from": "●●●●1234", "sent_at": at(
			int(i)*50 + 2), "code": true, "ticket": 0, "fence": 0,
		"offered": false, "assignable": true, "could": list{
			object{"fence": 101, "ticket": 41, "seller_id": "s-41", "granted_at": at(300), "ended_at": at(200),
				"asked_at": at(250), "live": false},
			object{"fence": 102, "ticket": 42, "seller_id": "판매자-42", "granted_at": at(200), "ended_at": 0,
				"asked_at": at(150), "live": true},
		}}
}

func lateMessage(i int64) object {
	at := time.Now().Add(-4 * time.Minute).UnixMilli()
	return object{"key": fmt.Sprintf("m:late-%d", i), "kind": "message", "at": at, "message_id": "late",
		"result": "late", "reason": "", "text": "인증번호 ●●●●",
		"from": "●●●●8800", "sent_at": nil, "code": true, "ticket": 12, "fence": 99, "offered": false,
		"assignable": false, "could": list{}}
}

func incident(i int64) object {
	return object{"key": fmt.Sprintf("i:carrier_clock:%d", i), "kind": "incident",
		"at": time.Now().Add(-time.Minute).UnixMilli(), "incident": "carrier_clock",
		"ticket": 0, "fence": 0, "subject": "9", "detail": "83 s"}
}

func minutesFrame() object {
	last := time.Now().Truncate(time.Minute)
	set := list{}
	for i := range 60 {
		n := 59 - i
		set = append(set,
			object{"key": ticketWord(int64(i)), "at": last.Add(-time.Duration(n) * time.Minute).UnixMilli(),
				"depth": 2000 + i*20 + (i*i)%170, "granted": 20 + i%9,
				"wait_p50": 200_000 + i*4000, "wait_p95": 500_000 + i*9000 + (i%7)*20_000, "delay_p50": 2 + i%3,
				"delay_p95": 6 + (i*i)%23,
				"outcomes": object{"completed": 14 + i%6, "cancelled": i % 4, "expired": i % 3, "forced": i % 17 / 16,
					"dropped": i % 5 / 4}})
	}
	return object{"type": "minutes", "reset": true, "set": set}
}

// Pictures of an agent's actions in a room.
