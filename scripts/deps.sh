#!/usr/bin/env bash
# Installs what the tests find on PATH, from Debian's packages: servers to stand
# in front of, load generators and clients to be measured against, a browser.
# Runs again without harm, as root or with sudo, and starts no service.
set -euo pipefail

packages=(
    gcc libc6-dev            # the race detector
    curl openssl             # clients and certificates
    nginx haproxy            # other people's servers, before and behind ours
    wrk nghttp2-client       # wrk, h2load, nghttp
    postgresql pgbouncer     # the shared ledger, and a pooler before it
    prometheus               # promtool
    chromium chromium-driver # the pages
    iproute2                 # network namespaces
    shellcheck               # these scripts
)

say() { printf 'deps: %s\n' "$*"; }

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "this is no Debian or Ubuntu; install by hand what you want tested: ${packages[*]}"
    say 'nothing was changed; tests whose program is missing are skipped and say so'
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    say "all there, nothing was changed: ${packages[*]}"
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "needs root or sudo to install: ${missing[*]}"; exit 1; }
    as_root=(sudo)
fi
run() { ${as_root[@]+"${as_root[@]}"} "$@"; }

# Debian starts a service as soon as its package is installed, unless this file
# says no. Tests start their own, on their own ports.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'run rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | run tee "$policy" >/dev/null
    run chmod 755 "$policy"
fi

say "installing ${missing[*]}"
log=$(mktemp)
install() {
    run apt-get -q update &&
        run env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
            -o DPkg::Lock::Timeout=120 install "${missing[@]}"
}
if ! install </dev/null >"$log" 2>&1; then
    tail -n 40 "$log"
    say "failed; all of it is in $log"
    exit 1
fi
rm -f "$log"
say "installed ${missing[*]}; no service was started"
