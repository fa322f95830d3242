#!/usr/bin/env bash
# Builds waitroom for every system it is released for into dist/, with checksums and a bill of materials, each stamped with its version.
#   scripts/release.sh          the version of the tag v* that this commit has
#   scripts/release.sh v1.2.3   a version that is not tagged yet, to look at
# The same commit and the same Go make the same files: no path, time or name of this machine is in them.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:-$(git describe --tags --exact-match --match 'v*' HEAD 2>/dev/null || true)}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+([-+].*)?$ ]] || {
	echo "release: this commit has no tag v1.2.3: tag it, or name a version: make release VERSION=v1.2.3" >&2
	exit 1
}
if [ -z "${1-}" ] && [ -n "$(git status --porcelain --untracked-files=no)" ]; then
	echo "release: the checkout has changes that are not committed" >&2
	exit 1
fi

export CGO_ENABLED=0 GOFLAGS="${GOFLAGS-} -trimpath -buildvcs=false"
stamp="$version $(git rev-parse HEAD) $(TZ=UTC git log -1 --format=%cd --date=format-local:%FT%TZ)"
rm -rf dist
mkdir -p dist
for target in ${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}; do
	system=${target%/*} machine=${target#*/}
	name=waitroom_${version#v}_${system}_$machine
	program=waitroom
	[ "$system" != windows ] || program=waitroom.exe
	mkdir "dist/$name"
	GOOS=$system GOARCH=$machine go build -ldflags "-s -w -X 'main.released=$stamp'" -o "dist/$name/$program" ./cmd/waitroom
	scripts/archive.sh "dist/$name" "$version"
	go run ./internal/sbom "dist/$name/$program" "$version" >"dist/$name.cdx.json"
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C dist -c "$name" | gzip -n >"dist/$name.tar.gz"
	rm -r "dist/${name:?}"
	echo "dist/$name.tar.gz"
done
(cd dist && sha256sum -- *.tar.gz *.cdx.json >checksums.txt)
echo "dist/checksums.txt"
