#!/usr/bin/env bash
# Installs what `make load` starts beside waitroom, where it is missing: redis, postgresql and haproxy (Debian, Ubuntu).
set -euo pipefail

has() { command -v "$1" >/dev/null 2>&1; }
has_postgresql() { has initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }

missing=()
has redis-server || missing+=(redis-server)
has_postgresql || missing+=(postgresql)
has haproxy || [ -x /usr/sbin/haproxy ] || missing+=(haproxy)
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

give_up() {
	echo "make load needs: ${missing[*]}" >&2
	echo "$1" >&2
	exit 1
}

has apt-get || give_up "There is no apt-get here; install the same programs with this system's own package manager."
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	has sudo || give_up "Run as root: apt-get install ${missing[*]}"
	as_root=(sudo)
	if [ ! -t 0 ]; then as_root=(sudo -n); fi # nobody is there to type a password
	"${as_root[@]}" true || give_up "sudo refused. Run as root: apt-get install ${missing[*]}"
fi

log=$(mktemp)
undo=(rm -f "$log")
trap '"${undo[@]}"' EXIT

# Debian starts a service as soon as its package is there. make load starts its own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	undo=("${as_root[@]}" rm -f "$log" "$policy")
	printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
	"${as_root[@]}" chmod 755 "$policy"
fi

apt() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1 && return
	tail -30 "$log" >&2
	return 1
}

echo "make load: installing ${missing[*]} (a minute)"
apt update || echo "apt-get update failed; going on with the lists that are here" >&2
apt install --no-install-recommends "${missing[@]}" || give_up "apt-get install failed."
