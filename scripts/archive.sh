#!/usr/bin/env bash
# Puts what a release has beside its program into a directory; fails where a relative link of README leads nowhere.
#   scripts/archive.sh DIRECTORY v1.2.3
set -euo pipefail
cd "$(dirname "$0")/.."

directory=$1 version=$2
mkdir -p "$directory"
# Links are followed: the chart has the alerts and the dashboard by them, and not every system has links.
git ls-files -- README.md README.ko.md CHANGELOG.md SECURITY.md Dockerfile deploy docs 'lab/*.md' lab/images 'web/describe/*.yaml' ':!deploy/check' |
	tar --dereference --create --files-from - | tar --extract --directory "$directory"
# Go's packages and what is for contributors are not in it.
sed -E -i "s#\]\(((lock|outbox)(/[^)]*)?|CONTRIBUTING\.md)\)#](https://github.com/waitroom/waitroom/tree/$version/\1)#g" "$directory/README.md"

# The image is made of the archive's program; Go's code is not there.
awk '/^FROM golang/ { print "FROM alpine:3.22 AS build\nCOPY waitroom /out/waitroom\nRUN mkdir /out/data\n"; skip = 1 }
	/^FROM scratch/ { skip = 0 } !skip' Dockerfile >"$directory/Dockerfile"

missing=0
# What compose.yaml mounts, and the image copies, is there; secrets.sh makes the secrets, and the program is put in by release.sh.
while read -r path; do
	[ -e "$directory/$path" ] && continue
	echo "archive: deploy/compose.yaml needs $path, which is not in the archive" >&2
	missing=1
done < <(sed -nE 's#.*"\./([^":]+):.*#deploy/\1#p' "$directory/deploy/compose.yaml"
	sed -nE '/--from=/d; s#^COPY (.*) [^ ]+$#\1#p' "$directory/Dockerfile" | tr ' ' '\n' | grep -vx waitroom)
while read -r path; do
	[ -e "$directory/$path" ] && continue
	echo "archive: README.md links to $path, which is not in the archive" >&2
	missing=1
done < <(grep -oE '\]\([^)]+\)' "$directory/README.md" | sed -E 's/^\]\(//; s/\)$//; s/#.*//' | grep -vE '^$|:' | sort -u)
exit $missing
