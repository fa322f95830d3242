package templates

func englishDeskLive() DeskLiveText {
	return DeskLiveText{
		Top: DeskTopText{
			Desk: "Support desk", Nav: "Support desk", Rooms: "Rooms", Audit: "Audit", Deliveries: "Deliveries",
			SignOut: "Sign out", MayAct: "May act", MayWatch: "Watch only",
			NeedScript: "This page is live and needs JavaScript. History and audit work without it.",
		},
		Rooms: englishDeskRooms(),
		Room:  englishDeskRoom(),

		People:  "{n:person:people}",
		ShortMs: "{n} ms", ShortS: "{n} s", ShortM: "{n} min", ShortH: "{n} h",
		AgeFresh: "just now", AgeOld: "{s} s ago", Connecting: "connecting",
		BandAge:    "Data is {s} s old.",
		BandStale:  "Nothing new is coming in. Below is what was last heard.",
		BandLost:   "The connection was lost and is being made again. Below is what was last heard.",
		BandClosed: "The connection was closed. Please reload.",

		Troubles: map[string]string{
			"stuck": "Line stuck", "nobodys": "Unowned text", "lost": "Data lost", "expired": "Often timing out", "paused": "Paused",
		},
		Calm:       "Nothing needs you right now",
		Unowned:    "{n:unowned text:unowned texts}",
		Incidents:  "{n:incident:incidents} to check",
		StoreStale: "store not answering", Behind: "behind", LedgerLate: "Records are behind", NoAnswer: "no answer", Draining: "stopping", Fine: "fine",
		Free: "Nobody’s turn", FreePaused: "Paused: nobody is given a turn", FreeEmpty: "Nobody is waiting",
		FreeAway: "Everybody waiting is away. Who comes back first gets the turn at once.",
		NoMatch:  "No such seller in the line", NoRooms: "No such room", NoLine: "Nobody is waiting",
		Shown: "{n} of {all}", Frozen: "Order held while you look",

		Ticket: "no. {ticket}", AwayCount: "{n} away", Connected: "Connected", AwayFor: "Away {time}",
		Asks: "asked {n}× · {open} not come yet", NobodyNext: "nobody", Nobodys: "nobody (the store lost data)", AsksNone: "not asked yet", AskAfter: "may ask from {time}", Over: "handing over",
		Pause: "Pause the line", Resume: "Resume", Undo: "Undo", ActionsFor: "Actions for {seller}",
		Unreachable: "The server could not be reached. Press again: however often you press, it is done once.",
		WentWrong:   "That did not work. Please press again in a moment.",

		Act: map[string]DeskAct{
			"extend":  {"Give more time?", "Give more time", "Extended by {s} s"},
			"release": {"End this turn?", "End the turn", "Ended {seller}’s turn"},
			"move":    {"Move in the line?", "Move", "{seller} moved to {position}"},
			"remove":  {"Take out of the line?", "Take out", "{seller} taken out of the line"},
			"pause":   {"Pause the line?", "Pause the line", "The line is paused"},
			"resume":  {"Resume the line?", "Resume", "The line is moving again"},
			"assign":  {"Give this text?", "Give the text", "Given to {seller}"},
			"undo":    {"Undo?", "Undo", "Undone"},
		},
		Reasons: map[string][]string{
			"extend":  {"Text is late", "Trouble on the marketplace page", "Seller asked by telephone"},
			"release": {"Seller asked by telephone", "Seller cannot be reached", "Came in with another account"},
			"move":    {"Lost the turn by our fault", "Urgent, checked", "Putting the order right"},
			"remove":  {"Seller asked by telephone", "Seller cannot be reached", "Joined by mistake"},
			"pause":   {"Texts are not delivered", "Marketplace is down", "Maintenance"},
			"resume":  {"Trouble is over", "Maintenance is over", "Paused by mistake"},
			"assign":  {"Confirmed with the seller by telephone", "Confirmed by the time it was sent", "Confirmed with the marketplace"},
			"undo":    {"Undoing the last action"},
		},
		Effects: map[string]string{
			"extend":         "{seller}’s turn will last until {time}.",
			"release_next":   "It goes to the next seller, {next}, at once.",
			"release_nobody": "Nobody is there to take it, so it stays free.",
			"release_paused": "The line is paused, so it goes to nobody.",
			"move":           "From place {from} to place {to}. {n:seller’s place changes:sellers’ places change} in between.",
			"move_same":      "This is place {from} already. Please type another.",
			"remove":         "{seller} loses the place. Joining again means the end of the line.",
			"pause":          "Whoever has the turn keeps it; after that nobody is given one. {n:person keeps:people keep} their order.",
			"resume_next":    "The line goes on with {next}.",
			"resume_nobody":  "The line moves again.",
			"assign_fresh":   "{seller} is shown it at once. It is refused if the records disagree.",
			"assign_old":     "It is more than ten minutes old: it is only recorded, and shown to nobody.",
			"assigned_shown": "on the seller’s page",
			"assigned_not":   "recorded only",
		},
		Outdated: map[string]string{
			"holder":  "The turn has changed meanwhile. There is nothing left to do with this one.",
			"turn":    "It has become {seller}’s turn meanwhile.",
			"gone":    "{seller} has left the line meanwhile.",
			"paused":  "A colleague has paused the line meanwhile.",
			"resumed": "A colleague has resumed the line meanwhile.",
			"message": "This text has been dealt with meanwhile.",
		},
		Refusals: map[string]string{
			"stale_fence":      "The turn changed meanwhile. Nothing was done.",
			"stale_ticket":     "The seller left the line or got the turn meanwhile. Nothing was done.",
			"lease_too_long":   "A turn may last 10 minutes in all. Nothing was done.",
			"already_matched":  "This text has an owner already. Nothing was done.",
			"no_message":       "This text can no longer be given. Nothing was done.",
			"not_allowed":      "Your account may watch only. Nothing was done.",
			"unknown_room":     "This room is no longer there.",
			"invalid_reason":   "Please give a reason of 1 to 200 characters.",
			"invalid_seconds":  "1 to 120 seconds can be given.",
			"invalid_position": "Please type a place from 1 on.",
			"cross_site":       "That came from another site and was not taken. Please reload.",
		},
		About:    map[string]string{"seller": "Who", "line": "The line", "message": "The text"},
		MovedTo:  "Moved here",
		NoReason: "Please pick or type a reason.",
		LongText: "The reason is {n:character:characters} too long; 200 are allowed.",

		Results: map[string]string{"unmatched": "Text without an owner", "late": "Text that came late"},
		Whys: map[string]string{
			"ambiguous":    "It could be more than one seller’s, so nobody was given it.",
			"not_expected": "No turn was waiting for this text.",
			"no_lease":     "It came when it was nobody’s turn.",
			"rejected":     "The seller said that it is not theirs.",
			"late":         "It came after the turn had ended. Its owner was shown it.",
		},
		Offered: "asking whoever has the turn", HasCode: "code", From: "from {from}", SentAt: "sent {time}",
		Could: "It could belong to", NobodyIs: "No turn was found that asked for it.",
		AskedAt: "asked {time}", HeldFrom: "{from}–{to}", HeldNow: "since {from}", Live: "turn now", AssignTo: "Give",
		Incident: map[string]string{
			"match_refused":         "The records refused to give a text",
			"message_rejected":      "A seller said that a code is not theirs",
			"message_id_reused":     "The same message id came with other content",
			"message_matched_twice": "One text was given twice",
			"message_refused":       "A malformed text was refused",
			"ticket_reused":         "A ticket number was used twice",
			"carrier_clock":         "The carrier’s clock is ahead",
			"":                      "Something needs a look",
		},
		NoItems: "No texts or incidents to look at",

		Charts: map[string]DeskChart{
			"depth":    {"Waiting", "People waiting in the last hour"},
			"waits":    {"Time waited", "Median and 95th percentile of time waited in the last hour"},
			"delays":   {"Handoff delay", "Median and 95th percentile of the handoff delay in the last hour"},
			"outcomes": {"Turns ended", "How turns ended in the last hour"},
		},
		Series: map[string]string{"depth": "waiting", "granted": "started", "wait_p50": "p50", "wait_p95": "p95", "delay_p50": "p50", "delay_p95": "p95"},
		Outcomes: map[string]string{
			"completed": "completed", "cancelled": "cancelled", "expired": "timed out", "forced": "ended by us", "removed": "taken out",
			"unclaimed": "no answer", "dropped": "cut off", "lost": "lost",
		},
		Minute: "Time", Table: "Table", Plot: "Chart", NoData: "No figures yet",
	}
}

