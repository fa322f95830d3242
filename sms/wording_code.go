package sms

// The words for codes, a list for each language and kind. Checks and Numbers make pairs: "인증" and "번호".

// Korean.
const koreanChecks = `인증, 확인, 보안, 승인, 검증, 일회용, 1회용, 로그인, 본인확인, 본인 확인, 본인인증, 본인 인증, 인증요청, 요청, 임시,
	이중인증, 2단계 인증, 확인용, 인증용, 계정 확인, 복구, 가입 확인, 간편인증`
const koreanNumbers = `번호, 코드, 암호, 비밀번호, 패스워드, 숫자, 키, 넘버`
const koreanNames = `otp, otp번호, otp 번호, otp코드, otp 인증코드, 인 증 번 호, 입력코드, 입력 코드, 일회용 패스워드, 2단계 인증,
	이중인증`
const koreanCalling = `인증, 본인확인, 본인 확인, 본인인증, 본인 인증, 코드, 암호, 비밀번호, 패스워드`
const koreanNumbering = `번호, 숫자`
const koreanPurpose = `로그인, 확인을 위한`
const koreanAsking = `수화기에, 숫자를 입력하세요, 번호를 입력하세요`
const koreanEntering = `입력, 기입, 눌러, 누르, 누름, 적어, 넣어, 써 주, 써주, 입력하, 로그인하려면`
const koreanSecrecy = `알려주지, 알려 주지, 공유하지, 말하지, 전달하지, 노출금지, 노출 금지, 노출하지, 노출되지, 유출금지, 유출 금지, 유출하지,
	타인에게 절대, 타인노출, 타인 노출, 타인제공, 타인 제공, 타인알림`

// English.
const englishChecks = `verification, verify, security, authentication, auth, authenticator,
	activation, confirmation, authorization, authorisation, login, log in, sign in, sign on, access,
	2fa, mfa, two factor, 2 step, 2 step verification, two step verification, one~time, single use,
	unlock, recovery, reset, registration, sign up, secure, identity, otp, sms, temporary, temp`
const englishNumbers = `code, number, pin, passcode, password, key, token`
const englishNames = `otp, otps, tan, mtan, stan, smstan, sms~tan, passcode, one~time code,
	one time authentication code, confirmation coce, login otp, 3d secure code`
const englishCalling = `code, codes, verifycode, pin, password, verification, verify`
const englishNumbering = `number`
const englishPurpose = `log in, login, sign in`
const englishAsking = `confirm it's you, confirm it’s you, confirm that it's you, enter, type,
	type in, key in, tap in, input, use, using, confirm your number,
	verify your phone with, log in with`
const englishClosing = `to log in, to sign in, to verify, to continue, to confirm, use this to,
	to finish logging in, to finish signing in, to finish signing up, to complete your login,
	to complete your sign in, to complete your registration`
const englishSecrecy = `don't give, don’t give, do not give, never give, never tell, do not tell,
	keep this private,
	do not share, don't share, don’t share, never share, do not forward,
	do not disclose, don't tell, don’t tell, keep it secret, keep this code, <#>`
const englishNotACode = `code red`

// Japanese.
const japaneseChecks = `認証, 認証用, 確認, 確認用, 本人確認, 検証, ログイン, 承認, 登録, 登録用, 仮登録, 復旧, リカバリー, 解除, 再設定,
	再設定用, セキュリティ, ワンタイム, アクティベーション, サインイン, 暗証, 仮, 使い捨て, 二段階認証, 2段階認証`
const japaneseNumbers = `コード, 番号, キー, パスワード, パスコード, 数字, ナンバー, の数字`
const japaneseNames = `本人認証, sms認証, 電話番号の確認, 本人様確認, 2段階認証の番号, 二段階認証の番号`
const japaneseCalling = `コード, パスワード, パスコード, 暗証番号, 認証, 本人確認`
const japaneseNumbering = `番号, 数字`
const japanesePurpose = `ログイン`
const japaneseEntering = `を入力, をご入力, 入力, 数字をお使い, 数字をご利用, 番号をお使い, 番号をご利用, コードをお使い, コードをご利用`
const japaneseSecrecy = `教えないで, 共有しないで, 伝えないで`

