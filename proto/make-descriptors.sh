#!/bin/sh
# Makes the descriptor set of Envoy's API anew: needs Go, Python 3, and their package registries.
#
#   proto/make-descriptors.sh [OUT]     OUT defaults to the committed file beside this script
#
# The same versions give the same bytes. To move to another Envoy, change `envoy` here, and the
# name of the set where it is used (tools/generate.mjs, test/support/reflection.ts).
set -eu

envoy=1.40.0
protobuf=7.36.2 # the Python package that strip.py reads and writes with
module=github.com/envoyproxy/go-control-plane/envoy

here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "${1:-$here/envoy-$envoy.binpb}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/dump"
cp "$here/dump-descriptors.go" "$work/dump/main.go"
cd "$work/dump"
go mod init dump-descriptors
go get "$module@v$envoy"
# A package registers its descriptors when it is imported: one blank import per package directory.
go list -mod=mod "$module/..." >packages
{
  printf 'package main\n\nimport (\n'
  sed 's/.*/\t_ "&"/' packages
  printf ')\n'
} >imports.go
go mod tidy
go build -o dump-descriptors .
./dump-descriptors "$work/all.binpb"

python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check "protobuf==$protobuf"
"$work/python/bin/python" "$here/strip.py" "$work/all.binpb" "$here/roots.txt" "$out" >"$work/files"
echo "$out: $(wc -l <"$work/files") files, $(wc -c <"$out") bytes"
