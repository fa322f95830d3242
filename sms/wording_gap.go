package sms

// copulas may separate a code from the word that announces it.
var copulas = vocabularyOf(list{words: `은, 는, 을, 를, 이, 가, 은는, 번을, 是, 为, 為, は, が, を, là, la, é, is,
	are, as, ist, lautet, est, est le, es, è, adalah, ialah, ay, hai, este, je, är, هو, هي, است, है,
	হল, είναι, הוא`})

// fillers may separate them too.
var fillers = vocabularyOf(list{words: `로, 으로, で, 입니다, 이에요, 예요, 안내, 입력, 번호, 코드, 이며, 됩니다, です, no,
	number, code, otp, pin, one, token, 您, 的, 码, của bạn, anda, kamu, कोड, 6자리, 4자리, 8자리, ref,
	est le, as code, this, the, code is, mã, ma, der code, el código, o código, le code, kode, رمز,
	الرمز, รหัส, код, คือ, ของคุณคือ`})

// spent words mark a code as changed, expired, wrong or not to be shared.
var spent = vocabularyOf(list{words: `변경되, 변경하였, 변경했, 변경됐, 변경 후, 변경은, 오류, 만료되었, 만료됐, 지났습니다, 초과, 실패,
	틀렸, 틀려, 틀린, 틀리, 요구하는, 재설정되, 필요 없, 없이, was changed, were changed, has been changed, has expired,
	have expired, expired, is blocked, wrong, was reset, is enabled, for your e-statement, 错误, 已修改,
	已重置, 已更新, 功能, 次数过多, 変更されました, 変更してください, 間違え, 失敗, 聞き出す, 切れました, da duoc thay doi, đã được thay đổi,
	da doi, qua 5 lan, đã hết hạn, da het han, 输错, изменен*`})

// spentBehind words mark the code before them as expired. They are whole words: 만료되었을 says what to do if it
// should expire.
var spentBehind = vocabularyOf(list{words: `만료되었습니다, 만료됐습니다, 만료되었어요, 만료됐어요, 만료되었으니, 만료됐으니, has expired,
	is expired, 已过期, 已失效, đã hết hạn, da het han`})

// spentBefore words do so before the word for a code.
var spentBefore = vocabularyOf(list{words: `previous, wrong, incorrect, invalid, expired, ask for your,
	asks for your, nhập sai, sai, yêu cầu cung cấp, 索取, 索要`})