// Chinese, in both scripts.
const chineseChecks = `验证, 驗證, 校验, 校驗, 检验, 动态, 動態, 確認, 确认, 认证, 認證, 随机, 隨機, 短信, 簡訊, 安全, 激活, 交易, 授权,
	授權, 登录, 登入, 登陆, 注册, 註冊, 一次性, 临时, 臨時, 重置, 登錄, 手机验证, 身份验证`
const chineseNumbers = `码, 碼, 密码, 密碼, 代码, 代碼, 口令`
const chineseNames = `otp密码, 手机号认证, 身份验证, 验证通过码, 密码找回, 手機號碼驗證`
const chineseCalling = `密码, 密碼, 代码, 代碼, 口令, 验证, 驗證, 身份验证`
const chineseNumbering = `号码, 號碼`
const chinesePurpose = `登录, 登入`
const chineseAsking = `输入, 輸入, 請輸入, 输入验证, 使用`
const chineseEntering = `以验证, 以完成`
const chineseSecrecy = `勿, 不要告诉, 不要告訴`

// Vietnamese, also without accents.
const vietnameseHeads = `mã, mã số, mật khẩu`
const vietnameseChecks = `otp, mới, xác thực, xác minh, xác nhận, kích hoạt, bảo mật, đăng nhập, đăng ký,
	pin, giao dịch, khôi phục, truy cập, phê duyệt, bí mật, hai lớp, ký hợp đồng, một lần, tạm thời,
	tạm, bảo vệ, xác minh hai bước, tra cứu otp`
const vietnameseNames = `smartotp, mã của bạn, mã smartotp`
const vietnameseHeading = `mã, mã số, mật khẩu`
const vietnamesePurpose = `đăng nhập`
const vietnameseAsking = `gõ, nhập, dùng mã, sử dụng`
const vietnameseClosing = `để đăng nhập, để xác nhận, để hoàn tất, để tiếp tục, de dang nhap`
const vietnameseSecrecy = `không chia sẻ, không cung cấp, không tiết lộ`
const vietnameseNotACode = `tín dụng, nội dung, tương tự, người dùng, tiêu dùng`

// Languages with a few words each.
const germanicChecks = `aktivierungs, zahlungs, freigabe, registrierungs, bestätigungs,
	verifizierungs, verifikations,
	sicherheits, anmelde, zugangs, einmal, login, transaktions, prüf, activatie, verificatie, bevestigings,
	beveiligings, inlog, toegangs, aktiverings, verifierings, säkerhets, inloggnings, engångs, bekræftelses,
	bekreftelses, sikkerheds, sikkerhets, engangs`
const germanicNumbers = `code, kode, kod, koden, passwort, kennwort, pin, wachtwoord`
const spanishHeads = `código de, clave de`
const spanishChecks = `activación, verificación, confirmación, seguridad, acceso, registro,
	autorización, autenticación,
	validación, inicio de sesión, un solo uso`
const portugueseHeads = `código de, senha de`
const portugueseChecks = `ativação, verificação, confirmação, segurança, acesso, cadastro,
	autorização, autenticação,
	validação, login, uso único`
const frenchHeads = `code de, code d', code d’, code d`
const frenchChecks = `activation, vérification, sécurité, confirmation, connexion, validation,
	accès, inscription,
	autorisation, authentification`
const italianHeads = `codice di, codice d', codice d’`
const italianChecks = `attivazione, verifica, sicurezza, conferma, accesso, registrazione,
	autorizzazione, autenticazione`
const slavicHeads = `код, код для`
const slavicChecks = `активации, активації, активация, регистрации, реєстрації, подтверждения,
	підтвердження, доступа, доступу,
	безопасности, безпеки, авторизации, авторизації, входа, входу, проверки, перевірки`
