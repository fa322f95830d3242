package templates

func english() Text {
	return Text{
		Lang:     "en",
		Brand:    "Waiting room",
		SkipTo:   "Skip to the page",
		Other:    "한국어",
		OtherTag: "ko",

		IdleTitle:   "One seller verifies at a time",
		IdleLead:    "Many sellers get their verification texts on the same number. Going one by one keeps the codes from being mixed up.",
		Now:         "Right now",
		Waiting:     "Waiting",
		IfYouJoin:   "If you join now",
		SellerLabel: "Seller ID",
		SellerHint:  "Letters, digits and {signs} are fine.",
		SellerFixed: "You are joining as {seller}",
		SellerNone:  "Please come in from the seller portal again. Once we know who you are you can join the line.",
		Join:        "I’m ready",
		JoinAgain:   "Join the line again",
		JoinNote:    "When it is your turn you have {lease}. Keep your phone and the marketplace open.",

		PausedTitle: "The line is paused",
		PausedLead:  "Our support team is looking into something. If you are in line, your place is kept.",

		MyPlace:      "Your place",
		HolderLeft:   "Current turn ends in",
		ThisTicket:   "Ticket {ticket}",
		KeepOpen:     "A reload or a short break keeps your place. Leave this page open: when it is your turn you have {lease}.",
		Leave:        "Leave the line",
		AlertsTitle:  "We play a sound when it’s your turn",
		SoundTest:    "Hear the sound",
		NotifyEnable: "Turn on notifications",

		TimeLeft: "Time left",
		Done:     "Verified",
		Cancel:   "Cancel",

		LostTitle:   "The connection was lost",
		LostLead:    "We are reconnecting.",
		LostWaiting: "Your place is kept for a while.",
		LostTurn:    "It is still your turn, but the time goes on.",
		LostLong:    "Please check your internet connection.",

		CodeTitle:  "Verification code",
		EarlierSMS: "Earlier texts",
		Copy:       "Copy",
		AskLeave: Question{
			Title: "Leave the line?",
			Lead:  "You will lose your place. If you join again you start at the end.",
			Yes:   "Leave",
			No:    "Keep waiting",
		},
		AskCancel: Question{
			Title: "Cancel this turn?",
			Lead:  "It goes to the next seller at once. To try again you join the line anew.",
			Yes:   "Cancel my turn",
			No:    "Keep verifying",
		},
		WhyTitle: "Why one at a time?",
		Why: []string{
			"Verification texts arrive on a number that many sellers share. If two verify at once, nobody can tell whose code is whose.",
			"So sellers go one by one, first come first served, and the next one starts the moment the last is done.",
		},
		AsOf:        "as of {time}",
		Reload:      "Reload",
		RoomName:    "Room {room}",
		RefreshNote: "Reloads every {n:second:seconds}",

		Live:   englishLive(),
		Errors: englishErrors(),
		Back:   "Back to the waiting room",
	}
}

