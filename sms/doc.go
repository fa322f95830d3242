// Package sms receives the SMS of a shared number and finds the lease that each belongs to, if any.
//
// There are two lines of defence. The first is the engine: one script compares the message's time with the
// leases, ends the one it matches, and hands the lock on. The second is the ledger: its constraints agree to
// a match or refuse it. The steps of a message:
//
//	1 received   the ledger stores it, masked; a message that was judged before is answered from there
//	2 matched    one script: result remembered, lease ended, next granted, journalled
//	3 judged     the ledger agrees to a match or refuses it, finally
//	4 settled    agreed: shown to its holder; refused: not shown, and repeats are answered "ambiguous"
//	5 answered
//
// Unmatched messages skip 3 and 4; the journal brings them to the ledger. Every step may be repeated. The
// replica that drains the journal does 3 and 4 for a message whose replica died. Failures, by where they
// happen:
//
//	two replicas have the same message    2 answers the second as the first; 3 gives both one verdict
//	dies, or Redis is away, before 2      no answer; a repeat is matched, one without sent_at at the time
//	                                      it was first received, however late the repeat
//	dies between 2 and 3                  the drain judges and settles it; so does an earlier repeat
//	dies between 3 and 4                  the drain settles it; the ledger answers a repeat
//	the ledger is away at 1               Redis knows a repeat for a day; the drain stores the message later
//	the ledger is away at 3               the match counts: shown and answered; the drain has it judged, and a
//	                                      refusal then withdraws it and raises the incident
//	… and the drain was faster            a refused match is neither shown nor answered as matched
//	Redis loses its data before 3         a repeat finds no lease: unmatched; nothing is guessed from memory
//	Redis loses its data after 3          the ledger answers a repeat; the new epoch's leases are untouched.
//	                                      An unmatched message is there once drained, without a lease
//	same id, other content                it is a repeat for a day: the first one counts; later, it is new
package sms
