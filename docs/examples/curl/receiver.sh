#!/usr/bin/env bash
# Takes webhooks as a CGI program: the body on the standard input, headers in HTTP_…, the secret in WAITROOM_WEBHOOK_SECRET.
set -euo pipefail
body=$(cat; printf x)
body=${body%x} # to the byte, also where it ends in line breaks

answer() { printf 'Status: %s\r\nContent-Type: text/plain\r\n\r\n' "$1"; exit; }

# Not older than five minutes, so that a message that somebody recorded is good for nothing later.
now=$(date +%s)
[[ ${HTTP_WEBHOOK_TIMESTAMP:-} =~ ^[0-9]{1,12}$ ]] || answer '401 no timestamp'
((HTTP_WEBHOOK_TIMESTAMP > now - 300 && HTTP_WEBHOOK_TIMESTAMP < now + 300)) || answer '401 too old'

key=$(printf %s "${WAITROOM_WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \n')
want=v1,$(printf %s "$HTTP_WEBHOOK_ID.$HTTP_WEBHOOK_TIMESTAMP.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64 -w0)
# The header may have several signatures, while a secret is replaced.
[[ " ${HTTP_WEBHOOK_SIGNATURE:-} " == *" $want "* ]] || answer '401 bad signature'

# Delivery is at least once: keep webhook-id, and do nothing for one that was there before.
printf '%s %s\n' "$HTTP_WEBHOOK_ID" "$(sed -n 's/^{"type":"\([a-z.]*\)".*/\1/p' <<<"$body")" >&2
answer '204 No Content'
