package sms

// topics make the following word for a number another number than a code: "주문번호", "order no.".
var topics = vocabularyOf(
	list{words: koreanTopics}, list{words: englishTopics}, list{words: chineseTopics},
	list{words: japaneseTopics}, list{words: vietnameseTopics}, list{words: furtherTopics},
)

const koreanTopics = `사유, 오류, 에러, 상태, 응답, 공정, 담당자, 지역, 주문, 접수, 예약, 운송장, 송장, 등기, 계좌, 전화, 휴대폰, 핸드폰,
	사업자, 등록, 고객, 회원, 카드, 상품, 거래, 문의,
	상담, 대표, 우편, 차량, 좌석, 대기, 순번, 사건, 민원, 관리, 제품, 모델, 시리얼, 일련, 쿠폰, 할인, 프로모션, 홍보, 추천, 추천인, 초대, 이벤트, 발신,
	수신, 회신, 내선, 결제, 신고, 조회, 교환, 교환권, 배송, 현관, 출입, 출입문, 와이파이, 사물함, 보관함, 택배함, 무인함, 무인택배함, 직원, 지점, 점포,
	납부, 픽업, 수령, 열림, 승차권, 예매, 진료, 수험, 학생, 통관, 보험, 증권, 계약, 가입, 참여, 당첨, 검침, 봉인, 사내, 서고, 핀, 칸`
const englishTopics = `reason, status, product, response, result, exit, item, course, class, conference,
	school, region, batch, part, style, colour, color, failure, fault, event, job, order, ref,
	reference, tracking, parcel, delivery, shipment, package, invoice, booking,
	reservation, case, ticket, flight, zip, postal, post, area, country, tax, error, dress, source,
	bar, qr, gate, door, lockbox, lock, building, seat, room, coupon, promo, promotion, promotional,
	discount, voucher, gift, gift card, redeem, referral, refer, invite, invitation, purchase,
	model, version, serial, pnr, account, acct, card, customer, member, membership, user, employee,
	student, policy, transaction, txn, receipt, vehicle, pickup, pick~up, collection, release,
	claim, locker, wifi, wi-fi, swift, sort, ifsc, meeting, appointment, queue, raffle, dial,
	branch, bank, parking, docket, meter, license`
const chineseTopics = `订单, 訂單, 运单, 運單, 快递, 取件, 取货, 取貨, 取餐, 提货, 提貨, 收货, 签收, 自提, 提取, 存件, 核销, 优惠, 優惠,
	邀请, 邀請, 推荐, 兑换, 兌換, 折扣, 会员, 會員, 入园, 座位, 取票, 预约, 门禁, 楼下, wifi, 开箱, 柜子, 会议, 错误, 项目, 机构, 股东, 股票,
	基金, 邮政, 信用, 税, 社会信用, 订位, 訂位, 票, 收款`
const japaneseTopics = `注文, 注文確認, 受付, 受付確認, 予約, ご予約, 予約確認, ご予約確認,
	会員, 会員様, お客様, 整理, 呼び出し, お呼び出し, 追跡, 伝票, 引換, 受取, 受け取り, 受取用,
	再配達, クーポン, 招待, 紹介, 友だち紹介, 割引, プロモーション, シリアル, ギフト, 特典, 抽選, 郵便, 支店, 口座, 証券, 社員, 学籍, 受験, 診察券, 車両,
	管理, 契約, 事件, エラー, 入館, お荷物, 荷物, 問い合わせ, お問い合わせ, 融資, お取引, 取引, 返品, 返品受付, 商品, 払込票, 解錠, お預かり, 不在票, 発券,
	免許証, 駐車, 国, 市外局, カード, ポイントカード, 機器, お振込み受付, 振込受付, お客様id, wi-fiの, ドアの, フォルダ, ロッカー, ボックス`
const vietnameseTopics = `đơn hàng, đơn, vận đơn, nhận hàng, lấy hàng, giảm giá, khuyến mãi, ưu đãi,
	giới thiệu, mời, voucher, đặt chỗ, đặt phòng, đặt vé, vé, khách hàng, sinh viên, nhân viên,
	hồ sơ, lỗi, thuế, bưu chính, thiết bị, công ty, bệnh nhân, cổ phiếu, nhận quà, tủ đồ, wifi,
	cổng, tour`
