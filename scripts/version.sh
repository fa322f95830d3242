#!/usr/bin/env bash
# Builds waitroom as it was at a tag or commit, and prints where the program is. The checkout stays as it is.
#   scripts/version.sh          the latest tag v* that this commit comes after
#   scripts/version.sh v1.0.0   a tag, or any commit
set -euo pipefail
cd "$(dirname "$0")/.."

from=${1-}
if [ -z "$from" ]; then
	# A commit that is tagged itself is compared with the version before it.
	from=$(git describe --tags --match 'v*' --abbrev=0 HEAD^ 2>/dev/null) || {
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