func englishDeskRooms() DeskRoomsText {
	return DeskRoomsText{
		Title: "Rooms", Search: "Find a room or seller", SearchHint: "Find  /",
		AllRooms: "Rooms", Waiting: "Waiting", Held: "In progress", Trouble: "Need a look", OnlyTrouble: "Only rooms that need a look",
		Room: "Room", State: "State", Holder: "Turn now", WaitingNow: "Waiting", Away: "Away", Oldest: "Longest", PerMinute: "Per min",
		AwayLong: "People who are away", OldestLong: "Longest wait", PerMinuteLong: "Turns begun in the last minute",
		Replicas: "Servers", Help: "Shortcuts",
		Keys: []DeskKey{{"/", "Find"}, {"j", "Down"}, {"k", "Up"}, {"Enter", "Open the selected room"}, {"Esc", "Close, clear the search"}, {"?", "This help"}},
	}
}

func englishDeskRoom() DeskRoomText {
	return DeskRoomText{
		Back: "All rooms", History: "History", Help: "Shortcuts", Age: "Data",
		Holder: "Turn now", Fence: "Fence", GrantedAt: "Started", Next: "Next", Asks: "Code requests", TimeLeft: "Time left",
		Extend: "More time", Release: "End turn",
		Line: "Line", Search: "Find a seller or ticket", SearchHint: "Find  /", Position: "Place", TicketNumber: "Ticket",
		Seller: "Seller", Waited: "Waited", State: "State", Actions: "Actions", Move: "Move", Remove: "Take out of the line", Timeline: "Seller’s timeline",
		Items: "Texts and incidents", Charts: "The last hour", Replicas: "Servers",
		Sockets: "Sockets", Watchers: "Watching", Store: "Store", Ledger: "Records",

		Who: "Who", Effect: "What will happen", Reason: "Reason", ReasonFree: "In your words (needed where none is picked)",
		Seconds: "How much more", SecondsUnit: "{n} s", NewPosition: "New place", Lease: "To whose turn", Cancel: "Keep as it is",
		StaleWarning: "What you see may be old. If it has changed meanwhile, the server refuses.",

		HelpTitle: "Shortcuts", HelpKeys: "Use shortcuts", Close: "Close",
		Keys: []DeskKey{
			{"/", "Find"}, {"j", "Down"}, {"k", "Up"}, {"Enter", "Actions for the selected row"}, {"u", "Undo the last action"},
			{"Esc", "Close, clear the search"}, {"?", "This help"},
		},
	}
}
