#!/usr/bin/env bash
# Runs every check, also after one has failed, and says at the end which did. It changes nothing in the tree.
set -uo pipefail
cd "$(dirname "$0")/.."

STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.8.2
REDOCLY=@redocly/cli@2.77.0
GOVULNCHECK=golang.org/x/vuln/cmd/govulncheck@v1.8.0
OAPI_CODEGEN=github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
OAPI_RUNTIME=github.com/oapi-codegen/runtime@v1.8.0
OGEN=github.com/ogen-go/ogen@v1.24.0
OPENAPI_TYPESCRIPT="openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3"
COMPAT="eslint@10.15.0 eslint-plugin-compat@7.0.2 stylelint@17.16.0 stylelint-no-unsupported-browser-features@8.1.2"
TEMPL=${TEMPL:?run this by: make check}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=()

check() { # name, command …
	local name=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		echo "ok    $name"
		grep '^note:' "$work/out" | sed 's/^/      /'
		return
	fi
	echo "FAIL  $name"
	sed 's/^/      /' "$work/out"
	failed+=("$name")
}

# unreachable reports whether Go says that it could not download something.
unreachable() { # file
	grep -qE 'dial tcp|no such host|i/o timeout|connection refused|module lookup disabled|[45][0-9][0-9] ' "$1"
}

# lua looks at the library where its settings are.
lua() { (cd room/lua && luacheck -q --no-color .); }

formatted() {
	local files
	files=$(gofmt -l .) || return
	[ -z "$files" ] || { echo "run gofmt -w on:"; echo "$files"; return 1; }
}

# tidy has Go compare each go.mod and go.sum with what the code imports. It needs the network where a module was never downloaded.
tidy() {
	local dir rc=0
	for dir in . lab; do
		go mod tidy -C "$dir" -diff >"$work/tidy" 2>&1 && continue
		if grep -q '^diff ' "$work/tidy"; then
			echo "run go mod tidy -C $dir:"
			cat "$work/tidy"
			rc=1
		else
			echo "note: go.mod of $dir not checked, its modules could not be downloaded"
		fi
	done
	return $rc
}

# lint reads tests with the tag, too: what only these use would look unused.
lint() {
	local program="$work/bin/staticcheck"
	GOBIN="$work/bin" go install "$STATICCHECK" || return
	"$program" -tags long,alone ./... && (cd lab && "$program" ./...)
}

# vet covers every module of the tree.
vet() {
	local mod rc=0
	while read -r mod; do
		(cd "$(dirname "$mod")" && go vet -tags long,alone ./...) || rc=1
	done < <(find . -name go.mod -not -path '*/node_modules/*' -not -path './deploy/check/*') # which has a check of its own
	return $rc
}

# generated makes the templates' code anew, elsewhere, and compares.
generated() {
	mkdir -p "$work/templ/templates"
	cp go.mod "$work/templ/"
	cp templates/*.templ "$work/templ/templates/" || return
	(cd "$work/templ" && go run "$TEMPL" generate -path templates) >"$work/templ.log" 2>&1 || { cat "$work/templ.log"; return 1; }
	mkdir "$work/templ/now"
	cp templates/*_templ.go "$work/templ/now/"
	rm "$work"/templ/templates/*.templ
	(cd "$work/templ" && diff -ruN now templates >"$work/templ.diff") && return
	echo "run make generate, and remove generated files that have no template:"
	head -50 "$work/templ.diff"
	return 1
}

shell() {
	local file rc=0
	for file in scripts/*.sh deploy/*.sh .ci/run; do
		bash -n "$file" || rc=1
	done
	return $rc
}

# vulnerable asks vuln.go.dev or, where that can not be reached, the same database as a Go module. Only where neither can be had, that is
# said and not held against the code.
vulnerable() {
	GOBIN="$work/bin" go install "$GOVULNCHECK" || return
	"$work/bin/govulncheck" ./... >"$work/vuln" 2>&1
	local rc=$? dir
	if [ $rc -ne 0 ] && grep -q 'fetching vulnerabilities' "$work/vuln"; then
		dir=$(cd "$work" && go mod download -json golang.org/x/vulndb@latest 2>"$work/vulndb" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
		if [ -z "$dir" ]; then
			echo "note: not checked, the vulnerability database could not be reached"
			return 0
		fi
		echo "note: checked against ${dir##*/}, since vuln.go.dev could not be reached"
		"$work/bin/govulncheck" -db "file://$dir/data/osv" ./... >"$work/vuln" 2>&1
		rc=$?
	fi
	# 3: found some. Those of Go itself are fixed by another Go, not by a change here.
	if [ $rc -eq 3 ] && ! grep 'Found in:' "$work/vuln" | grep -qv '@go[0-9]'; then
		echo "note: $(go version | cut -d ' ' -f 3) has known vulnerabilities: $(grep 'Fixed in:' "$work/vuln" | sed 's/.*@//' | sort -Vu | tail -1) has these fixed"
		return 0
	fi
	cat "$work/vuln"
	return $rc
}

