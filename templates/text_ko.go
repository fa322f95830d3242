package templates

func korean() Text {
	return Text{
		Lang:     "ko",
		Brand:    "인증 대기실",
		SkipTo:   "본문으로 건너뛰기",
		Other:    "English",
		OtherTag: "en",

		IdleTitle:   "한 분씩 차례로 인증해요",
		IdleLead:    "여러 판매자가 같은 번호로 인증 문자를 받아요. 번호가 섞이지 않게 한 번에 한 분만 인증해요.",
		Now:         "지금",
		Waiting:     "기다리는 분",
		IfYouJoin:   "지금 줄 서면",
		SellerLabel: "판매자 ID",
		SellerHint:  "글자, 숫자와 {signs} 를 쓸 수 있어요.",
		SellerFixed: "{seller} 판매자로 함께해요",
		SellerNone:  "판매자 포털에서 다시 들어와 주세요. 누구인지 확인되면 바로 줄을 설 수 있어요.",
		Join:        "준비 완료",
		JoinAgain:   "다시 줄 서기",
		JoinNote:    "차례가 오면 {lease} 안에 인증해 주세요. 휴대폰과 마켓 화면을 미리 열어 두면 좋아요.",

		PausedTitle: "지금은 잠시 멈췄어요",
		PausedLead:  "상담원이 확인하고 있어요. 줄을 서 있으면 순서는 그대로 유지돼요.",

		MyPlace:      "내 순서",
		HolderLeft:   "인증 중인 분의 남은 시간",
		ThisTicket:   "대기 번호 {ticket}",
		KeepOpen:     "새로고침하거나 잠깐 닫아도 순서는 유지돼요. 차례가 오면 {lease} 안에 인증해야 하니 화면을 열어 두세요.",
		Leave:        "줄에서 나가기",
		AlertsTitle:  "차례가 오면 소리로도 알려드려요",
		SoundTest:    "소리 들어보기",
		NotifyEnable: "브라우저 알림 켜기",

		TimeLeft: "남은 시간",
		Done:     "인증 완료",
		Cancel:   "취소",

		LostTitle:   "연결이 끊겼어요",
		LostLead:    "다시 연결하고 있어요.",
		LostWaiting: "잠깐은 순서가 유지돼요.",
		LostTurn:    "차례는 그대로지만 남은 시간은 계속 줄어요.",
		LostLong:    "인터넷 연결을 확인해 주세요.",

		CodeTitle:  "인증번호",
		EarlierSMS: "먼저 온 문자",
		Copy:       "복사",
		AskLeave: Question{
			Title: "줄에서 나갈까요?",
			Lead:  "나가면 지금 순서가 사라져요. 다시 서면 맨 뒤부터예요.",
			Yes:   "나가기",
			No:    "계속 기다리기",
		},
		AskCancel: Question{
			Title: "이번 차례를 취소할까요?",
			Lead:  "바로 다음 분께 넘어가요. 다시 하려면 줄을 새로 서야 해요.",
			Yes:   "차례 취소",
			No:    "계속 인증하기",
		},
		WhyTitle: "왜 한 분씩 하나요?",
		Why: []string{
			"인증 문자는 여러 판매자가 함께 쓰는 번호로 와요. 두 분이 동시에 인증하면 누구의 번호인지 알 수 없어요.",
			"그래서 먼저 온 순서대로 한 분씩 인증하고, 끝나면 바로 다음 분께 넘겨드려요.",
		},
		AsOf:        "{time} 기준",
		Reload:      "새로고침",
		RoomName:    "대기실 {room}",
		RefreshNote: "{n}초마다 새로고침해요",

		Live:   koreanLive(),
		Errors: koreanErrors(),
		Back:   "대기실로 돌아가기",
	}
}

