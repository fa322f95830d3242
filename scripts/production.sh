#!/usr/bin/env bash
# Follows docs/production.md block by block, from nothing to three replicas behind haproxy. Its eight hosts are network
# namespaces that have /etc, /var and /run of their own; stand-ins for apt-get and systemctl run what the packages installed here,
# and the unit's own ExecStart. Everything ends with the script: it is in a process namespace.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${PRODUCTION_INSIDE:-}" ]; then
	[ "$(id -u)" = 0 ] || { echo 'production: run it as root, since it makes namespaces' >&2; exit 2; }
	for program in ip unshare nsenter redis-server redis-sentinel haproxy psql pg_ctlcluster promtool openssl curl; do
		command -v "$program" >/dev/null || { echo "production: $program is not installed" >&2; exit 2; }
	done
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	go build -o "$work/waitroom" ./cmd/waitroom
	status=0
	PRODUCTION_INSIDE=$work timeout 280 unshare --mount --net --pid --fork --kill-child --mount-proc "$0" || status=$?
	[ $status != 124 ] || echo 'production: not done after 280 seconds; the last "==" above is the step' >&2
	exit $status
fi

work=$PRODUCTION_INSIDE
mkdir -p "$work/disks" "$work/archive" "$work/bin" /run/netns
mv "$work/waitroom" "$work/archive/"
cp -rL deploy docs "$work/archive/"
mount -t tmpfs tmpfs "$work/disks"
mount -t tmpfs tmpfs /run/netns

# block STEP N prints the Nth block of a step of the page.
block() {
	awk -v step="## $1. " -v want="$2" 'index($0, "## ") == 1 { here = index($0, step) == 1 }
		/^```$/ { code = 0 } code && n == want { print } here && /^```sh$/ { n++; code = 1 }' docs/production.md
}
eval "$(block 1 1 | head -n 1)"
hosts="R1 R2 R3 DB A1 A2 A3 LB"

cat >"$work/bin/apt-get" <<'STAND_IN'
#!/bin/sh
case "$*" in *postgresql*)
	pg_createcluster "$(ls /usr/lib/postgresql | sort -n | tail -n 1)" main >/dev/null
	exec systemctl start postgresql ;;
esac
STAND_IN
printf '#!/bin/sh\n' >"$work/bin/sysctl" # its setting would be the whole machine's
printf '#!/bin/sh\ntail -n 20 /var/log/waitroom.log\n' >"$work/bin/journalctl"
cat >"$work/bin/systemctl" <<'STAND_IN'
#!/bin/bash
daemon() { setsid "$@" >>/var/log/waitroom.log 2>&1 </dev/null & }
case "$*" in
'start postgresql' | 'restart postgresql') pg_ctlcluster --skip-systemctl-redirect "$(ls /etc/postgresql | tail -n 1)" main "${1}" ;;
'restart redis-server')
	daemon runuser -u redis -- redis-server /etc/redis/redis.conf
	for _ in $(seq 100); do redis-cli ping 2>&1 | grep -q 'PONG\|NOAUTH' && exit; sleep 0.1; done; exit 1 ;;
'restart redis-sentinel') daemon runuser -u redis -- redis-sentinel /etc/redis/sentinel.conf ;;
'enable --now waitroom')
	export CREDENTIALS_DIRECTORY=/run/credentials
	mkdir -p $CREDENTIALS_DIRECTORY /var/lib/waitroom
	for f in /etc/waitroom/secrets/*; do cp "$f" "$CREDENTIALS_DIRECTORY/waitroom_${f##*/}"; done
	start=$(sed -n "s/^ExecStart=\/bin\/sh -c '\(.*\)'$/\1/p" /etc/systemd/system/waitroom.service)
	set -a; . /etc/waitroom/waitroom.env; cd /var/lib/waitroom
	daemon /bin/sh -c "${start//\$\$/\$}" ;;
'restart haproxy') daemon haproxy -f /etc/haproxy/haproxy.cfg ;;
esac
STAND_IN
chmod +x "$work"/bin/*

# the certificate of wait.example, by an authority that each host trusts
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/cert" -days 90 -subj /CN=wait.example \
	-addext subjectAltName=DNS:wait.example 2>/dev/null

ip link add town type bridge && ip link set town up
for host in $hosts; do
	ip netns add "$host"
	ip link add "to-$host" type veth peer name eth0 netns "$host"
	ip link set "to-$host" master town up
	ip -n "$host" address add "${!host}/24" dev eth0
	ip -n "$host" link set eth0 up && ip -n "$host" link set lo up
	ip netns exec "$host" unshare --mount bash -ec '
		for dir in etc var usr/local/bin; do
			mkdir -p "$0/$dir/up" "$0/$dir/work"
			mount -t overlay overlay -o "lowerdir=/$dir,upperdir=$0/$dir/up,workdir=$0/$dir/work" "/$dir"
		done
		rm -rf /etc/postgresql/* /var/lib/postgresql/* /var/lib/redis/* # of this host, which has nothing yet
		mount -t tmpfs tmpfs /run
		install -d -o postgres /run/postgresql; install -d -o redis /run/redis
		cat "$1/cert" >>/etc/ssl/certs/ca-certificates.crt
		cat "$1/cert" "$1/key" >/etc/haproxy/wait.example.pem
		echo "$2 wait.example" >>/etc/hosts
		touch /run/up; exec sleep infinity' "$work/disks/$host" "$work" "$LB" &
	printf -v "holder_$host" %s $!
done

# on HOST STEP N does a block of the page on a host.
on() {
	local holder="holder_$1" me=${!1} tries=0
	until nsenter --target "${!holder}" --mount test -e /run/up; do sleep 0.1; [ $((tries += 1)) -lt 100 ]; done
	echo "== step $2, block $3, on $1"
	{ echo "set -eo pipefail; cd '$work/archive'; ME=$me PATH=$work/bin:$PATH"; block 1 1; block "$2" "$3"; } >"$work/step.sh"
	nsenter --target "${!holder}" --mount --net bash "$work/step.sh" || { echo "production: step $2, block $3, failed on $1" >&2; exit 1; }
}
# expect SECONDS TEXT … repeats a block until it prints a text.
expect() {
	local end=$((SECONDS + $1)) text=$2 out
	shift 2
	until out=$(on "$@") && grep -q -- "$text" <<<"$out"; do
		[ $SECONDS -lt $end ] || { echo "production: no \"$text\" from: $out" >&2; exit 1; }
		sleep 1
	done
	echo "$out"
}

on DB 2 1 | tee "$work/said" && grep -qx 1 "$work/said"
for host in R1 R2 R3; do on $host 3 1; done
for host in R1 R2 R3; do on $host 4 1; done
expect 30 'OK 3 usable Sentinels' R1 4 2
on A1 5 1
for host in A1 A2 A3; do
	on $host 6 1 | tee "$work/said"
	! grep -v '^ok\|^==' "$work/said" || { echo 'production: a line of the doctor does not begin with ok' >&2; exit 1; }
	expect 60 '"status":"ready"' $host 6 2
done
on LB 7 1 | tee "$work/said" && grep -q '"status":"ready"' "$work/said"
on LB 8 1 | tee "$work/said"
fences=$(grep -o '"fence":[0-9]*' "$work/said" | sort -u | wc -l)
[ "$fences" = 1 ] || { echo "production: $fences fences before and after the failover" >&2; exit 1; }
on LB 9 1
echo "production: three replicas serve https://wait.example, after $SECONDS seconds"
