#!/usr/bin/env bash
# Writes go.mod and go.sum for other versions:  make-go-mod.sh v1.37.2 v3.7.0   (of Kubernetes, and of etcd)
# Kubernetes replaces its own parts by folders of its repository. Those replacements do not reach whoever depends on
# it, so each is said again here, as the published module of the same release: v1.X.Y is v0.X.Y there.
set -euo pipefail
cd "$(dirname "$0")"
kubernetes=${1:?the version of Kubernetes, as in v1.37.2} etcd=${2:?the version of etcd, as in v3.7.0}

upstream=$(cd "${TMPDIR:-/tmp}" && go mod download -json "k8s.io/kubernetes@$kubernetes" |
  sed -n 's/^\s*"GoMod": "\(.*\)",\?$/\1/p')
go_version=$(sed -n 's/^go //p' "$upstream")
parts=$(grep -oE '^\s+k8s\.io/[a-z-]+ =>' "$upstream" | awk -v version="v0.${kubernetes#v1.}" \
  '{ print "\t" $1 " => " $1 " " version }')

cat >go.mod <<END
module edgewright.test/e2e/cluster

go $go_version

godebug default=go${go_version%.*}

tool (
	go.etcd.io/etcd/server/v3
	k8s.io/kubernetes/cmd/kube-apiserver
	k8s.io/kubernetes/cmd/kube-controller-manager
)

require (
	go.etcd.io/etcd/server/v3 $etcd
	k8s.io/kubernetes $kubernetes
)

replace (
$parts
)
END
go mod tidy