const polishHeads = `kod, kód`
const polishChecks = `aktywacyjny, aktywacji, weryfikacyjny, weryfikacji, autoryzacyjny,
	autoryzacji, potwierdzający, dostępu,
	logowania, aktivácie, overenia`
const turkishChecks = `aktivasyon, doğrulama, onay, giriş, güvenlik, tek kullanımlık, üyelik`
const turkishNumbers = `kodu*, kodun*, şifre*`
const malayHeads = `kode, kod`
const malayChecks = `aktivasi, verifikasi, otp, masuk, keamanan, konfirmasi, pengaktifan,
	pengesahan, keselamatan, akses, login`

// wantedCodes have a verb that asks for the code behind them.
const wantedCodes = `introduce el código, introduzca el código, ingresa el código,
	ingrese el código, escribe el código,
	digite o código, insira o código, saisissez le code, entrez le code, tapez le code,
	inserisci il codice, digita il codice, geben sie den code, gib den code, voer de code`
const furtherNames = `code de vérification, code de sécurité, code de confirmation,
	code de connexion, code de validation, code d'authentification, code d’authentification,
	code d'activation, code à usage unique, mot de passe à usage unique, code zur verifizierung,
	código de verificación, código de verificação,
	código de seguridad, código de segurança, código de acceso, código de acesso,
	código de confirmación, código de confirmação, clave de un solo uso, clave dinámica,
	clave de firma, contraseña temporal, senha temporária, código para, tu código, su código,
	seu código, token,
	codice di verifica, codice di sicurezza, codice per accedere, codice per autorizzare,
	codice per confermare,
	code pour valider, code pour confirmer, mobiletan, pushtan, kode verifikasi, kode otp,
	kode masuk, kod pengesahan, pin sementara, kode keamanan, รหัสยืนยัน, รหัสเปิดใช้งาน, รหัส otp,
	รหัสผ่านครั้งเดียว, код подтверждения, код доступа, код безопасности, код авторизации,
	код для входа, одноразовый пароль, код підтвердження, пароль для подтверждения, doğrulama kodu*,
	onay kodu*, giriş şifre*, tek kullanımlık şifre*, güvenlik kodu*, رمز التحقق, رمز التفعيل, كود التفعيل,
	كود التحقق, رمز الدخول, رمز تسجيل الدخول, كلمة المرور لمرة واحدة, رمز التأكيد, کد تایید,
	کد تأیید, رمز پویا, رمز یکبار مصرف, کد ورود, کد فعالسازی, ओटीपी, सत्यापन कोड, ওটিপি,
	kod autoryzacyjny, kod weryfikacyjny, kod weryfikacyjny to, kod to,
	hasło jednorazowe, cod de verificare, codul tău de verificare, codul tău de activare,
	cod de activare, ověřovací kód, aktivační kód, potvrzovací kód, megerősítő kód*, aktiváló kód*,
	κωδικός επαλήθευσης, κωδικός ενεργοποίησης, קוד האימות, קוד אימות`
const furtherCalling = `senha, clave, contraseña, token, kodu*, kodun*, şifre*, код, кода, пароль,
	รหัส, رمز, كود, کد, קוד, סיסמ, कोड, কোড, κωδικός, hasło, codul, รหัสผ่าน, mot de passe,
	passwort`
const furtherHeading = `código, kode, codice, kod`
const furtherAsking = `tapez, composez, escribe, insira, voer, ange, skriv, indtast, syötä, tast,
	zadajte, saisissez, entrez, saisir, utilisez, geben sie, gib, ingresa, introduce, usa,
	utiliza, digite, masukkan, gunakan, wpisz, wprowadź, zadejte,
	введіть, введите, أدخل, inserisci, ใส่, ป้อน, وارد`
const furtherSecrecy = `no lo compartas, não compartilhe, ne le partagez, ne partagez pas, никому,
	jangan berikan, nicht weiter, kimseyle paylaşma*`