const furtherTopics = `ürün, hata, grund, fehler, colis, retrait, ritiro, consegna, entrega, teslimat,
	promo, client, commande, réduction, abhol, gutschein, kunden,
	bestell, pedido, recogida, retirada, cupón, cupom, descuento, desconto, referencia, pengambilan,
	resi, pesanan, diskon, antrian, получения, выдачи, заказа, промо, kargo, indirim, müşteri,
	sipariş, odbioru`

// otherNumbers are words for another number, or for its owner.
var otherNumbers = vocabularyOf(
	list{words: koreanOthers}, list{words: englishOthers}, list{words: chineseOthers},
	list{words: japaneseOthers}, list{words: vietnameseOthers}, list{words: furtherOthers},
)

const koreanOthers = `오류, 에러, 금감원, 경찰청, 당사, 본사, 상담전화, 피해상담, 사고신고, 헬프데스크, 전화 바랍니다, 뒷자리, 끝자리, 끝 4자리,
	뒤 4자리, 예, 예시, 생년월일, 주문, 접수, 예약, 운송장, 송장, 우편, 쿠폰, 차량, 좌석, 대기, 계좌, 현관, 학번, 사번, 문의, 전화, 상담, 고객센터,
	콜센터, 대표, 연락처, 팩스, 내선, 거부, 국번없이, 신고, 금액, 잔액, 합계, 총액, 총, 한도, 누적, 적립, 가격, 수수료, 연도, 버전, 카드, 승인, 검침값,
	지침, 등기, 접수증, 호텔, 지점, 통장, 객실, 회의실, 강의실, 공학관, 학생, 기사, 서버, 수강료, 단가, 원금, 상담원, 입금, 출금, 이체, 결제, 사용,
	체크, 법인카드, 발급코드, 가입코드, 초대코드, 추천인코드, 할인코드, 수령코드, 상품코드, 홍보코드, 쿠폰코드, 통관번호, 핀번호, 일련번호, 승차권`
const englishOthers = `reason, error, status, helpline, support, fraud line, help line, call us,
	call us on, call us at, phone us on, contact, contact us on, questions,
	number ending, sent to the number ending, e.g., eg, example, born, date of birth, konto, kontonummer,
	tel, call, dial, fax, order, ref, reference, tracking,
	invoice, booking, reservation, case, ticket, flight, acct, account, a/c, ac, ending, ending in,
	ending with, extension, ext, version, parcel, card, atm, branch, bal, balance, avl bal, room,
	door, gate, flat, bus, locker, item, counter, coupon, policy, report to, report, transaction,
	txn, id, model, serial, server, model no, meter, shop, room no, block, confirmation number, pnr,
	queue, window, member, membership, postcode, plate, loan, cheque, parking, docket, hotline,
	service, on card, document, appointment, contact us at, sent to, phone, mobile, over, below,
	upto, up to, since, from, pos, amount, total, due, at, by, until, till, sbi, upi, imps, auth,
	txt, zip`
const japaneseOthers = `問い合わせ, 相談窓口, 電話番号, フリーダイヤル, 例, 生年月日, 注文, 口座, 口座番号, 内線, 残高, 受付番号, 電話, 相談は,
	支店番号, 会議室, 便名, カード, 末尾, 下4桁, 車両, 合計,
	証券番号, お問い合わせ, 窓口, 端末, 番号札, 暗証番号は, エラー, 航空, 部屋`
const chineseOthers = `专线, 專線, 客服电话, 客服電話, 联系电话, 咨询, 諮詢, 例如, 出生日期, 取件码, 取件碼, 取货码, 取貨碼, 取餐码, 取餐号,
	提货码, 提貨碼, 收货码, 签收码, 自提码, 提取码, 存件码, 核销码, 优惠码,
	優惠碼, 邀请码, 邀請碼, 推荐码, 兑换码, 折扣碼, 折扣码, 会员码, 入园码, 取票号, 订单号, 单号, 單號, 运单号, 工单, 编号, 編號, 工号, 学号, 税号, 考生号,
	就诊号, 排队号, 户号, 票号, 卡号, 座位号, 会议号, 设备号, 报案号, 准考证号, 序号, 房号, 桌号, 群号, 流水号, 合同号, 挂号序号, 尾号, 尾號, 末四码,
	末四碼, 热线, 熱線, 客服, 电话, 電話, 订单, 訂單, 账户, 帳戶, 卡, 会议室, 房间, 包厢, 门牌, 余额, 餘額, 区号, 代号, 代號, 线, 凭, 致电, 拨打,
	请拨打, 信用代码, 机构代码, 股票代码, 项目代码, 错误代码, 股东代码, 邮政编码, 订位代号, 取件密码, 开箱密码, 门禁密码, 楼下密码, wifi密码, 回复, 回, 账号,
	车牌, 工單`
