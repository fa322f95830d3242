package templates

func koreanDeskLive() DeskLiveText {
	return DeskLiveText{
		Top: DeskTopText{
			Desk: "상담 데스크", Nav: "상담 데스크 메뉴", Rooms: "대기실", Audit: "처리 기록", Deliveries: "알림 전송",
			SignOut: "로그아웃", MayAct: "처리 가능", MayWatch: "보기 전용",
			NeedScript: "이 화면은 실시간이라 자바스크립트가 필요해요. 이력과 처리 기록은 없이도 볼 수 있어요.",
		},
		Rooms: koreanDeskRooms(),
		Room:  koreanDeskRoom(),

		People:  "{n}명",
		ShortMs: "{n}ms", ShortS: "{n}초", ShortM: "{n}분", ShortH: "{n}시간",
		AgeFresh: "방금", AgeOld: "{s}초 전", Connecting: "연결 중",
		BandAge:    "{s}초 전 데이터예요.",
		BandStale:  "새 소식이 들어오지 않아요. 아래는 마지막으로 들은 내용이에요.",
		BandLost:   "연결이 끊겨서 다시 연결하고 있어요. 아래는 마지막으로 들은 내용이에요.",
		BandClosed: "연결이 닫혔어요. 새로고침해 주세요.",

		Troubles: map[string]string{
			"stuck": "줄이 멈춤", "nobodys": "주인 없는 문자", "lost": "데이터 유실", "expired": "시간 초과 잦음", "paused": "일시 정지",
		},
		Calm:       "지금 손댈 일이 없어요",
		Unowned:    "주인 없는 문자 {n}건",
		Incidents:  "확인할 일 {n}건",
		StoreStale: "저장소 응답 없음", Behind: "밀림", LedgerLate: "기록이 밀림", NoAnswer: "응답 없음", Draining: "종료 중", Fine: "정상",
		Free: "지금은 비어 있어요", FreePaused: "멈춰 있어서 아무에게도 차례를 주지 않아요", FreeEmpty: "기다리는 분이 없어요",
		FreeAway: "기다리는 분이 모두 자리를 비웠어요. 돌아오는 분께 바로 차례가 가요.",
		NoMatch:  "찾는 판매자가 줄에 없어요", NoRooms: "찾는 대기실이 없어요", NoLine: "기다리는 분이 없어요",
		Shown: "{all} 중 {n}", Frozen: "보고 있는 동안 순서를 고정했어요",

		Ticket: "{ticket}번", AwayCount: "자리 비움 {n}", Connected: "연결됨", AwayFor: "자리 비움 {time}",
		Asks: "{n}번 요청 · 안 온 문자 {open}", NobodyNext: "없음", Nobodys: "없음 (저장소가 데이터를 잃음)", AsksNone: "아직 요청 안 함", AskAfter: "{time}부터 요청 가능", Over: "넘기는 중",
		Pause: "줄 멈추기", Resume: "다시 움직이기", Undo: "되돌리기", ActionsFor: "{seller} 처리",
		Unreachable: "서버에 닿지 못했어요. 다시 눌러 주세요. 여러 번 눌러도 한 번만 처리돼요.",
		WentWrong:   "처리하지 못했어요. 잠시 뒤 다시 눌러 주세요.",

		Act: map[string]DeskAct{
			"extend":  {"시간을 더 줄까요?", "시간 더 주기", "연장했어요 +{s}초"},
			"release": {"차례를 끝낼까요?", "차례 끝내기", "{seller}의 차례를 끝냈어요"},
			"move":    {"순서를 옮길까요?", "순서 옮기기", "{seller} {position}번째로 옮겼어요"},
			"remove":  {"줄에서 뺄까요?", "줄에서 빼기", "{seller} 줄에서 뺐어요"},
			"pause":   {"줄을 멈출까요?", "줄 멈추기", "줄을 멈췄어요"},
			"resume":  {"줄을 다시 움직일까요?", "다시 움직이기", "줄이 다시 움직여요"},
			"assign":  {"이 문자를 줄까요?", "문자 주기", "{seller}에게 주었어요"},
			"undo":    {"되돌릴까요?", "되돌리기", "되돌렸어요"},
		},
		Reasons: map[string][]string{
			"extend":  {"문자 지연", "마켓 화면 문제", "판매자 전화 요청"},
			"release": {"판매자 전화 요청", "판매자와 연락되지 않음", "다른 계정으로 들어옴"},
			"move":    {"우리 쪽 문제로 차례를 놓침", "급한 사정 확인", "순서 바로잡기"},
			"remove":  {"판매자 전화 요청", "판매자와 연락되지 않음", "잘못 들어옴"},
			"pause":   {"문자 발송 장애", "마켓 장애", "점검"},
			"resume":  {"장애 해소", "점검 끝남", "잘못 멈춤"},
			"assign":  {"판매자와 통화로 확인", "보낸 시각으로 확인", "마켓 기록으로 확인"},
			"undo":    {"바로 앞 처리를 되돌림"},
		},
		Effects: map[string]string{
			"extend":         "{seller}의 차례가 {time}까지로 늘어나요.",
			"release_next":   "다음 분 {next}에게 바로 넘어가요.",
			"release_nobody": "넘겨받을 분이 없어서 비게 돼요.",
			"release_paused": "멈춰 있어서 아무에게도 넘어가지 않아요.",
			"move":           "{from}번째에서 {to}번째로 가요. 그 사이 {n}명의 순서가 바뀌어요.",
			"move_same":      "지금 {from}번째예요. 다른 자리를 적어 주세요.",
			"remove":         "{seller}의 자리가 없어져요. 다시 서면 맨 뒤예요.",
			"pause":          "지금 차례인 분은 그대로 하고, 그다음부터 차례를 주지 않아요. {n}명의 순서는 유지돼요.",
			"resume_next":    "{next}부터 차례를 이어가요.",
			"resume_nobody":  "줄이 다시 움직여요.",
			"assign_fresh":   "{seller}에게 바로 보여 줘요. 기록이 맞지 않으면 거절돼요.",
			"assign_old":     "10분이 지나서 화면에는 보이지 않고 기록만 남아요.",
			"assigned_shown": "판매자 화면에 보여요",
			"assigned_not":   "기록만 남겼어요",
		},
		Outdated: map[string]string{
			"holder":  "그 사이 차례가 바뀌었어요. 이 차례에는 더 할 수 있는 일이 없어요.",
			"turn":    "그 사이 {seller}의 차례가 됐어요.",
			"gone":    "그 사이 {seller} 판매자가 줄에서 나갔어요.",
			"paused":  "그 사이 다른 상담원이 줄을 멈췄어요.",
			"resumed": "그 사이 다른 상담원이 줄을 다시 움직였어요.",
			"message": "그 사이 이 문자가 처리됐어요.",
		},
		Refusals: map[string]string{
			"stale_fence":      "그 사이 차례가 바뀌었어요. 바뀐 것은 없어요.",
			"stale_ticket":     "그 사이 줄에서 나갔거나 차례가 됐어요. 바뀐 것은 없어요.",
			"lease_too_long":   "한 차례는 모두 합해 10분까지예요. 바뀐 것은 없어요.",
			"already_matched":  "이미 주인이 있는 문자예요. 바뀐 것은 없어요.",
			"no_message":       "더는 줄 수 없는 문자예요. 바뀐 것은 없어요.",
			"not_allowed":      "보기 전용 계정이라 처리할 수 없어요. 바뀐 것은 없어요.",
			"unknown_room":     "이 대기실은 이제 없어요.",
			"invalid_reason":   "사유를 1자에서 200자까지 적어 주세요.",
			"invalid_seconds":  "1초에서 120초까지 줄 수 있어요.",
			"invalid_position": "1보다 큰 자리를 적어 주세요.",
			"cross_site":       "다른 사이트에서 온 요청이라 받지 않았어요. 새로고침해 주세요.",
		},
		About:    map[string]string{"seller": "누구", "line": "줄", "message": "문자"},
		MovedTo:  "여기로 옮겼어요",
		NoReason: "사유를 고르거나 적어 주세요.",
		LongText: "사유가 {n}자 넘어요. 200자까지 적을 수 있어요.",

		Results: map[string]string{"unmatched": "주인을 못 찾은 문자", "late": "늦게 온 문자"},
		Whys: map[string]string{
			"ambiguous":    "두 사람 이상의 것일 수 있어서 아무에게도 주지 않았어요.",
			"not_expected": "이 문자를 기다리던 차례가 없었어요.",
			"no_lease":     "차례인 분이 없을 때 왔어요.",
			"rejected":     "판매자가 자기 번호가 아니라고 했어요.",
			"late":         "차례가 끝난 뒤에 왔어요. 주인에게는 보여 줬어요.",
		},
		Offered: "차례인 판매자에게 물어보는 중", HasCode: "인증번호", From: "{from}에서", SentAt: "{time} 보냄",
		Could: "이 차례의 것일 수 있어요", NobodyIs: "요청한 차례를 찾지 못했어요.",
		AskedAt: "{time} 요청", HeldFrom: "{from}–{to}", HeldNow: "{from}부터", Live: "지금 차례", AssignTo: "주기",
		Incident: map[string]string{
			"match_refused":         "기록이 문자 배정을 거절했어요",
			"message_rejected":      "판매자가 자기 번호가 아니라고 했어요",
			"message_id_reused":     "같은 번호의 문자가 다른 내용으로 또 왔어요",
			"message_matched_twice": "문자 한 통이 두 번 배정됐어요",
			"message_refused":       "형식이 맞지 않는 문자를 받지 않았어요",
			"ticket_reused":         "대기 번호가 두 번 쓰였어요",
			"carrier_clock":         "통신사의 시계가 앞서 있어요",
			"":                      "확인할 일이 생겼어요",
		},
		NoItems: "확인할 문자나 일이 없어요",

		Charts: map[string]DeskChart{
			"depth":    {"기다리는 분", "지난 한 시간 기다린 사람 수"},
			"waits":    {"기다린 시간", "지난 한 시간 기다린 시간의 중간값과 95%"},
			"delays":   {"넘기는 데 걸린 시간", "지난 한 시간 차례를 넘기는 데 걸린 시간의 중간값과 95%"},
			"outcomes": {"끝난 차례", "지난 한 시간 차례가 어떻게 끝났는지"},
		},
		Series: map[string]string{"depth": "기다리는 분", "granted": "시작", "wait_p50": "중간", "wait_p95": "95%", "delay_p50": "중간", "delay_p95": "95%"},
		Outcomes: map[string]string{
			"completed": "완료", "cancelled": "취소", "expired": "시간 초과", "forced": "상담원 종료", "removed": "상담원이 뺌",
			"unclaimed": "응답 없음", "dropped": "연결 끊김", "lost": "유실",
		},
		Minute: "시각", Table: "표", Plot: "그래프", NoData: "아직 숫자가 없어요",
	}
}

