#!/usr/bin/env bash
# Runs the tests that `make test` leaves out: those of files *_long_test.go (build tag `long`), then the lab's.
#   scripts/test-long.sh            all of them
#   scripts/test-long.sh ./room     those of one package (./lab: the lab's)
set -uo pipefail
cd "$(dirname "$0")/.."

only=${1:-}
rc=0

# A file with the tag has every Test function that it declares run, and `make test` never compiles it.
mapfile -t files < <(git ls-files --cached --others --exclude-standard '*_long_test.go' | grep -v '^lab/')
packages=() names=()
for file in "${files[@]}"; do
	head -1 "$file" | grep -qx '//go:build long' || { echo "test-long: $file does not begin with //go:build long" >&2; exit 1; }
	package=./$(dirname "$file")
	[ -z "$only" ] || [ "$only" = "$package" ] || continue
	packages+=("$package")
	while read -r name; do names+=("$name"); done < <(sed -nE 's/^func (Test[A-Za-z0-9_]*)\(t \*testing\.T\).*/\1/p' "$file")
done

if [ ${#names[@]} -gt 0 ]; then
	mapfile -t packages < <(printf '%s\n' "${packages[@]}" | sort -u)
	pattern=$(IFS='|'; echo "^(${names[*]})\$")
	go test -tags long -count 1 ${TESTFLAGS:-} -run "$pattern" "${packages[@]}" || rc=1
elif [ -n "$only" ] && [ "$only" != ./lab ]; then
	echo "test-long: $only has no *_long_test.go" >&2
	exit 1
fi
if [ -z "$only" ] || [ "$only" = ./lab ]; then
	go test -C lab -count 1 ${TESTFLAGS:-} ./... || rc=1
fi
exit $rc
