#!/usr/bin/env bash
# Installs the programs that tests and load tests start, where they are missing. The product itself needs none of them.
#   scripts/setup.sh        what `make test` needs
#   scripts/setup.sh race   and a C compiler, which the race detector needs
#   scripts/setup.sh load   what `make load` starts beside waitroom
#   scripts/setup.sh bench  what `make bench` starts beside waitroom
#   scripts/setup.sh instructions  what `make instructions` counts with
#   scripts/setup.sh check  what `make check` looks at deploy/ with
#   scripts/setup.sh long   the other browsers, which journeys of `make test-long` are made in, and the clients' languages
#   scripts/setup.sh alone  the screen reader and the old browser of `make test-alone`
#   scripts/setup.sh faults what `make faults` starts beside waitroom, and the C compiler by which it sets Redis's clock
set -euo pipefail

has() { command -v "$1" >/dev/null 2>&1; }

has_any() {
	local name
	for name in "$@"; do
		if has "$name"; then return 0; fi
	done
	return 1
}

has_postgresql() { has initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }

has_webkit() { has WebKitWebDriver && compgen -G '/usr/lib/*/webkit2gtk-4.*/MiniBrowser' >/dev/null; }

has_accessibility_bus() { has_any /usr/libexec/at-spi-bus-launcher /usr/lib/at-spi2-core/at-spi-bus-launcher; }

has_korean_font() {
	compgen -G '/usr/share/fonts/opentype/noto/NotoSansCJK*' >/dev/null ||
		{ has fc-list && [ -n "$(fc-list :lang=ko family)" ]; }
}

missing=()
need() { # package, then the test that says whether it is there
	local package=$1
	shift
	"$@" || missing+=("$package")
}

better=()
wish() { # the same, of what only makes tests faster; not every system has it
	local package=$1
	shift
	"$@" || better+=("$package")
}

for_whom="the tests need"
if [ "${1-}" != check ]; then
	need redis-server has redis-server
	need curl has curl
	need postgresql has_postgresql
fi
if [ "${1-}" = check ]; then
	for_whom="make check needs"
	need prometheus has promtool
	need lua-check has luacheck
	need haproxy has_any haproxy /usr/sbin/haproxy
elif [ "${1-}" = load ]; then
	for_whom="make load needs"
	need haproxy has_any haproxy /usr/sbin/haproxy
elif [ "${1-}" = bench ]; then
	for_whom="make bench needs"
elif [ "${1-}" = instructions ]; then
	for_whom="make instructions needs"
	need valgrind has valgrind
elif [ "${1-}" = long ]; then
	for_whom="make test-long needs"
	need webkit2gtk-driver has_webkit
	need xvfb has Xvfb
	need firefox-esr has_any firefox-esr firefox
	need fonts-noto-cjk has_korean_font
	need nodejs has node
	need npm has npm
	need python3 has python3
elif [ "${1-}" = alone ]; then
	for_whom="make test-alone needs"
	need xvfb has Xvfb
	need firefox-esr has_any firefox-esr firefox
	need fonts-noto-cjk has_korean_font
	need orca has orca
	need at-spi2-core has_accessibility_bus
	need dbus-daemon has dbus-daemon
	need xdotool has xdotool
	need npm has npm
elif [ "${1-}" = faults ]; then
	for_whom="make faults needs"
	need redis-sentinel has redis-sentinel
	need haproxy has_any haproxy /usr/sbin/haproxy
	need gcc has_any gcc clang
	need libc6-dev test -e /usr/include/stdlib.h
else
	need redis-sentinel has redis-sentinel
	need pgbouncer has_any pgbouncer /usr/sbin/pgbouncer
	need mariadb-server-core has_any mariadbd /usr/sbin/mariadbd
	need chromium has_any chromium chromium-browser google-chrome
	wish chromium-headless-shell has_any chromium-headless-shell chrome-headless-shell
	need fonts-noto-cjk has_korean_font
fi
if [ "${1-}" = race ]; then
	need gcc has_any gcc clang
	need libc6-dev test -e /usr/include/stdlib.h
fi

known() { has apt-cache && [ -n "$(apt-cache search --names-only "^$1\$")" ]; }

# The oldest browser is no package of the system.
finish() { [ "$1" != alone ] || "$(dirname "$0")/old-chromium.sh"; }

# Optional packages are installed together with missing ones; alone only if this system offers them and root needs no password.
if [ ${#missing[@]} -eq 0 ]; then
	if [ ${#better[@]} -eq 0 ] || [ "$(id -u)" -ne 0 ] || ! known "${better[0]}"; then
		finish "${1-}"
		exit
	fi
fi

give_up() {
	echo "setup: $for_whom: ${missing[*]}" >&2
	echo "setup: $1" >&2
	exit 1
}

has apt-get || give_up "there is no apt-get here; install the same programs with this system's own package manager."

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	has sudo || give_up "this is not root and there is no sudo; run as root: apt-get install ${missing[*]}"
	as_root=(sudo)
	if [ ! -t 0 ]; then as_root=(sudo -n); fi # no person can type a password
	"${as_root[@]}" true || give_up "sudo refused; run as root: apt-get install ${missing[*]}"
fi

log=$(mktemp)
undo=(rm -f "$log")
trap '"${undo[@]}"' EXIT

# Debian starts a service as soon as its package is there. Tests and load tests start servers of their own, so that is not wanted.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	undo=("${as_root[@]}" rm -f "$log" "$policy")
	printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
	"${as_root[@]}" chmod 755 "$policy"
fi

apt() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -y -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 && return
	tail -30 "$log" >&2
	return 1
}

if [ ${#missing[@]} -gt 0 ]; then
	echo "setup: installing ${missing[*]} (a minute or two)"
	apt update || echo "setup: apt-get update failed; going on with the lists that are here" >&2
	apt install --no-install-recommends "${missing[@]}" || give_up "apt-get install failed."
fi
for package in "${better[@]}"; do
	if known "$package"; then
		echo "setup: installing $package, with which the tests take less time"
		apt install --no-install-recommends "$package" 2>/dev/null || echo "setup: $package could not be installed; the tests do without it" >&2
	fi
done
finish "${1-}"