func koreanDeskRooms() DeskRoomsText {
	return DeskRoomsText{
		Title: "대기실", Search: "대기실 또는 판매자 찾기", SearchHint: "찾기  /",
		AllRooms: "대기실", Waiting: "기다리는 분", Held: "진행 중", Trouble: "확인 필요", OnlyTrouble: "확인이 필요한 곳만 보기",
		Room: "대기실", State: "상태", Holder: "지금 차례", WaitingNow: "대기", Away: "비움", Oldest: "최장 대기", PerMinute: "분당",
		AwayLong: "자리를 비운 사람", OldestLong: "가장 오래 기다린 시간", PerMinuteLong: "최근 1분 동안 시작한 차례",
		Replicas: "서버", Help: "단축키",
		Keys: []DeskKey{{"/", "찾기"}, {"j", "아래로"}, {"k", "위로"}, {"Enter", "고른 대기실 열기"}, {"Esc", "닫기, 찾은 것 지우기"}, {"?", "이 도움말"}},
	}
}

func koreanDeskRoom() DeskRoomText {
	return DeskRoomText{
		Back: "모든 대기실", History: "이력", Help: "단축키", Age: "데이터",
		Holder: "지금 차례", Fence: "펜스", GrantedAt: "시작", Next: "다음", Asks: "문자 요청", TimeLeft: "남은 시간",
		Extend: "시간 더 주기", Release: "차례 끝내기",
		Line: "줄", Search: "판매자 또는 번호 찾기", SearchHint: "찾기  /", Position: "순서", TicketNumber: "번호",
		Seller: "판매자", Waited: "기다림", State: "상태", Actions: "처리", Move: "순서 옮기기", Remove: "줄에서 빼기", Timeline: "판매자 기록 보기",
		Items: "문자와 확인할 일", Charts: "지난 한 시간", Replicas: "서버",
		Sockets: "소켓", Watchers: "상담", Store: "저장소", Ledger: "기록",

		Who: "누구", Effect: "무슨 일이 생기나요", Reason: "사유", ReasonFree: "덧붙일 말 (고르지 않으면 꼭 적어 주세요)",
		Seconds: "얼마나 더", SecondsUnit: "{n}초", NewPosition: "새 순서", Lease: "누구의 차례에", Cancel: "그만두기",
		StaleWarning: "지금 보는 내용이 오래됐을 수 있어요. 그 사이 바뀌었다면 서버가 거절해요.",

		HelpTitle: "단축키", HelpKeys: "단축키 쓰기", Close: "닫기",
		Keys: []DeskKey{
			{"/", "찾기"}, {"j", "아래로"}, {"k", "위로"}, {"Enter", "고른 줄 처리하기"}, {"u", "바로 앞 처리 되돌리기"},
			{"Esc", "닫기, 찾은 것 지우기"}, {"?", "이 도움말"},
		},
	}
}
