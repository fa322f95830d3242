#!/usr/bin/env bash
# Fuzzes every target for a while, one after the other, also after one has failed, and says at the end which did. What a target fails
# with is kept under its package's testdata/fuzz, where every later test run tries it: commit it with the fix.
set -uo pipefail
cd "$(dirname "$0")/.."

FUZZ_FOR=${FUZZ_FOR:-10s}
read -ra patterns <<<"${PKG:-./...}"

failed=() tried=0
for package in $(go list "${patterns[@]}"); do
	list=$(go test -list '^Fuzz' "$package") || { echo "$list"; failed+=("$package"); continue; }
	for target in $(grep '^Fuzz' <<<"$list"); do
		tried=$((tried + 1))
		echo "=== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZ_FOR" "$package" || failed+=("$package $target")
	done
done

if [ ${#failed[@]} -gt 0 ]; then
	printf '=== FAILED: %s\n' "${failed[@]}"
	exit 1
fi
[ "$tried" -gt 0 ] || { echo "=== FAILED: no target in ${patterns[*]}"; exit 1; }
echo "=== passed: $tried targets, $FUZZ_FOR each"
