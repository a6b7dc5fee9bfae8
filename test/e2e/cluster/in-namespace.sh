#!/usr/bin/env bash
# Runs a command in a network of its own:  in-namespace.sh COMMAND...
#   - every address of 10.77.0.0/16 and fd77::/64 can be listened on and dialled: an API server takes no loopback
#     address as an endpoint, but it takes these;
#   - nothing else can be reached: any other address is refused at once;
#   - temporary files (TMPDIR) and /var/run are kept in memory, and vanish with it: a Pod's credentials can be put where a
#     Pod has them;
#   - the name of the Service that Envoys dial in deploy/ leads to 10.77.0.1;
#   - when the command ends, or this or whoever started it is killed, all that it has started ends.
# Needs no root where users may have namespaces. Passes on the exit code.
set -euo pipefail
if [[ -z ${EDGEWRIGHT_E2E_WORLD:-} ]]; then
  world=${TMPDIR:-/tmp}/edgewright-e2e-$(id -u)
  mkdir -p "$world"
  namespaces=(--net --mount --pid --fork --mount-proc --kill-child)
  [[ $(id -u) == 0 ]] || namespaces+=(--user --map-root-user)
  EDGEWRIGHT_E2E_WORLD=$world exec setpriv --pdeathsig KILL unshare "${namespaces[@]}" "$0" "$@"
fi
mount -t tmpfs -o mode=755 edgewright-e2e /var/run
mkdir -p "$EDGEWRIGHT_E2E_WORLD" # It may have been below that.
mount -t tmpfs -o mode=1777 edgewright-e2e "$EDGEWRIGHT_E2E_WORLD"
export TMPDIR=$EDGEWRIGHT_E2E_WORLD
{ cat /etc/hosts && echo 10.77.0.1 edgewright-xds; } >"$TMPDIR/hosts"
mount --bind "$TMPDIR/hosts" /etc/hosts
# A whole prefix is local on a loopback device.
ip link set lo up
ip address add 10.77.0.1/16 dev lo
ip route add unreachable default metric 4294967295
# Where IPv6 is switched off there is none.
if ip -6 address add fd77::1/64 dev lo nodad 2>/dev/null; then
  ip -6 route add local fd77::/64 dev lo
  ip -6 route add unreachable default metric 4294967295
  echo 1 >/proc/sys/net/ipv6/ip_nonlocal_bind # IPv6 listens on such an address only when told to.
fi
"$@"
