package sms

// copulas may separate a code from the word that announces it.
var copulas = vocabularyOf(list{words: `은, 는, 을, 를, 이, 가, 은는, 번을, 이제, 是, 为, 為, は, が, を, là, la, é, is,
	are, as, ist, jest, lautet, est, est le, es, è, adalah, ialah, ay, hai, este, je, är, هو, هي, است, है,
	হল, είναι, הוא`})

// fillers may separate them too.
var fillers = vocabularyOf(list{words: `로, 으로, で, 입니다, 이에요, 예요, 안내, 입력, 번호, 코드, 이며, 됩니다, です, no,
	number, code, otp, pin, one, token, 您, 的, 码, của bạn, anda, kamu, कोड, 6자리, 4자리, 8자리, ref,
	est le, as code, this, the, code is, mã, ma, der code, el código, o código, le code, kode, kodu, رمز,
	الرمز, รหัส, код, คือ, ของคุณคือ`})

// spent words mark a code as changed, expired, wrong or not to be shared.
var spent = vocabularyOf(list{words: `변경되, 변경하였, 변경했, 변경됐, 변경 후, 변경은, 오류, 만료되었, 만료됐, 지났습니다, 초과, 실패, 까먹, 잊어버,
	틀렸, 틀려, 틀린, 틀리, 요구하는, 재설정되, 필요 없, 없이, was changed, were changed, has been changed, has expired,
	have expired, expired, is blocked, wrong, was reset, is enabled, for your e-statement, 错误, 已修改,
	已重置, 已更新, 功能, 次数过多, 変更されました, 変更してください, 間違え, 失敗, 聞き出す, 切れました, da duoc thay doi, đã được thay đổi,
	da doi, qua 5 lan, đã hết hạn, da het han, 输错, изменен*`})

// spentBehind words mark the code before them as expired, void or used.
var spentBehind = vocabularyOf(list{words: `만료되었습니다, 만료됐습니다, 만료되었어요, 만료됐어요, 만료되었으니, 만료됐으니, 만료 처리, 만료됨,
	사용할 수 없, 사용하실 수 없, 사용이 불가, 사용 불가, 사용불가, 이용할 수 없, 이용하실 수 없, 이용 불가, 쓸 수 없, 쓰실 수 없, 못 씁니다,
	인증할 수 없, 인증하실 수 없, 인증이 불가, 더 이상, 더는, 무효, 유효하지 않, 폐기, 자동 폐기, 자동폐기, 취소되었, 취소됐, 취소됨, 말고, 대신,
	아닌, 아니라, 이미 사용, 자동 만료되었, 더이상, 변경되었, 변경됐, 사용 완료, 사용완료, 취소, 일치하지,
	불일치, 무시, 유효기간 만료, 유효시간 만료, 사용하지 마, 입력하지 마시고, 유효시간이 지나, 유효시간이 지났, 유효시간이 초과, 유효시간이 만료,
	has expired, expired, is expired, no longer, has already been, already used, was already, was cancelled,
	was canceled, has been cancelled, has been canceled, has been replaced, was replaced, will not work,
	won't work, does not work, is void, is now void, is invalid, is now invalid, not valid, is not valid,
	was used, has been used, you entered, was sent by mistake, was sent in error, is incorrect, is wrong,
	已过期, 已過期, 已失效, 已作废, 已作廢, 作废, 作廢, 无效, 無效, 已无效, 已無效, 不再有效, 已被使用, 已使用,
	無効, ご利用いただけません, ご利用になれません, ご使用いただけません, 使用できません, 利用できません, 使えません, の有効期限が切れ, 有効期限が切れ, 期限が切れ, 破棄,
	使用しないで, 使わないで, 失効, 期限切れ, 使用済み,
	đã hết hạn, đã hết hiệu lực, hết hiệu lực, không còn hiệu lực, không còn hợp lệ, không còn giá trị,
	không hợp lệ, đã bị hủy, đã bị huỷ, đã được sử dụng,
	nicht mehr gültig, nicht mehr, ungültig, abgelaufen, wurde bereits, bereits verwendet,
	wurde ersetzt, ya no es, ya no, no es válido, ha caducado,
	ha expirado, não é mais, não é válido, já não, expirou, n'est plus, n’est plus, a expiré,
	non è più, è scaduto, scaduto, is niet meer, niet meer, ongeldig, verlopen,
	już nieważny, już nie, nieważny, wygasł, больше не, недействителен, истёк, истек, просрочен, вже не,
	більше не, недійсний, süresi doldu, kodunun süresi, artık geçerli, artık kullan*, geçersiz,
	geçerli değil, sudah tidak, sudah kedaluwarsa, telah kedaluwarsa, sudah digunakan, tidak berlaku,
	kedaluwarsa,
	tidak lagi, tidak sah, inte längre, ogiltig, har gått ut, is al gebruikt, ikke længere,
	ikke lenger, již není, už není, neplatný,
	nu mai este, már nem, δεν ισχύει, ใช้ไม่ได้, หมดอายุแล้ว, لم يعد, منتهي, अब मान्य नहीं`})

// spentBefore words mark a code as void, wrong or not to be given away. They stand before the word for it.
var spentBefore = vocabularyOf(list{words: `previous, wrong, incorrect, invalid, expired, ask for your,
	asks for your, nhập sai, sai, yêu cầu cung cấp, 索取, 索要, 사용된, 사용한, 만료된, 폐기된, 무효화된, 취소된, 잘못된,
	used, cancelled, ignore, disregard, ignore the, 잘못 발송된, 입력하신, 無効な, 失効した, 使用済みの, 已作废的, 失效的, 过期的`})

// oldBefore words mark a code as replaced if a newBefore word stands before another word for a code. Alone
// they do not: "계정 이전 인증번호" is the code for moving an account.
var (
	oldBefore = vocabularyOf(list{words: `기존, 기존의, 이전, 이전의, 종전, 예전, 직전, 지난번, 이전 발송, 기발송, 앞서 발송된,
	앞서 보낸, 먼저 발송된, 먼저 보낸,
	이전에 발송된, 이전에 보낸, old, earlier, former,
	last, 旧, 舊, 旧的, 舊的, 之前的, 原, 以前の, 前回の, 前の, 古い, alter, alte, altes, alten, antiguo, anterior, antigo,
	ancien, vecchio, precedente, oude, stary, poprzedni, старый, прежний, eski, lama, gammal`})
	newBefore = vocabularyOf(list{words: `새, 새로운, 새로, 신규, 변경된, 재발급된, 재발송된, 최신, new, 新, 新的,
	新しい, 最新の, neuer, neue, neues, neuen, nuevo, novo, nouveau, nuovo, nieuwe, nowy, новый, yeni, nya`})
)
