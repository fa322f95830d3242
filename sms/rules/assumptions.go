package rules

// Assumption is a set of the assumptions within which no code reaches another session.
type Assumption uint32

// The assumptions.
const (
	InTime Assumption = 1 << iota
	WithinTurn
	AskFirst
	AskAgain
	NotFarBehind
	NotAhead
	HasTime
	OneTime
	CopySoon
	OwnCode
	LongCode
	KnownSender
	NoFalseCode
	NoStranger
)

// Kind is how a message came about.
type Kind int8

// The kinds. Those that an assumption rules out stand after Stray.
const (
	Own       Kind = iota // the seller asked, then pressed within its turn
	SentAgain             // the carrier sent it a second time
	Reworded              // the same code in other words, or of another sender
	Stray                 // a text that no press caused, of a sender that does not count
	LateSent
	AfterTurn
	Unasked
	Again
	OtherTime
	Belated
	SameAsAnothers
	ShortReworded
	OwnPhone
	FalseCode
	Stranger
)

// Assumed is an assumption in words.
type Assumed struct {
	Is    Assumption
	Holds string // what is assumed
	Price string // what it costs where it does not hold, and what helps
}

// List has all assumptions.
var List = []Assumed{
	{InTime, "A carrier sends a code within a quarantine after the end of its seller's turn",
		`The seller that is shown another's code sees that it does not work and presses "번호가 맞지 않아요": the
		message is taken back, support sees it, and the ask is open again. The code that it displaced goes astray
		too if its own seller has left. A longer ` + "`SMS_QUARANTINE`" + ` makes this rarer, and the line slower.`},
	{WithinTurn, "A seller presses at the marketplace within its turn",
		`waitroom cannot know of a later press. The page says when the turn is over.`},
	{AskFirst, "A seller asks before it presses",
		`A code that no ask explains counts as the last asker's, or is offered to the holder. The page opens the
		marketplace by the button that asks.`},
	{AskAgain, "A seller that presses again asks again",
		`One ask takes one code. The second code finds no open ask of its seller, and the number is free.`},
	{NoStranger, "Only the holder of the lock makes the marketplace send codes to the number",
		`Such a code answers the holder's ask and ends its turn. The holder's own code then goes to the next
		seller.`},
	{NoFalseCode, "No message that counts has a number that is taken for a code",
		`A false code ends a turn, and the real one goes to the next seller. ` + "`from`, `contains` and `sms_from`" + `
		keep adverts out ([how the finder decides](#what-is-a-code)).`},
	{KnownSender, "Where no list names the senders, nobody texts a code from a number that is no mobile",
		`Without a list, only texts from mobile numbers are known to be no marketplace's. Set ` +
			"`from` or `sms_from`."},
	{OneTime, "A message that comes twice has the same time both times",
		`With another time it counts as a code that was sent again, and answers a second ask of its seller. One id
		or one ` + "`sent_at`" + ` for one message prevents that.`},
	{CopySoon, "A copy of a code in other words comes within ten minutes",
		`Later the code is forgotten everywhere, and a copy counts as a new code.`},
	{HasTime, "Each message has the time at which the carrier took it",
		`Without ` + "`sent_at`" + ` it counts as sent when it comes: its time on the way shortens the quarantine.`},
	{NotFarBehind, "The carrier's clock is behind by at most a sixth of the quarantine (5 s)",
		`A code then seems older than the ask that caused it, and goes to the seller before. Incidents
		` + "`carrier_clock`" + ` show it before that. ` + "`SMS_GUARD`" + ` allows for a known difference. Ask the carrier
		for ` + "`sent_at`" + ` with milliseconds and for NTP.`},
	{NotAhead, "The carrier's clock is not ahead",
		`It shortens the quarantine by as much for a code that is on its way for longer than that.`},
	{OwnCode, "Two sellers are never sent the very same text within ten minutes",
		`With codes of four digits that is one in ten thousand. The text counts as the first seller's again, or is
		` + "`ambiguous`" + ` and support gives it to either. The second seller asks once more.`},
	{LongCode, "Codes that come a second time in other words have five characters or more",
		`Shorter ones are too often equal by chance, so the copy counts as a new code.`},
}
