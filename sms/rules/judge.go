package rules

// verdict is where a message belongs.
type verdict struct {
	lease, ask int8 // ask: of a repeated message, the ask that it answers
	result     Result
	offered    int8
	byClock    bool
}

func unmatched(r Result) verdict { return verdict{lease: None, ask: None, result: r, offered: None} }

// Arrive judges a message, and returns it with its verdict.
func (r *Room) Arrive(s *Settings, m Message) *Message {
	m.Came, m.Lease, m.Ask, m.Offered = r.Now, None, None, None
	at := r.NumMessages
	r.NumMessages++
	kept := &r.Messages[at]
	*kept = m
	if first := r.sentBefore(s, at); first != nil {
		kept.Answer, kept.Repeats = first.Answer, true
		kept.Result = first.Answer
		return kept
	}
	v := r.decide(s, at)
	kept.Result, kept.Answer, kept.Offered, kept.ByClock = v.result, v.result, v.offered, v.byClock
	if v.lease != None {
		r.attribute(s, at, v.lease, v.ask)
	}
	return kept
}

// decide applies rule 5 and then the others.
func (r *Room) decide(s *Settings, at int8) verdict {
	m := &r.Messages[at]
	if m.Sender == Foreign {
		return unmatched(NotExpected)
	}
	first := r.sameText(s, at)
	if first != nil && first.Lease != None {
		return r.again(s, m, first)
	}
	v := r.judge(s, m)
	if first != nil {
		m.Rejected |= first.Rejected
		if v.lease != None && !r.couldBe(s, r.Leases[v.lease].Party, first, 0) {
			v = unmatched(Ambiguous)
		}
		later := Time(0)
		if first.ByClock {
			later = s.Behind
		}
		if v.offered != None && !r.couldBe(s, r.Leases[v.offered].Party, first, later) {
			v.offered = None
		}
	}
	if v.lease != None && r.anothersCode(s, at, r.Leases[v.lease].Party) {
		v = unmatched(Ambiguous)
	}
	if v.offered != None && (r.anothersCode(s, at, r.Leases[v.offered].Party) || r.spoken(s, at, v.offered)) {
		v.offered = None
	}
	return v
}

// sentBefore returns the message that came before with the same sender, text and time.
func (r *Room) sentBefore(s *Settings, at int8) *Message {
	m := &r.Messages[at]
	for i := range at {
		x := &r.Messages[i]
		if s.has(SentTwice) && x.Text == m.Text && x.Stamped && m.Stamped && x.From == m.From && x.Last == m.Last {
			return x
		}
	}
	return nil
}

// sameText returns the message of the last ten minutes with the same sender and text: the one that belongs to
// a lease, if there is one.
func (r *Room) sameText(s *Settings, at int8) (first *Message) {
	for i := range at {
		x := &r.Messages[i]
		if x.Text == r.Messages[at].Text && !x.Repeats && r.Now-x.Came < s.OpenFor &&
			(first == nil || first.Lease == None && x.Lease != None) {
			first = x
		}
	}
	return first
}

// again returns where a message belongs whose sender and text are those of one that belongs to a lease.
func (r *Room) again(s *Settings, m, first *Message) verdict {
	party, to := r.Leases[first.Lease].Party, first.Lease
	ask := r.openAsk(s, m, to)
	for l := first.Lease + 1; l < r.NumLeases; l++ {
		if a := r.openAsk(s, m, l); r.Leases[l].Party == party && a != None {
			to, ask = l, a
		}
	}
	if ask == None {
		for l := range r.NumLeases {
			if r.Leases[l].Party != party && r.openAsk(s, m, l) != None {
				return unmatched(Ambiguous)
			}
		}
		m.Repeats = true
	}
	v := verdict{lease: to, ask: ask, result: first.Result, offered: None}
	if to != first.Lease {
		v.result = r.resultAt(to)
	}
	return v
}

func (r *Room) resultAt(l int8) Result {
	if r.Leases[l].End == Live {
		return Matched
	}
	return Late
}

// openAsk returns the earliest open ask of a lease that a message fits.
func (r *Room) openAsk(s *Settings, m *Message, l int8) (first int8) {
	first = None
	for a := range r.NumAsks {
		ask := &r.Asks[a]
		if ask.Lease == l && ask.At <= m.Last && !ask.Narrow && r.isOpen(s, a, m.From) &&
			(first == None || ask.At < r.Asks[first].At) {
			first = a
		}
	}
	return first
}

