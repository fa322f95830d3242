package sms

// kind is what a word says of a number near it.
type kind int

const (
	other     kind = iota
	naming         // it names a one-time code
	calling        // it may call a number a code
	heading        // it may call a number a code where no other word is between: "mã 1234", not "mã đơn hàng 1234"
	numbering      // it calls something a number: a code only where the text has a word of another kind, too
	purpose        // it says what a code is for
	asking         // it asks to enter what follows
	entering       // it asks to enter what leads up to it
	closing        // it says what to do with what leads up to it, as many a text without a code does
	secrecy        // it asks not to tell
)

// codeWords are the words that announce a code.
var codeWords = vocabularyOf(
	list{naming, pairs(koreanChecks, koreanNumbers)}, list{naming, koreanNames},
	list{naming, pairs(englishChecks, englishNumbers)}, list{naming, englishNames},
	list{naming, pairs(japaneseChecks, japaneseNumbers)}, list{naming, japaneseNames},
	list{naming, pairs(chineseChecks, chineseNumbers)}, list{naming, chineseNames},
	list{naming, pairs(vietnameseHeads, vietnameseChecks)}, list{naming, vietnameseNames},
	list{naming, furtherNames},
	list{calling, koreanCalling}, list{calling, englishCalling}, list{calling, japaneseCalling},
	list{calling, chineseCalling}, list{calling, furtherCalling},
	list{heading, vietnameseHeading}, list{heading, furtherHeading},
	list{numbering, koreanNumbering}, list{numbering, englishNumbering},
	list{numbering, japaneseNumbering}, list{numbering, chineseNumbering},
	list{purpose, koreanPurpose}, list{purpose, englishPurpose}, list{purpose, japanesePurpose},
	list{purpose, chinesePurpose}, list{purpose, vietnamesePurpose},
	list{asking, koreanAsking}, list{asking, englishAsking}, list{asking, chineseAsking},
	list{asking, vietnameseAsking}, list{asking, furtherAsking},
	list{entering, koreanEntering}, list{entering, japaneseEntering}, list{entering, chineseEntering},
	list{closing, englishClosing}, list{closing, vietnameseClosing},
	list{secrecy, koreanSecrecy}, list{secrecy, englishSecrecy}, list{secrecy, japaneseSecrecy},
	list{secrecy, chineseSecrecy}, list{secrecy, vietnameseSecrecy}, list{secrecy, furtherSecrecy},
	list{other, englishNotACode}, list{other, vietnameseNotACode},
)
