package sms

// kind is what a word indicates about a number near it. The order counts: beside takes a run of letters and
// digits that follows a word only for the kinds up to calling.
type kind int

const (
	other     kind = iota
	naming         // it names a one-time code
	calling        // it may call a number a code
	heading        // it may call a number a code if no other word is between: "mã 1234", not "mã đơn hàng 1234"
	numbering      // it calls a thing a number: a code only if the text has a word of another kind, too
	purpose        // it gives a code's purpose
	asking         // it asks to enter the following text
	entering       // it asks to enter the preceding text
	closing        // it gives instructions for the preceding text, as many texts without a code do
	secrecy        // it asks for secrecy
)

// codeWords are the words that announce a code.
var codeWords = vocabularyOf(
	list{naming, pairs(koreanChecks, koreanNumbers)}, list{naming, koreanNames},
	list{naming, pairs(englishChecks, englishNumbers)}, list{naming, englishNames},
	list{naming, pairs(japaneseChecks, japaneseNumbers)}, list{naming, japaneseNames},
	list{naming, pairs(chineseChecks, chineseNumbers)}, list{naming, chineseNames},
	list{naming, pairs(vietnameseHeads, vietnameseChecks)}, list{naming, vietnameseNames},
	list{naming, pairs(germanicChecks, germanicNumbers)}, list{naming, pairs(spanishHeads, spanishChecks)},
	list{naming, pairs(portugueseHeads, portugueseChecks)}, list{naming, pairs(frenchHeads, frenchChecks)},
	list{naming, pairs(italianHeads, italianChecks)}, list{naming, pairs(slavicHeads, slavicChecks)},
	list{naming, pairs(polishHeads, polishChecks)}, list{naming, pairs(turkishChecks, turkishNumbers)},
	list{naming, pairs(malayHeads, malayChecks)}, list{naming, wantedCodes}, list{naming, furtherNames},
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