// couldBe reports whether a party could have caused a message, had it been sent up to `later` later, and has
// not rejected its text.
func (r *Room) couldBe(s *Settings, party int8, first *Message, later Time) bool {
	if first.Rejected&(1<<party) != 0 {
		return false
	}
	last := first.Last + later
	for l := range r.NumLeases {
		if r.Leases[l].Party != party {
			continue
		}
		if r.touches(l, first.From, last) {
			return true
		}
		for a := range r.NumAsks {
			if r.Asks[a].Lease == l && r.Asks[a].At <= last && first.From-r.Asks[a].At <= s.OpenFor {
				return true
			}
		}
	}
	return false
}

// anothersCode reports whether the same code was given to another party in the last ten minutes. A message
// that repeats one is that one, which came when it first did.
func (r *Room) anothersCode(s *Settings, at, party int8) bool {
	m := &r.Messages[at]
	for i := range at {
		x := &r.Messages[i]
		if s.has(SameCode) && m.Code != 0 && x.Code == m.Code && !x.Repeats && x.Given&^(1<<party) != 0 &&
			r.Now-x.Came < s.OpenFor {
			return true
		}
	}
	return false
}

// touches reports whether a message sent in a window may have been sent within the time of a lease. A lease
// that ends in the moment of its grant has that moment.
func (r *Room) touches(l int8, from, last Time) bool {
	lease := &r.Leases[l]
	return lease.Granted <= last && (from < lease.End || lease.End == lease.Granted && from == lease.Granted)
}

// judge applies rules 1 and 2.
func (r *Room) judge(s *Settings, m *Message) verdict {
	touched, silent := 0, None
	for l := range r.NumLeases {
		if r.touches(l, m.From, m.Last) {
			touched++
			if !r.Leases[l].Asking {
				silent = l
			}
		}
	}
	if silent != None {
		if touched > 1 || r.inQuarantine(s, m, silent) {
			return unmatched(Ambiguous)
		}
		return r.unlessBehind(s, m, silent)
	}
	owner, sure := r.asker(s, m)
	switch {
	case !sure:
		return unmatched(Ambiguous)
	case owner == None && touched == 0:
		return unmatched(NoLease)
	case owner == None:
		return r.offer(s, m, NotExpected, None)
	case !r.fits(s, m, owner) && r.Leases[owner].Asking && touched == 0:
		return unmatched(NoLease)
	case !r.fits(s, m, owner) && r.Leases[owner].Asking:
		return r.offer(s, m, NotExpected, owner)
	case r.lapsed(s, m, owner) && r.othersLive(s, m, owner):
		if v := r.unlessBehind(s, m, owner); v.lease == None {
			return v
		}
		return r.offer(s, m, Ambiguous, None)
	case !r.Leases[owner].Asking:
		if v := r.unlessBehind(s, m, owner); v.lease == None {
			return v
		}
		return unmatched(Ambiguous)
	}
	return r.unlessBehind(s, m, owner)
}

// inQuarantine reports whether an earlier lease has an open ask that may explain a message that was sent in
// the time of a lease that does not ask (rule 1).
func (r *Room) inQuarantine(s *Settings, m *Message, l int8) bool {
	for e := range l {
		if r.Leases[e].Asking && r.leftOpen(s, e, m.From) && m.From < r.lapses(s, e) {
			return true
		}
	}
	return false
}

// asker returns the lease that asked last at or before a message was sent, and whether that is sure (rule 2).
func (r *Room) asker(s *Settings, m *Message) (owner int8, sure bool) {
	owner, at := None, never
	for l := range r.NumLeases {
		if last := r.lastAsk(s, m, l, m.From); last > never && last >= at {
			owner, at = l, last
		}
	}
	for l := range r.NumLeases {
		if last := r.lastAsk(s, m, l, m.Last); last > m.From && l != owner {
			if owner != None {
				return None, false
			}
			owner = l
		}
	}
	return owner, true
}

// lastAsk returns when a lease asked last, up to a moment, or never. A lease counts that is live, or has an
// open ask, or ended without asking and without a code.
func (r *Room) lastAsk(s *Settings, m *Message, l int8, by Time) Time {
	lease := &r.Leases[l]
	if lease.End != Live && !r.leftOpen(s, l, m.From) {
		return never
	}
	if !lease.Asking {
		if lease.End <= by && m.From-lease.End <= s.OpenFor {
			return lease.End
		}
		return never
	}
	last := never
	for a := range r.NumAsks {
		ask := &r.Asks[a]
		if ask.Lease == l && ask.At <= by && r.isYoung(s, a, m.From) {
			last = max(last, ask.At)
		}
	}
	return last
}