func englishLive() LiveText {
	return LiveText{
		Brand: "Waiting room",

		Free:      "Nobody is verifying",
		Held:      "A seller is verifying",
		HeldLeft:  "A seller is verifying · {left}",
		People:    "{n:person:people}",
		StartNow:  "You start at once",
		NoWaits:   "We will estimate once the line moves again",
		NoWaitYet: "Known after the pause",

		Unit:       "in line",
		Next:       "You are next",
		Ahead:      "{n:person:people} ahead of you",
		AheadHeld:  "One seller is verifying, {n} more ahead of you",
		Started:    "You have just joined",
		Passed:     "{n:seller has:sellers have} finished since you joined",
		HandingOff: "Handing over",
		TimeIsUp:   "Time is up",

		Soon:          "Any moment now",
		UnderMinute:   "Less than a minute",
		AboutMinutes:  "About {m:minute:minutes}",
		AboutHours:    "About {h:hour:hours}",
		AboutHoursMin: "About {h:hour:hours} {m:minute:minutes}",
		Seconds:       "{s:second:seconds}",
		Minutes:       "{m:minute:minutes}",
		MinutesSec:    "{m:minute:minutes} {s:second:seconds}",
		Hours:         "{h:hour:hours}",
		HoursMin:      "{h:hour:hours} {m:minute:minutes}",
		WaitSoon:      "Any moment now ({max} at most)",
		WaitUnder:     "Less than a minute to go ({max} at most)",
		WaitAbout:     "{wait} to go ({max} at most)",
		WaitMost:      "{max} to go at most",
		WaitLost:      "We will tell you once reconnected",

		Turn:      Notice{"It’s your turn", "Ask for the code on the marketplace page. The text will show up right here."},
		TurnCode:  Notice{"Your code has arrived", "Enter it on the marketplace page, then press “Verified”."},
		TurnText:  Notice{"A text has arrived", "If it has a code, enter that on the marketplace page, then press “Verified”."},
		NoCode:    "No code found",
		AwaitSMS:  "Waiting for the text",
		Arrived:   "Arrived {time}",
		Copied:    "Copied",
		CopyByOwn: "Press and hold the code to copy it",

		Outcomes:    englishOutcomes(),
		CodeArrived: Notice{"Your code has arrived", "Enter it on the marketplace page. The text has ended your turn."},
		TurnGivenUp: Notice{"You cancelled your turn", "To try again, please join the line anew."},
		Connection: map[string]string{
			"off":        "Not live",
			"connecting": "Connecting",
			"open":       "Live",
			"lost":       "Reconnecting",
			"closed":     "Disconnected",
		},
		NotifyOn:     "Notifications are on",
		NotifyOff:    "Notifications are off in your browser’s settings",
		NoSeller:     "Please enter your seller ID.",
		Unreachable:  "We could not reach the server. Press again: however often you press, you have one place.",
		WentWrong:    "That did not work. Please press again in a moment.",
		SayWaiting:   "You are number {n} in line. {ahead}. {wait}.",
		SayPaused:    "Support has paused the line. Your place is kept.",
		SayResumed:   "The line is moving again.",
		SayTurn:      "It’s your turn. You have {left}.",
		SayLeft:      "{left} left.",
		SayCode:      "Your code has arrived. {code}.",
		TitleWaiting: "Number {n} in line",
		TitleTurn:    "{clock} It’s your turn",
		NotifyTurn:   Notice{"It’s your turn", "Go back to the waiting room and start verifying."},
		NotifyCode:   Notice{"Your code has arrived", "Go back to the waiting room to see it."},
	}
}

func englishOutcomes() map[string]Notice {
	return map[string]Notice{
		"completed": {"You are verified", "Carry on on the marketplace page. To link another account, join the line again."},
		"cancelled": {"You have left the line", "Join again whenever you are ready."},
		"expired":   {"Your time is up", "You can join again. It helps to have your phone and the marketplace open first."},
		"forced":    {"Support ended this turn", "If you are not verified yet, join the line again. Our support team can tell you more."},
		"removed":   {"Support took you out of the line", "You can join again. Our support team can tell you more."},
		"dropped":   {"You were disconnected for long, so your place was given up", "You can join again. Leave this page open while you wait."},
		"lost":      {"Your place was lost because of a problem on our side", "We are sorry. Please join the line again."},
		"":          {"Your place has ended", "You can join the line again."},
	}
}

func englishErrors() map[string]Notice {
	return map[string]Notice{
		"unknown_room":      {"There is no such waiting room", "Please check the address. The link you were given is the surest way in."},
		"not_found":         {"There is no such page", "Please check the address."},
		"store_unavailable": {"The waiting room cannot be opened right now", "Please try again in a moment. If you were in line, you still are."},
		"too_many_requests": {"Too many requests at once", "Please try again in a moment."},
		"cross_site":        {"That came from another site, so we did not take it", "Please press the button in the waiting room itself."},
		"seller_has_place":  {"This seller is already in line", "Carry on in the browser that joined. A seller has one place."},
		"invalid_seller":    {"Please check the seller ID", "Up to 64 letters, digits and _ . @ - are fine."},
		"invalid_token":     {"The link you came by has run out", "Please come in from the seller portal again."},
		"":                  {"We could not show this page", "Please try again in a moment."},
	}
}
