#!/usr/bin/env bash
# Makes the secrets that deploy/compose.yaml hands to its services, under deploy/secrets. Existing files stay.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets

make_secret() { # name, value
	[ -e "secrets/$1" ] && return
	printf '%s\n' "$2" >"secrets/$1"
	chmod 644 "secrets/$1" # for each container's user; the directory keeps other users out
	echo "made deploy/secrets/$1"
}

make_secret postgres_password "$(openssl rand -hex 24)"
make_secret database_url "postgres://waitroom:$(cat secrets/postgres_password)@postgres/waitroom?sslmode=disable"
make_secret sms_webhook_secret "whsec_$(openssl rand -base64 32)"
if [ ! -e secrets/support_users ]; then
	password=$(openssl rand -base64 18)
	program=(go run ./cmd/waitroom)
	[ ! -x ../waitroom ] || program=(./waitroom) # of a release
	hash=$(cd .. && printf %s "$password" | "${program[@]}" hash-password)
	make_secret support_users "support:$hash"
	echo "support signs in at /support as: support, $password"
fi