// isYoung reports whether an ask was at most ten minutes old at a moment, or open.
func (r *Room) isYoung(s *Settings, a int8, at Time) bool {
	return at-r.Asks[a].At <= s.OpenFor || r.isOpen(s, a, at)
}

// fits reports whether a message fits an ask of a lease that counts for it.
func (r *Room) fits(s *Settings, m *Message, l int8) bool {
	for a := range r.NumAsks {
		if ask := &r.Asks[a]; ask.Lease == l && ask.At <= m.Last && !ask.Narrow && r.isYoung(s, a, m.From) {
			return true
		}
	}
	return false
}

// othersLive reports whether another party's lease was live when a message was sent, or another party had
// asked since the end of the lease that asked last.
func (r *Room) othersLive(s *Settings, m *Message, owner int8) bool {
	for l := range r.NumLeases {
		if r.Leases[l].Party != r.Leases[owner].Party && r.touches(l, m.From, m.Last) {
			return true
		}
	}
	for a := range r.NumAsks {
		if ask := &r.Asks[a]; s.has(Displaced) && r.Leases[ask.Lease].Party != r.Leases[owner].Party &&
			ask.At >= r.Leases[owner].End && ask.At <= m.Last+s.Behind {
			return true
		}
	}
	return false
}

// lapsed reports whether a lease had lost its right when a message was sent.
func (r *Room) lapsed(s *Settings, m *Message, l int8) bool {
	return r.Leases[l].End != Live && s.has(Lapse) && m.Last >= r.lapses(s, l)
}

// unlessBehind gives a message to a lease, unless the lease is over and another party asked so shortly after
// the message that the carrier's clock may be behind.
func (r *Room) unlessBehind(s *Settings, m *Message, l int8) verdict {
	if r.Leases[l].End != Live && s.has(ClockBehind) {
		other := None
		for a := range r.NumAsks {
			ask := &r.Asks[a]
			soon := ask.At > m.Last && ask.At <= m.Last+s.Behind
			counts := soon && (!ask.Answered || s.has(BehindAnswered))
			if counts && r.Leases[ask.Lease].Party != r.Leases[l].Party {
				other = ask.Lease
			}
		}
		if other != None {
			v := unmatched(Ambiguous)
			if r.Leases[other].End == Live && m.isCode() {
				v.offered, v.byClock = other, true
			}
			return v
		}
	}
	return verdict{lease: l, ask: None, result: r.resultAt(l), offered: None}
}

// isCode reports whether a message may answer an ask.
func (m *Message) isCode() bool { return m.Code != 0 && m.Sender == Listed }

// offer offers a code to the live lease, if that asks and the code may be of its time. It does not if the
// code may be another party's, or if the lease has an open ask from before the code. That ask does not count
// if refusedBy is the lease: its own filter refused the code.
func (r *Room) offer(s *Settings, m *Message, result Result, refusedBy int8) verdict {
	v, h := unmatched(result), r.Holder()
	if h == None || !m.isCode() || !r.Leases[h].Asking || !r.touches(h, m.From, m.Last) {
		return v
	}
	if refusedBy != h {
		for a := range r.NumAsks {
			if ask := &r.Asks[a]; ask.Lease == h && ask.At <= m.Last && r.isOpen(s, a, m.From) {
				return v
			}
		}
	}
	if r.mayBeAnothers(s, m, r.Leases[h].Party) {
		return v
	}
	v.offered = h
	return v
}

// mayBeAnothers reports whether a message may be that of another party's lease with an open ask, or of one
// that ended without a code less than a quarantine before.
func (r *Room) mayBeAnothers(s *Settings, m *Message, party int8) bool {
	if r.others(s, party, m.From) {
		return true
	}
	for l := range r.NumLeases {
		lease := &r.Leases[l]
		if s.has(NoOfferAfterBarren) && lease.Party != party && lease.Codes == 0 && lease.End <= m.Last &&
			m.From < lease.End+s.Quarantine {
			return true
		}
	}
	return false
}

// attribute gives a message to a lease. Its code answers an ask, and ends the live lease when none is open.
func (r *Room) attribute(s *Settings, at, l, ask int8) {
	m := &r.Messages[at]
	m.Lease = l
	m.Given |= 1 << r.Leases[l].Party
	if !m.isCode() || m.Repeats {
		return
	}
	if r.spoken(s, at, l) {
		r.Leases[l].Codes++
		return
	}
	if ask == None {
		ask = r.openAsk(s, m, l)
	}
	r.answer(s, at, l, ask)
}