func koreanLive() LiveText {
	return LiveText{
		Brand: "인증 대기실",

		Free:      "비어 있어요",
		Held:      "한 분이 인증 중",
		HeldLeft:  "한 분이 인증 중 · {left}",
		People:    "{n}명",
		StartNow:  "바로 시작해요",
		NoWaits:   "다시 시작하면 예상 시간을 알려드려요",
		NoWaitYet: "다시 시작하면 알려드려요",

		Unit:       "번째",
		Next:       "바로 다음 차례예요",
		Ahead:      "내 앞에 {n}명 있어요",
		AheadHeld:  "한 분이 인증 중이고, 내 앞에 {n}명이 기다려요",
		Started:    "방금 줄을 섰어요",
		Passed:     "줄 선 뒤로 {n}명이 끝났어요",
		HandingOff: "넘기는 중",
		TimeIsUp:   "시간이 다 됐어요",

		Soon:          "곧 차례예요",
		UnderMinute:   "1분 미만",
		AboutMinutes:  "약 {m}분",
		AboutHours:    "약 {h}시간",
		AboutHoursMin: "약 {h}시간 {m}분",
		Seconds:       "{s}초",
		Minutes:       "{m}분",
		MinutesSec:    "{m}분 {s}초",
		Hours:         "{h}시간",
		HoursMin:      "{h}시간 {m}분",
		WaitSoon:      "곧 차례예요 (늦어도 {max})",
		WaitUnder:     "1분 미만 남았어요 (늦어도 {max})",
		WaitAbout:     "{wait} 뒤 차례예요 (늦어도 {max})",
		WaitMost:      "늦어도 {max} 뒤 차례예요",
		WaitLost:      "다시 연결되면 알려드려요",

		Turn:      Notice{"지금 차례예요", "마켓 화면에서 인증번호를 요청하세요. 문자가 오면 여기에 바로 보여드려요."},
		TurnCode:  Notice{"인증번호가 도착했어요", "마켓 화면에 입력하고 ‘인증 완료’를 눌러 주세요."},
		TurnText:  Notice{"문자가 도착했어요", "문자에 번호가 있으면 마켓 화면에 입력하고 ‘인증 완료’를 눌러 주세요."},
		NoCode:    "번호를 찾지 못했어요",
		AwaitSMS:  "문자를 기다리고 있어요",
		Arrived:   "{time} 도착",
		Copied:    "복사했어요",
		CopyByOwn: "번호를 길게 눌러 복사해 주세요",

		Outcomes:    koreanOutcomes(),
		CodeArrived: Notice{"인증번호가 도착했어요", "아래 번호를 마켓 화면에 입력해 주세요. 문자가 와서 이번 차례는 끝났어요."},
		TurnGivenUp: Notice{"차례를 취소했어요", "다시 하려면 줄을 새로 서 주세요."},
		Connection: map[string]string{
			"off":        "자동 갱신 꺼짐",
			"connecting": "연결하고 있어요",
			"open":       "실시간 연결됨",
			"lost":       "다시 연결하고 있어요",
			"closed":     "연결이 끝났어요",
		},
		NotifyOn:     "알림을 켰어요",
		NotifyOff:    "브라우저 설정에서 알림이 꺼져 있어요",
		NoSeller:     "판매자 ID를 적어 주세요.",
		Unreachable:  "서버에 닿지 못했어요. 다시 눌러 주세요. 여러 번 눌러도 순서는 하나예요.",
		WentWrong:    "처리하지 못했어요. 잠시 뒤 다시 눌러 주세요.",
		SayWaiting:   "지금 {n}번째예요. {ahead}. {wait}.",
		SayPaused:    "상담원이 줄을 잠시 멈췄어요. 순서는 그대로예요.",
		SayResumed:   "줄이 다시 움직여요.",
		SayTurn:      "지금 차례예요. {left} 안에 인증해 주세요.",
		SayLeft:      "{left} 남았어요.",
		SayCode:      "인증번호가 도착했어요. {code}.",
		TitleWaiting: "{n}번째",
		TitleTurn:    "{clock} 지금 차례예요",
		NotifyTurn:   Notice{"지금 차례예요", "눌러서 대기실로 돌아와 인증을 시작하세요."},
		NotifyCode:   Notice{"인증번호 도착", "눌러서 대기실로 돌아와 번호를 확인하세요."},
	}
}

func koreanOutcomes() map[string]Notice {
	return map[string]Notice{
		"completed": {"인증을 마쳤어요", "마켓 화면에서 연동을 이어가세요. 다른 계정도 연동하려면 다시 줄을 설 수 있어요."},
		"cancelled": {"줄에서 나왔어요", "준비되면 언제든 다시 줄을 설 수 있어요."},
		"expired":   {"인증 시간이 끝났어요", "다시 줄을 설 수 있어요. 휴대폰과 마켓 화면을 먼저 열어 두면 넉넉해요."},
		"forced":    {"상담원이 이번 차례를 마쳤어요", "인증이 끝나지 않았다면 다시 줄을 서 주세요. 궁금한 점은 고객센터에 물어봐 주세요."},
		"removed":   {"상담원이 줄에서 뺐어요", "다시 줄을 설 수 있어요. 궁금한 점은 고객센터에 물어봐 주세요."},
		"dropped":   {"연결이 오래 끊겨 순서가 지나갔어요", "다시 줄을 설 수 있어요. 이번에는 화면을 열어 둔 채 기다려 주세요."},
		"lost":      {"저희 쪽 문제로 순서가 사라졌어요", "불편을 드려 죄송해요. 다시 줄을 서 주세요."},
		"":          {"순서가 끝났어요", "다시 줄을 설 수 있어요."},
	}
}

func koreanErrors() map[string]Notice {
	return map[string]Notice{
		"unknown_room":      {"이런 대기실은 없어요", "주소를 다시 확인해 주세요. 안내받은 링크로 들어오면 가장 정확해요."},
		"not_found":         {"찾는 화면이 없어요", "주소를 다시 확인해 주세요."},
		"store_unavailable": {"지금은 대기실을 열 수 없어요", "잠시 뒤 다시 시도해 주세요. 서 있던 줄은 그대로예요."},
		"too_many_requests": {"요청이 한꺼번에 몰렸어요", "잠시 뒤 다시 시도해 주세요."},
		"cross_site":        {"다른 사이트에서 온 요청이라 받지 않았어요", "대기실에서 직접 눌러 주세요."},
		"seller_has_place":  {"이 판매자는 이미 줄을 서 있어요", "줄을 선 브라우저에서 이어가 주세요. 한 판매자는 한 자리만 쓸 수 있어요."},
		"invalid_seller":    {"판매자 ID를 확인해 주세요", "글자, 숫자와 _ . @ - 를 64자까지 쓸 수 있어요."},
		"invalid_token":     {"들어오는 링크가 만료됐어요", "판매자 포털에서 다시 들어와 주세요."},
		"":                  {"화면을 보여드리지 못했어요", "잠시 뒤 다시 시도해 주세요."},
	}
}
