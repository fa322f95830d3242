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
	list{naming, pairs(koreanChecks, koreanNumbers) + koreanNames},
	list{naming, pairs(englishChecks, "code, number, pin, passcode, password, key, token") + englishNames},
	list{naming, pairs(japaneseChecks, japaneseNumbers) + japaneseNames}, list{naming, pairs(chineseChecks, chineseNumbers) + chineseNames},
	list{naming, pairs("mã, mã số, mật khẩu", vietnameseChecks) + vietnameseNames}, list{naming, otherNames},
	list{other, "code red, tín dụng, nội dung, tương tự, người dùng, tiêu dùng"},
	list{calling, "인증, 본인확인, 본인 확인, 본인인증, 본인 인증, 코드, 암호, 비밀번호, 비번, 패스워드"},
	list{calling, "code, codes, verifycode, pin, password, verification, verify"},
	list{calling, "コード, パスワード, パスコード, 暗証番号, 認証, 本人確認, 密码, 密碼, 代码, 代碼, 口令, 验证, 驗證, 身份验证"},
	list{heading, "mã, mã số, mật khẩu, código, kode, codice, kod"},
	list{calling, "senha, clave, contraseña, token, kodu*, kodun*, şifre*, код, кода, пароль"},
	list{calling, "รหัส, رمز, كود, کد, קוד, סיסמ, कोड, কোড, κωδικός, hasło, codul, รหัสผ่าน, mot de passe, passwort"},
	list{numbering, "번호, 숫자, 番号, 数字, number, 号码, 號碼"},
	list{purpose, "로그인, 확인을 위한, log in, login, sign in, 登录, 登入, ログイン, đăng nhập"},
	list{asking, "enter, type, type in, input, use, using, 输入, 請輸入, 输入验证, 使用, nhập, dùng mã, sử dụng, saisissez, entrez, saisir, utilisez"},
	list{asking, "geben sie, gib, ingresa, introduce, usa, utiliza, digite, use, masukkan, gunakan, введите, أدخل, inserisci, ใส่, ป้อน, وارد"},
	list{asking, "confirm your number, verify your phone with, 수화기에, 숫자를 입력하세요, 번호를 입력하세요, log in with"},
	list{entering, "입력, 기입, 눌러, 누르, 누름, 적어, 넣어, 써 주, 써주, 입력하, 로그인하려면, を入力, をご入力, 入力, 以验证, 以完成"},
	list{closing, "to log in, to sign in, to verify, to continue, to confirm, use this to, để đăng nhập, để xác nhận, để hoàn tất, để tiếp tục, de dang nhap"},
	list{secrecy, "알려주지, 알려 주지, 공유하지, 말하지, 전달하지, 노출금지, 노출 금지, 노출하지, 노출되지, 유출금지, 유출 금지, 유출하지, 타인에게 절대, 타인노출, 타인 노출, 타인제공, 타인 제공, 타인알림, do not share, don't share, don’t share, never share, do not forward"},
	list{secrecy, "do not disclose, don't tell, don’t tell, keep it secret, keep this code, 勿, 不要告诉, 不要告訴, 教えないで, 共有しないで"},
	list{secrecy, "伝えないで, không chia sẻ, không cung cấp, không tiết lộ, no lo compartas, não compartilhe, ne le partagez, ne partagez pas, никому"},
	list{secrecy, "jangan berikan, nicht weiter, kimseyle paylaşma*, <#>"},
)

// Korean.
const (
	koreanChecks = `인증, 확인, 보안, 승인, 검증, 일회용, 1회용, 로그인, 본인확인, 본인 확인, 본인인증, 본인 인증, 인증요청, 요청, 임시, 이중인증, 2단계 인증,
		확인용, 인증용, 계정 확인, 복구, 가입 확인, 간편인증`
	koreanNumbers = `번호, 코드, 암호, 비밀번호, 패스워드, 숫자, 키, 넘버`
	koreanNames   = `, otp, otp번호, otp 번호, otp코드, otp 인증코드, 인 증 번 호, 입력코드, 입력 코드, 일회용 패스워드, 2단계 인증, 이중인증`
)

// English.
const (
	englishChecks = `verification, verify, security, authentication, auth, authenticator, activation, confirmation, authorization, authorisation, login, log in,
		sign in, sign on, access, 2fa, mfa, two factor, 2 step, 2 step verification, two step verification, one~time, single use, unlock, recovery, reset,
		registration, sign up, secure, identity, otp, sms, temporary, temp`
	englishNames = `, otp, otps, tan, mtan, stan, smstan, sms~tan, passcode, one~time code, one time authentication code, confirmation coce, login otp, 3d secure code`
)

// Japanese.
const (
	japaneseChecks = `認証, 認証用, 確認, 確認用, 本人確認, 検証, ログイン, 承認, 登録, 登録用, 仮登録, 復旧, リカバリー, 解除, 再設定, 再設定用, セキュリティ, ワンタイム,
		アクティベーション, サインイン, 暗証, 仮, 使い捨て, 二段階認証, 2段階認証`
	japaneseNumbers = `コード, 番号, キー, パスワード, パスコード, 数字, ナンバー, の数字`
	japaneseNames   = `, 本人認証, sms認証, 電話番号の確認, 本人様確認, 2段階認証の番号, 二段階認証の番号`
)

