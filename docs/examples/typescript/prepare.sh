#!/usr/bin/env bash
# Says how this machine runs a TypeScript file, for the test: prepare.sh source.ts target.mjs. Node 22.18 and newer runs it as it is. For an older
# one its types are taken out into the target. Nothing is said where there is no Node, or nothing to take them out with.
set -euo pipefail
command -v node >/dev/null || exit 0
read -r major minor < <(node -p 'process.versions.node.split(".").slice(0, 2).join(" ")')
if ((major > 22 || (major == 22 && minor >= 18))); then
	echo node "$1"
	exit
fi
((major >= 20)) || exit 0
go run github.com/evanw/esbuild/cmd/esbuild@v0.28.2 "$1" --bundle --platform=node --log-level=error --format=esm >"$2" || exit 0
echo node --experimental-websocket --no-warnings "$2"
