#!/usr/bin/env bash
# Takes a turn, asks for a code, uses it and gives the turn back: robot.sh [seller id]. It opens no socket: every call may be repeated, so a
# connection that breaks costs nothing but another call.
set -euo pipefail
room=${WAITROOM:-http://localhost:8080}/api/${ROOM:-integration}
# One session a robot: it names the place, and so a call whose answer was lost can be repeated.
session=$(cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen)

# ask repeats a call until it is answered, and for as long as the answer is "later": ask METHOD PATH [more arguments of curl].
ask() {
	local answer status
	while :; do
		answer=$(curl -sS --max-time 60 -w '\n%{http_code}' -X "$1" "$room$2" -H "X-Session-ID: $session" -H 'Content-Type: application/json' "${@:3}") || answer=$'\n000'
		status=${answer##*$'\n'} answer=${answer%$'\n'*}
		case $status$answer in
		2*) echo "$answer" && return ;;
		000* | 429* | 503* | 409*number_busy*) sleep 1 ;;
		*) echo "$status $answer" >&2 && exit 1 ;; # a Problem, with a code
		esac
	done
}
text() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'; }
number() { sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p'; }
mine() { ask GET /lock/status | sed 's/.*"me"://'; }

# join, and wait for the turn
place=$(ask POST /lock -d "{\"seller_id\":\"${1:-s-1}\",\"asks\":true}")
while [ "$(text status <<<"$place")" = waiting ]; do
	echo "waiting $(number queue_position <<<"$place")"
	sleep 1
	place=$(mine)
done
[ "$(text status <<<"$place")" = locked ] || { echo "no turn: $place" >&2; exit 1; }
fence=$(number fence <<<"$place")
echo "locked $fence"

# ask: right before the marketplace is asked. A busy number says number_busy until another seller's code can not come any more.
asked=$(ask POST /lock/expect -d "{\"fence\":$fence}" -H "Idempotency-Key: $session")
echo "asked $(number asked <<<"$asked")"

# … ask the marketplace to send the code …

# code: a turn that a message has ended is "ended" with its message, so the messages are looked at first
code='' after=''
while [ -z "$code" ]; do
	got=$(ask GET /lock/messages -G -d wait=30 --data-urlencode "after=$after")
	code=$(grep -o '"code":"[^"]*"' <<<"$got" | tail -1 | cut -d'"' -f4) || true
	after=$(grep -o '"message_id":"[^"]*"' <<<"$got" | tail -1 | cut -d'"' -f4) || true
	if [[ -z $code && $got == *'"status":"ended"'* && $got != *'"judging":true'* ]]; then # where it is, the code is still checked
		echo "no code: the turn is over ($(mine | text outcome))" >&2
		exit 1
	fi
done
echo "code $code"

# … use the code …

# done: the message has ended the turn already, which is no error
ask DELETE "/lock?reason=completed&fence=$fence" | text outcome