const vietnameseOthers = `đường dây nóng, liên hệ, mã lỗi, mã sản phẩm, mã trạng thái, tài khoản,
	tk, stk, đơn hàng, thẻ, hotline, tổng đài, số dư,
	số dư tài khoản, phòng, số, mã vận đơn, mã đơn hàng, xe, ghế, gọi, soạn, gửi, đơn, giao dịch,
	gd, sd, lh, chi nhánh, hợp đồng, số bhxh`
const furtherOthers = `код ошибки, код товара, код причины, код помилки, code d'erreur,
	code erreur, code produit, código de producto, código do produto, kód chyby,
	รหัสข้อผิดพลาด, رمز المنتج, ürün kodu, felkod, foutcode, fehlercode, statuscode, grundcode,
	produktcode, statuskod, 
	codice errore, codice prodotto, código de error, código de erro, kod błędu, kode error,
	kode produk, hata kodu,
	รหัสสินค้า, رمز الخطأ, llama al, llame al, ligue para, appelez le, rufen sie, chiama, hubungi,
	горячая линия, телефон, тел, звоните, servicio, central, compte, colis, salle, dossier n°,
	numéro de client, code de retrait,
	code promo, solde, kontostand, paket, abholcode, gutscheincode, zimmer, kundennummer,
	bestellnummer, pedido, tarjeta, terminada en, saldo, consultorio, número de referencia,
	código de recogida, código de retirada, cartão final, protocolo, rekening, rek, no ref, resi,
	kode pengambilan, kode promo, antrian, nomor antrian, พัสดุหมายเลข, ห้อง, หมายเลขคิว, บ/ช,
	โค้ดส่วนลด, ऑर्डर, खाता, شحنتك رقم, رقم, رقم الطلب, حسابك رقم, كود الخصم, غرفة, رصيدك,
	رصيدك الحالي, للإبلاغ, شماره, سفارش شماره, حساب, مانده, کد رهگیری, کد تخفیف, اتاق, карта, счёт,
	заказ, код получения, промокод, кабинет, баланс, номер обращения, остаток, müşteri numaranız,
	müşteri numarası, oda, ordine, kod odbioru, bestelling, shikayat`

// numberWords follow the owner of a number.
var numberWords = vocabularyOf(list{words: `번호, 코드, 비밀번호, 비번, 암호, 번호는, number, code, codes, pin,
	password, id, nr, no, n°, 号, 號, 号码, 號碼, 番号, 码, 碼, 密码, 编号, コード, 暗証番号, パスワード, mã, số, code de,
	код, kodu, kod, código, kode`})

// particles may separate such a word from its number.
var particles = vocabularyOf(list{words: `번, 은, 는, 이, 을, 를, 가, 의, is, in, with, 为, 為, 是, は, が, を,
	là, la, es, est, ist, é, hiện, cua ban la, của bạn là, 已, 号为, to, no, nr, no., number`})

// ofCodes are the words that a Korean compound begins with if it names a code: "인증번호".
var ofCodes = vocabularyOf(list{words: `인증, 확인, 보안, 승인, 검증, 일회용, 회용, 인증용, 확인용, 로그인, 접속, 보호자, 입력, 복구,
	재설정, 비밀, 임시, 간편, 개인, 패스, 자리, 숫자, 문자, 이, 아래, 다음, 해당, 위, 새, otp, 요청`})

// tails are compounded with the owner of a number. After a character in loose there is no compound: "您的代码".
var tails = vocabularyOf(list{words: `번호, 코드, 码, 碼, 号, 號, 号码, 號碼, 番号, コード, 编号, 密码, 密碼, 代码, 代碼, キー,
	パスワード`})

const loose = `的此该入用填写供是为本将把请你您時ー`

// offers are made by advertisements.
var offers = vocabularyOf(list{words: `할인, 쿠폰, 경품, 특가, 세일, 당첨, 추천인, 초대, 적립금, % off, discount*,
	promo*, tu choi qc, từ chối qc, coupon*, voucher*, sale, refer a friend, gift card, raffle,
	vote for, cashback, 优惠, 優惠, 折扣, 满减, 抽奖, 红包, クーポン, セール, キャンペーン, プレゼント, 割引, 抽選, giảm, giảm giá,
	khuyến mãi, ưu đãi, trúng thưởng, descuento, desconto, réduction, gutschein*, indirim, diskon,
	скидк*, промокод*, تخفیف, cupón, cupom`})