// Chinese, in both scripts.
const (
	chineseChecks = `验证, 驗證, 校验, 校驗, 检验, 动态, 動態, 確認, 确认, 认证, 認證, 随机, 隨機, 短信, 簡訊, 安全, 激活, 交易, 授权, 授權, 登录, 登入, 登陆, 注册, 註冊, 一次性, 临时, 臨時,
		重置, 登錄, 手机验证, 身份验证`
	chineseNumbers = `码, 碼, 密码, 密碼, 代码, 代碼, 口令`
	chineseNames   = `, otp密码, 手机号认证, 身份验证, 验证通过码, 密码找回, 手機號碼驗證`
)

// Vietnamese.
const (
	vietnameseChecks = `otp, xác thực, xác minh, xác nhận, kích hoạt, bảo mật, đăng nhập, đăng ký, pin, giao dịch, khôi phục, truy cập, phê duyệt, bí mật, hai lớp,
		ký hợp đồng, một lần, tạm thời, tạm, bảo vệ, xác minh hai bước, tra cứu otp`
	vietnameseNames = `, smartotp, mã của bạn, mã smartotp`
)

const otherNames = `code de vérification, code de sécurité, code de confirmation, code de connexion, code de validation, code d'authentification,
	code d’authentification, code d'activation, code à usage unique, mot de passe à usage unique,
	bestätigungscode, verifizierungscode, sicherheitscode, anmeldecode, zugangscode, einmalpasswort, einmalkennwort, einmalcode, code zur verifizierung,
	código de verificación, código de verificação, código de seguridad, código de segurança, código de acceso, código de acesso, código de confirmación,
	código de confirmação, clave de un solo uso, clave dinámica, clave de firma, contraseña temporal, senha temporária, tu código, su código, seu código, token,
	codice di verifica, codice di sicurezza, codice per accedere, kode verifikasi, kode otp, kode masuk, kod pengesahan, pin sementara, kode keamanan,
	รหัสยืนยัน, รหัส otp, รหัสผ่านครั้งเดียว, код подтверждения, код доступа, код безопасности, код авторизации, код для входа, одноразовый пароль, код підтвердження,
	пароль для подтверждения, doğrulama kodu*, onay kodu*, giriş şifre*, tek kullanımlık şifre*, güvenlik kodu*,
	رمز التحقق, كود التفعيل, كود التحقق, رمز الدخول, رمز تسجيل الدخول, كلمة المرور لمرة واحدة, رمز التأكيد,
	کد تایید, کد تأیید, رمز پویا, رمز یکبار مصرف, کد ورود, کد فعالسازی, ओटीपी, सत्यापन कोड, ওটিপি, verificatiecode, inlogcode, kod autoryzacyjny, kod weryfikacyjny, kod weryfikacyjny to, kod to,
	hasło jednorazowe, verifieringskod, cod de verificare, codul tău de verificare, ověřovací kód, megerősítő kód*, κωδικός επαλήθευσης, קוד האימות, קוד אימות`

// copulas stand between a code and the word that announces it, or other filling.
var (
	copulas = vocabularyOf(list{words: `은, 는, 을, 를, 이, 가, 은는, 번을, 是, 为, 為, は, が, を, là, la, é, is, are, as, ist, lautet, est, est le, es,
		è, adalah, ialah, ay, hai, este, je, är, هو, هي, است, है, হল, είναι, הוא`})
	fillers = vocabularyOf(list{words: `로, 으로, で, 입니다, 이에요, 예요, 안내, 입력, 번호, 코드, 이며, 됩니다, です, no, number, code, otp, pin, one, token, 您, 的, 码, của bạn, anda, kamu,
		कोड, 6자리, 4자리, 8자리, ref, est le, as code, this, the, code is, mã, ma, der code, el código, o código, le code, kode, رمز, الرمز, รหัส, код, คือ, ของคุณคือ`})
)

// spent says of a code that it was changed, is over or was wrong; asked of one that it is not to be given.
var spent = vocabularyOf(list{words: `변경되, 변경하였, 변경했, 변경됐, 변경 후, 변경은, 오류, 만료되었, 만료됐, 지났습니다, 초과, 실패, 틀렸, 틀려, 틀린, 틀리, 요구하는, 재설정되, 필요 없, 없이,
	was changed, were changed, has been changed, has expired, have expired, expired, is blocked, wrong, was reset, is enabled, for your e-statement,
	错误, 已修改, 已重置, 已更新, 功能, 次数过多, 変更されました, 変更してください, 間違え, 失敗, 聞き出す, 切れました, da duoc thay doi, đã được thay đổi, da doi, qua 5 lan,
	đã hết hạn, da het han, 输错, изменен*`})

// spentBefore likewise, before it.
var spentBefore = vocabularyOf(list{words: `wrong, incorrect, invalid, expired, ask for your, asks for your, nhập sai, sai, yêu cầu cung cấp, 索取, 索要`})
