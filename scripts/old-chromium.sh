#!/usr/bin/env bash
# Puts Chromium 103 into the user's cache, where the long tests find it. It comes inside a package of npm, since no browser's maker keeps
# builds of that age within reach of a package manager. It is among the oldest browsers that the pages are for.
set -euo pipefail

version=103.0.0 # as in internal/testkit/browsertest/old.go
digest=88f1af268022584ffd0e4b58a68c8bd63b55f247b7c84481c719f362fb2be43a

program=${XDG_CACHE_HOME:-$HOME/.cache}/waitroom/chromium-$version/chromium
[ ! -x "$program" ] || exit 0

give_up() {
	echo "setup: the long tests need Chromium $version (npm: @sparticuz/chromium), and $1" >&2
	exit 1
}

[ "$(uname -sm)" = "Linux x86_64" ] || give_up "it runs on Linux and x86_64 alone."
command -v npm >/dev/null || give_up "there is no npm here."

mkdir -p "${program%/*}"
work=$(mktemp -d "${program%/*}/XXXXXX") # on the same disk, so that the program is there as a whole or not at all
trap 'rm -rf "$work"' EXIT
echo "setup: downloading Chromium $version (55 MB)"
packed=$work/$(cd "$work" && timeout 300 npm pack --silent "@sparticuz/chromium@$version") || give_up "npm could not download it."
echo "$digest  $packed" | sha256sum --check --quiet || give_up "what npm downloaded is another file."
tar -xzf "$packed" -C "$work" package/bin/chromium.br
node -e '
	const { createReadStream, createWriteStream } = require("node:fs");
	const [, from, to] = process.argv;
	const unpack = require("node:zlib").createBrotliDecompress();
	require("node:stream").pipeline(createReadStream(from), unpack, createWriteStream(to, { mode: 0o755 }), (error) => { if (error) throw error; });
' "$work/package/bin/chromium.br" "$work/chromium"
mv "$work/chromium" "$program"