# words warns of comments without a subject, and of words in comments, descriptions and commands that hide who acts or what is sent to whom.
words() {
	git ls-files '*.go' '*.js' '*.lua' Makefile docs/haproxy.cfg 'web/describe/*.yaml' 'deploy/*' 'outbox/schema/*' |
		grep -vE '/(bundle|thirdparty|testdata)/|_(gen|templ)\.go$' | xargs perl -ne '
			s/"[^"]*"|`[^`]*`|\x27[^\x27]*\x27|\[[^]]*\]//g;
			my $comment = m{^\s*(//|--|\*|/\*\*) };
			my $text = $comment || $ARGV !~ /\.(go|js|lua)$/ ? $_ : $ARGV =~ /go$/ && m{// (.*)} ? $1 : "";
			print "note: $ARGV:$.: $_" if $text =~ /\b(told|untold|whoever|nobody|laid)\b/i ||
				$comment && !$before && /^\s*\S+ (Who|Whoever|Nobody|Somebody|What|Those|That which) /;
			$before = $comment;
			if (eof) { close ARGV; $before = 0 }'
}

# alerts has Prometheus itself read the rules and play their cases.
alerts() {
	command -v promtool >/dev/null || { echo "note: not checked, promtool (Debian's package prometheus) could not be had"; return; }
	promtool check rules deploy/prometheus/alerts.yaml && promtool test rules deploy/prometheus/alerts_test.yaml &&
		promtool check config --syntax-only deploy/prometheus/prometheus.yaml
}

# deployment reads the Dockerfile, compose.yaml and the chart by the libraries of those who will read them: a module of its own. Where these
# can not be downloaded, or are not built within a minute, that is said; what was built stays, so that the next time takes seconds.
deployment() {
	local part rc
	for part in files chart; do
		(cd deploy/check && exec timeout 60 go test -c -o "$work/$part.test" "./$part") >"$work/build" 2>&1
		rc=$?
		if [ $rc -eq 0 ]; then
			(cd "deploy/check/$part" && "$work/$part.test") || return
		elif [ $rc -eq 124 ]; then
			echo "note: not checked, deploy/check/$part is not built within a minute: make check again goes on with it"
		elif unreachable "$work/build"; then
			echo "note: not checked, what deploy/check/$part stands on could not be downloaded"
		else
			cat "$work/build"
			return 1
		fi
	done
}

# hosts has haproxy and systemd read what is theirs.
hosts() {
	local haproxy file
	haproxy=$(command -v haproxy || ls /usr/sbin/haproxy 2>/dev/null)
	if [ -n "$haproxy" ]; then
		for file in docs/haproxy.cfg deploy/haproxy/haproxy.cfg; do
			"$haproxy" -c -f "$file" || return
		done
	else
		echo "note: not checked, haproxy could not be had"
	fi
	if command -v systemd-analyze >/dev/null; then # of a program and files that are there
		sed -e 's|/usr/local/bin/waitroom|/bin/true|' deploy/systemd/waitroom.service >"$work/waitroom.service"
		systemd-analyze verify --man=no "$work/waitroom.service" 2>&1 | tee "$work/systemd" && [ ! -s "$work/systemd" ]
	else
		echo "note: not checked, there is no systemd here"
	fi
}

# described has a linter read the descriptions: what it says is missing beside the standards' own rules is only advice.
described() {
	command -v npx >/dev/null || { echo "note: not checked, npx (Node) could not be had"; return; }
	REDOCLY_TELEMETRY=off timeout 120 npx --yes "$REDOCLY" lint --extends=minimal --format=github-actions web/describe/openapi.yaml web/describe/asyncapi.yaml >"$work/redocly" 2>"$work/redocly.err"
	local rc=$?
	grep '^::error' "$work/redocly" && return 1
	[ $rc -eq 0 ] || echo "note: not checked, $REDOCLY could not be had"
}

# clients has generators make clients of the description, compiles these, and has each make one call of every kind to a server: of Go, in a
# module of its own, and of TypeScript.
clients() {
	local api="$PWD/web/describe/openapi.yaml" calls="$PWD/web/describe/testdata/clients" pid rc
	start_server || return
	go_clients "$api" "$calls" && typescript_client "$api" "$calls"
	rc=$?
	kill "$pid"
	wait "$pid"
	[ $rc -eq 0 ] || grep '"level":"ERROR"\|level=ERROR' "$work/server.log"
	return $rc
}

# start_server starts a server with the embedded Redis, exports what the clients need to know of it, and sets pid.
start_server() {
	export SUPPORT_TOKEN=of-this-run WAITROOM_SMS_WEBHOOK_SECRET
	WAITROOM_SMS_WEBHOOK_SECRET=whsec_$(head -c 32 /dev/urandom | base64 -w 0)
	go build -o "$work/waitroom" ./cmd/waitroom || return
	WAITROOM_ADDR=127.0.0.1:0 WAITROOM_ROOMS='room:*' WAITROOM_DATABASE_URL="sqlite:$work/clients.db" WAITROOM_DRAIN_TIMEOUT=1s \
		WAITROOM_SUPPORT_TOKENS="check:act:$(printf %s "$SUPPORT_TOKEN" | sha256sum | cut -d ' ' -f 1)" "$work/waitroom" >"$work/server.log" 2>&1 &
	pid=$!
	touch "$work/server.log"
	while kill -0 "$pid"; do
		WAITROOM=$(sed -n 's|.*waitroom is open at \(http://[0-9.:]*\).*|\1|p' "$work/server.log")
		[ -z "$WAITROOM" ] || { export WAITROOM; return; }
		sleep 0.1
	done
	cat "$work/server.log"
	return 1
}

go_clients() { # description, calls
	local dir="$work/clients"
	mkdir -p "$dir/oapi" "$dir/ogen"
	printf 'module clients\n\ngo 1.26\n' >"$dir/go.mod"
	if ! { GOBIN="$work/bin" go install "$OAPI_CODEGEN" && GOBIN="$work/bin" go install "${OGEN/@//cmd/ogen@}" && go get -C "$dir" "$OAPI_RUNTIME" "$OGEN"; } >"$work/get" 2>&1; then
		unreachable "$work/get" && { echo "note: no Go client made, ${OAPI_CODEGEN##*/} and ${OGEN##*/} could not be downloaded"; return; }
		cat "$work/get"
		return 1
	fi
	"$work/bin/oapi-codegen" -generate types,client -package oapi -o "$dir/oapi/client.go" "$1" || return
	"$work/bin/ogen" --target "$dir/ogen" --package ogen "$1" >"$work/ogen" 2>&1 || { cat "$work/ogen"; return 1; }
	cp "$2/calls_test.go" "$dir/"
	(cd "$dir" && go test -mod=mod -vet=off -c -o calls .) >"$work/build" 2>&1 && { "$dir/calls"; return; }
	unreachable "$work/build" && { echo "note: Go clients made, but not compiled: what they stand on could not be downloaded"; return; }
	cat "$work/build"
	return 1
}

typescript_client() { # description, calls
	local dir="$work/typescript"
	command -v npm >/dev/null || { echo "note: no TypeScript client made, npm (Node) could not be had"; return; }
	# shellcheck disable=SC2086 # three words
	timeout 180 npm install --no-save --no-audit --no-fund --silent --fetch-retries 1 --fetch-retry-mintimeout 1000 --prefix "$dir" $OPENAPI_TYPESCRIPT >"$work/npm" 2>&1 ||
		{ echo "note: no TypeScript client made, $OPENAPI_TYPESCRIPT could not be had"; return; }
	cp "$2/calls.ts" "$dir/"
	echo '{"type":"module"}' >"$dir/package.json"
	(cd "$dir" && node_modules/.bin/openapi-typescript "$1" -o api.ts && node_modules/.bin/tsc --strict --target es2022 --module nodenext calls.ts && node --no-warnings calls.js)
}

# browsers has a linter look for what the browsers that the pages are for do not have.
browsers() {
	command -v npm >/dev/null || { echo "note: not checked, npm (Node) could not be had"; return; }
	# shellcheck disable=SC2086 # two words
	timeout 180 npm install --no-save --no-audit --no-fund --silent --prefix "$work/compat" $COMPAT >"$work/compat.log" 2>&1 ||
		{ echo "note: not checked, $COMPAT could not be had"; return; }
	NODE_PATH="$work/compat/node_modules" "$work/compat/node_modules/.bin/eslint" --no-config-lookup -c static/gen/compat.config.cjs static/js static/embed.js static/worker.js || return
	NODE_PATH="$work/compat/node_modules" "$work/compat/node_modules/.bin/stylelint" --config static/gen/styles.config.cjs --config-basedir "$work/compat" --formatter unix 'static/css/*.css'
}

# examples are run by a test, those whose tool is there.
examples() {
	local tool
	for tool in curl openssl python3 node java; do
		command -v $tool >/dev/null || echo "note: the examples that need $tool are not run, it could not be had"
	done
	go test ./docs/examples
}

# What is not there and can not be had is said below in a line, and not held against the code.
timeout 120 scripts/setup.sh check </dev/null >"$work/setup" 2>&1

check "gofmt" formatted
check "go vet" vet
check "staticcheck" lint
check "modules" go mod verify
check "go.mod" tidy
check "generated templates" generated
check "browsers" browsers
check "bundles" go test -count 1 ./static/gen
check "shell scripts" shell
check "Lua" lua
check "imports" go test ./internal/imports
check "documentation" go test -count 1 ./internal/docs
check "words" words
check "descriptions" described
check "clients of the description" clients
check "examples" examples
check "alerts" alerts
check "haproxy, systemd" hosts
check "release archive" scripts/archive.sh "$work/archive" v0.0.0
check "Dockerfile, compose, chart" deployment
check "govulncheck" vulnerable

if [ ${#failed[@]} -gt 0 ]; then
	printf 'check: failed:'
	printf ' [%s]' "${failed[@]}"
	echo
	exit 1
fi
echo "check: all good"
