// Package sms takes the SMS that arrive on a shared number and says to which lease each belongs, or to none.
//
// Two lines of defence stand one behind the other. The first is the engine: one script compares the message's time
// with the leases, ends the one it matches, and hands the lock on. The second is the ledger: its constraints agree to
// a match or refuse it. A message goes
//
//	1 received   the ledger has it, masked; one that was judged before is answered from there
//	2 matched    one script: result remembered, lease ended, next granted, journalled
//	3 judged     the ledger agrees to a match or refuses it, once and for ever
//	4 settled    agreed: its holder is shown it; refused: nobody is, and repeats are told "ambiguous"
//	5 answered
//
// What is not matched needs no 3 and 4: the journal brings it to the ledger. Every step may be repeated, and whoever
// drains the journal does 3 and 4 for a message whose replica died. So, by where things go wrong:
//
//	two replicas have the same message    2 answers the second as the first; 3 gives both one verdict
//	dies, or Redis is away, before 2      nobody was told anything; a repeat is matched, one without sent_at at the
//	                                      time it was first received, however late the repeat
//	dies between 2 and 3                  the drain judges and settles it; a repeat before that does so too
//	dies between 3 and 4                  the drain settles it; a repeat is answered by the ledger
//	the ledger is away at 1               Redis knows a repeat for a day; the drain brings the message later
//	the ledger is away at 3               the first line's word counts: shown and answered; the drain has it judged,
//	                                      and a refusal then withdraws it and raises the incident
//	… and the drain was faster            what was refused meanwhile is neither shown nor answered as matched
//	Redis loses its data before 3         a repeat finds no lease: unmatched. Nothing is guessed from memory
//	Redis loses its data after 3          the ledger answers a repeat; the new epoch's leases are untouched. What was
//	                                      not matched is known there once it is drained, and has no lease before
//	same id, other content                it is a repeat: the first one counts
package sms
