package sms

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// reach is how far, in characters, a word that announces a code may stand from it.
const reach = 60

// The words that announce a code. The strong ones name it; the weak ones count where no strong one does.
var (
	strongLabel = regexp.MustCompile(`(?i)` +
		`(?:인증|확인|보안|승인|검증|일회용|1회용|로그인|본인\s?확인|본인\s?인증)\s?(?:번호|코드|암호|비밀번호|숫자|키)` +
		`|\bOTP\b(?:\s?(?:번호|코드))?|\b(?:[ms]|sms-?)?TAN\b` +
		`|\b(?:verification|verify|security|authentication|auth|activation|confirmation|authori[sz]ation|login|log-in|sign-?in|access|2fa|one[- ]time)` +
		`[\s-]?(?:code|number|pin|passcode|password)\b` +
		`|\bpasscode\b|验证码|驗證碼|校验码|校驗碼|动态码|动态密码|動態密碼|確認碼|认证码|認證碼|認証コード|認証番号|確認コード|確認番号|検証コード|ワンタイムパスワード` +
		`|mã\s(?:otp|xác\s(?:thực|minh|nhận))|\bma\sxac\s(?:thuc|minh|nhan)\b|รหัส(?:ยืนยัน|\s?OTP)|\bkode\s(?:verifikasi|otp)\b` +
		`|\bc[óo]digo\sde\s(?:verifica[a-zçãó]*|seguridad|segurança|acceso|confirma[a-zçãó]*)|\bcode\sde\s(?:v[ée]rification|s[ée]curit[ée]|confirmation)` +
		`|\b(?:best[äa]tigungs|verifizierungs|sicherheits)code\b|\bcodice\sdi\s(?:verifica|sicurezza)\b|код\s(?:подтверждения|доступа|безопасности)|\bdoğrulama\skodu` +
		`|@[a-z0-9-]+(?:\.[a-z0-9-]+)+ #`) // the last line that binds a code to a site
	weakLabel = regexp.MustCompile(`(?i)본인\s?확인|본인\s?인증|인증|코드|암호|비밀번호|번호|숫자|\b(?:code|pin|password|kode|kod|c[óo]digo|codice)\b|mã\b|код|пароль|コード|รหัส`)
)

// What may stand between a label and a code for the two to belong together beyond doubt.
var (
	tightAfter = regexp.MustCompile(`(?i)^(?:[^\p{L}\p{N}.!?。]|입니다|이에요|은|는|을|를|이|가|로|으로|안내|입력|번호|코드|是|为|為|は|です` +
		`|là|é|\b(?:is|are|as|no|number|code|la|es|ist|lautet|est|adalah)\b)*$`)
	tightNext = regexp.MustCompile(`(?i)^[^\p{L}\p{N}.!?。]*(?:$|(?:\b(?:is|as|ist|est|es|la|adalah)\b|là|é|은|는|이|가|을|를|是|为|為|は)[^.!?。\n]*$)|^ ?\([^).!?。\n]*$`)
	said      = regexp.MustCompile(`[\p{L}(]`)
	wordEnd   = regexp.MustCompile(`^(?:[^\p{L}\p{N} ]|\s*$| ?(?:입니다|이에요|을|를))`)
	openLine  = regexp.MustCompile(`(?:^|\n)[^\p{L}\p{N}\n]*$|[\[(<{"'「『【*]\s?$`)
	closeLine = regexp.MustCompile(`^(?:[^\p{L}\p{N}\n]*(?:$|\n)|\s?[\])>}"'」』】*])`)
)

// marker says which run the label at text[from:to] means, if any.
type marker func(text string, runs []run, from, to int) (run, bool)

// beside is the next run when only a particle or a bracket is between them; else the last one when it leads up to the
// label ("123456 is your …").
func beside(text string, runs []run, from, to int) (run, bool) {
	i := nextRun(runs, to)
	if i < len(runs) && !runs[i].word {
		if gap := text[to:runs[i].from]; near(gap) && tightAfter.MatchString(gap) {
			return runs[i], true
		}
	}
	i = lastRun(runs, i, from)
	if i < 0 || runs[i].word {
		return run{}, false
	}
	gap := text[runs[i].to:from]
	leads := near(gap) && tightNext.MatchString(gap)
	if runs[i].letters || runs[i].doubtful { // "[11ST] 인증번호 …" is a sender
		leads = leads && said.MatchString(gap)
	}
	return runs[i], leads
}

// inReach is the next run in reach, else the last one; letters only where nothing else is on their line.
func inReach(text string, runs []run, from, to int) (run, bool) {
	next := nextRun(runs, to)
	for i := next; i < len(runs) && near(text[to:runs[i].from]); i++ {
		if r := runs[i]; !r.doubtful && !r.word && (!r.letters || alone(text, r)) {
			return r, true
		}
	}
	for i := lastRun(runs, next, from); i >= 0 && near(text[runs[i].to:from]); i-- {
		if r := runs[i]; !r.doubtful && !r.letters {
			return r, true
		}
	}
	return run{}, false
}

// wordBeside is the next run when it has only capital letters, ends its phrase, and not all of the text is written so.
func wordBeside(text string, runs []run, from, to int) (run, bool) {
	i := nextRun(runs, to)
	if i == len(runs) || !runs[i].word || shouted(text[:from]+text[runs[i].to:]) {
		return run{}, false
	}
	gap := text[to:runs[i].from]
	return runs[i], near(gap) && tightAfter.MatchString(gap) && wordEnd.MatchString(text[runs[i].to:])
}

// shouted is true for a text that has letters, and all of them capitals.
func shouted(text string) bool {
	return strings.ToUpper(text) == text && strings.ToLower(text) != text && !hangul.MatchString(text)
}

var hangul = regexp.MustCompile(`\p{Hangul}`)

// nextRun is the index of the first run at or behind a place in the text.
func nextRun(runs []run, place int) int {
	i, _ := slices.BinarySearchFunc(runs, place, func(r run, place int) int { return cmp.Compare(r.from, place) })
	return i
}

// lastRun is the index of the last run before i that ends at or before a place, -1 for none.
func lastRun(runs []run, i, place int) int {
	for i--; i >= 0 && runs[i].to > place; i-- { // within the label
	}
	return i
}

func near(gap string) bool {
	return len(gap) <= reach*utf8.UTFMax && utf8.RuneCountInString(gap) <= reach
}

// alone is true for a run that has its line, or a pair of brackets, for itself.
func alone(text string, r run) bool {
	return openLine.MatchString(before(text, r.from)) && closeLine.MatchString(after(text, r.to))
}
