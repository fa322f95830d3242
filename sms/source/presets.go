package source

// presets are the kinds that a template and a scheme express: programs and providers with fixed formats.
var presets = map[string]func() preset{"httpsms": httpSMS, "smsforwarder": smsForwarder, "twilio": twilio}

// preset is a template with what only a known program needs.
type preset struct {
	Template
	hint      string // on a signature that does not match; %s = the path that was called
	encrypted string // see reader
	otherText string
	stamp     string
}

// twilio is Twilio's incoming messages: a form, signed with the URL that Twilio calls by HMAC-SHA1 under the
// account's auth token. They have no time of sending. Reports about sent messages have another status.
// https://www.twilio.com/docs/usage/webhooks/webhooks-security
func twilio() preset {
	return preset{Template: Template{
		Signature: Signature{Scheme: hmacSHA1, Header: "X-Twilio-Signature", Signed: "{url}{params}"},
		Only:      map[string][]string{"SmsStatus": {"received", ""}, "MessageStatus": {""}},
		ID:        "MessageSid", From: "From", To: "To", Text: "Body"},
		hint: "Twilio signs the address that it calls: in its console that has to be WAITROOM_PUBLIC_URL and %s " +
			"to the letter, and the secret the account's primary auth token"}
}

// httpSMS is the events of httpSMS (NdoleStudio/httpsms): CloudEvents in JSON. Their token, by HS256 under
// the webhook's signing key, authenticates the sender, but does not cover the body. The timestamp is when
// the phone received the message, by the phone's clock.
// https://docs.httpsms.com/webhooks/introduction
func httpSMS() preset {
	return preset{Template: Template{Signature: Signature{Scheme: jwtHS256},
		Only: map[string][]string{"type": {"message.phone.received"}},
		ID:   "data.message_id", From: "data.contact", To: "data.owner", SIM: "data.sim", Text: "data.content",
		SentAt: "data.timestamp"},
		hint:      "the secret has to be the webhook's signing key in httpSMS",
		encrypted: "data.encrypted"}
}

// smsForwarder is the webhooks of SmsForwarder (pppscn/SmsForwarder): JSON, or a form, with the names of the
// app's own tags. sign is the HMAC-SHA256 of "timestamp\nsecret" under the secret: it authenticates the
// sender, but does not cover the body. The app has no id; receive_time is when the phone received the
// message, by the phone's clock. content has the app's own template around the text.
// https://github.com/pppscn/SmsForwarder/wiki
func smsForwarder() preset {
	return preset{Template: Template{
		Signature: Signature{Scheme: hmacSHA256, Field: "sign", Signed: "{field timestamp}\n{secret}",
			SignedAt: "field timestamp"},
		From: "from", Text: "org_content", SIM: "card_slot", SentAt: "receive_time"},
		hint: "the secret has to be the one of the app's webhook", otherText: "content", stamp: "timestamp"}
}

// build returns the source of a preset.
func (p preset) build(k keys) (parts, error) {
	made, err := newReader(p.Template)
	if err != nil {
		return parts{}, err
	}
	made.lenient, made.encrypted, made.otherText, made.stamp = true, p.encrypted, p.otherText, p.stamp
	v, err := newVerifier(k, p.Signature)
	switch v := v.(type) {
	case *signedMAC:
		v.hint = p.hint
	case *token:
		v.hint = p.hint
	}
	return parts{v, made}, err
}