// spoken reports whether the same code has been given to the same party in other words.
func (r *Room) spoken(s *Settings, at, l int8) bool {
	m := &r.Messages[at]
	for i := range r.NumMessages {
		x := &r.Messages[i]
		if s.has(OneCodeOneAsk) && x.Code == m.Code && x.Text != m.Text && x.Lease != None &&
			r.Now-x.Came < s.OpenFor && r.Leases[x.Lease].Party == r.Leases[l].Party {
			return true
		}
	}
	return false
}

func (r *Room) answer(s *Settings, at, l, ask int8) {
	lease := &r.Leases[l]
	lease.Codes++
	if ask != None {
		r.Asks[ask].Answered = true
		r.Messages[at].Ask = ask
	}
	if lease.End == Live && !r.anyOpen(s, l) {
		lease.End = r.Now
	}
}

func (r *Room) anyOpen(s *Settings, l int8) bool {
	for a := range r.NumAsks {
		if r.Asks[a].Lease == l && r.isOpen(s, a, r.Now) {
			return true
		}
	}
	return false
}

// Claim gives an offered message to the live lease. It returns whether that is allowed.
func (r *Room) Claim(s *Settings, at int8) bool {
	m, h := &r.Messages[at], r.Holder()
	if h == None || m.Offered != h || m.Lease != None {
		return false
	}
	party := r.Leases[h].Party
	if m.Answer != Ambiguous && r.othersAsked(s, party) || r.sameElsewhere(s, at, party) {
		return false
	}
	ask := r.firstOpen(s, h, m.From)
	if ask == None {
		ask = r.firstOpen(s, h, never)
	}
	again := r.spoken(s, at, h)
	m.Lease, m.Result, m.Offered = h, Matched, None
	m.Given |= 1 << party
	if !again {
		if ask == None { // as if it had asked before
			r.addAsk(Ask{Lease: h, At: max(min(m.From, r.Now), r.Leases[h].Granted), Claimed: true})
			ask = r.NumAsks - 1
		}
		r.answer(s, at, h, ask)
	}
	return true
}

// othersAsked reports whether another party's lease has an ask of the last ten minutes that no code has
// answered, also where the lease has lost its right.
func (r *Room) othersAsked(s *Settings, party int8) bool {
	for l := range r.NumLeases {
		lease := &r.Leases[l]
		if lease.Party == party || lease.End == Live {
			continue
		}
		if !lease.Asking && r.leftOpen(s, l, r.Now) && r.Now-lease.End < s.OpenFor {
			return true
		}
		for a := range r.NumAsks {
			if ask := &r.Asks[a]; ask.Lease == l && !ask.Answered && r.Now-ask.At < s.OpenFor {
				return true
			}
		}
	}
	return false
}

// sameElsewhere reports whether a message of the same text or code came to belong to another party.
func (r *Room) sameElsewhere(s *Settings, at, party int8) bool {
	for i := range r.NumMessages {
		x := &r.Messages[i]
		same := x.Text == r.Messages[at].Text || s.has(SameCode) && x.Code == r.Messages[at].Code
		if i != at && same && x.Given&^(1<<party) != 0 {
			return true
		}
	}
	return false
}

// Reject takes a message back from its lease. Its ask is open again as of its old time.
func (r *Room) Reject(at int8) {
	m := &r.Messages[at]
	lease := &r.Leases[m.Lease]
	m.Rejected |= 1 << lease.Party
	if m.isCode() && !m.Repeats {
		lease.Codes--
	}
	if m.Ask != None {
		r.Asks[m.Ask].Answered = false
	}
	for i := at + 1; i < r.NumMessages; i++ { // those that repeat it are shown no longer, too
		x := &r.Messages[i]
		if x.Text == m.Text && x.Lease == m.Lease {
			if x.Ask != None {
				r.Asks[x.Ask].Answered = false
			}
			x.Lease, x.Ask = None, None
		}
	}
	m.Lease, m.Ask, m.Result = None, None, Rejected
}

// firstOpen returns the earliest open ask of a lease that was made at a moment or later.
func (r *Room) firstOpen(s *Settings, l int8, from Time) (first int8) {
	first = None
	for a := range r.NumAsks {
		if r.Asks[a].Lease == l && r.Asks[a].At >= from && r.isOpen(s, a, r.Now) &&
			(first == None || r.Asks[a].At < r.Asks[first].At) {
			first = a
		}
	}
	return first
}
