#!/usr/bin/env bash
# Joins a room, waits for the lock, and gives it back: seller.sh [seller id]. curl opens no socket, so this one asks every second.
set -euo pipefail
room=${WAITROOM:-http://localhost:8080}/api/${ROOM:-integration}
# One session a seller: any program that has it can act for the place. A call whose answer was lost can be repeated with it.
session=$(cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen)

ask() { curl -sS --retry 5 --retry-connrefused -H "X-Session-ID: $session" "$@"; }
text() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'; }
number() { sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p'; }

# join
mine=$(ask --fail-with-body "$room/lock" -H 'Content-Type: application/json' -d "{\"seller_id\":\"${1:-s-1}\"}")

# wait
while [ "$(text status <<<"$mine")" = waiting ]; do
	echo "waiting $(number queue_position <<<"$mine")"
	sleep 1
	mine=$(ask --fail-with-body "$room/lock/status" | sed 's/.*"me"://')
done
[ "$(text status <<<"$mine")" = locked ] || { echo "no lock: $mine" >&2; exit 1; }
fence=$(number fence <<<"$mine")
echo "locked $fence"

# claim: who has no socket need not, and may
ask -o /dev/null "$room/lock/claim" -H 'Content-Type: application/json' -d "{\"fence\":$fence}"

# … the work that the lock protects; hand the fence on to it …

# done: with the fence, so that no other lease is ended by mistake
ask --fail-with-body -X DELETE "$room/lock?reason=completed&fence=$fence" | text outcome
