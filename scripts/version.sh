#!/usr/bin/env bash
# Builds waitroom as it was at a tag or commit, and prints where the program is. The checkout stays as it is.
#   scripts/version.sh          the latest tag v* that this commit comes after
#   scripts/version.sh v1.0.0   a tag, or any commit
#   scripts/version.sh --any    builds nothing: succeeds where there is such a tag
set -euo pipefail
cd "$(dirname "$0")/.."

# A commit that is tagged itself is compared with the version before it.
latest() { git describe --tags --match 'v[0-9]*' --abbrev=0 HEAD^ 2>/dev/null; }

from=${1-}
if [ "$from" = --any ]; then
	latest >/dev/null
	exit
fi
if [ -z "$from" ]; then
	from=$(latest) || {
		echo "version: there is no version yet that this one comes after (no tag v*): name a commit, FROM=HEAD~5" >&2
		exit 1
	}
fi
commit=$(git rev-parse --verify --quiet "$from^{commit}") || {
	echo "version: there is no tag or commit $from here" >&2
	exit 1
}

program=$PWD/bin/waitroom-$commit
if [ ! -x "$program" ]; then
	source=$(mktemp -d)
	trap 'rm -rf "$source"' EXIT
	git archive "$commit" | tar -x -C "$source"
	(cd "$source" && go build -buildvcs=false -o "$program" ./cmd/waitroom) >&2
fi
echo "version: $from is $(git log -1 --format='%h of %cs: %s' "$commit")" >&2
echo "$program"
