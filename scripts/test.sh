#!/usr/bin/env bash
# All that `make test` checks. It changes nothing on the machine: builds go to
# the Go caches and a temporary folder. A step that cannot be had here is skipped
# and named at the end; with CI=true that is a failure.
#
#   PKG      packages of the main module to test (default ./...)
#   TIMEOUT  limit for one package's tests (default 10m)
set -euo pipefail
cd "$(dirname "$0")/.."

read -ra pkgs <<<"${PKG:-./...}"
timeout=${TIMEOUT:-10m}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

closing=() # what the summary is told about the steps

# Of bench/ only what is ours is built here: its peers (a web server, an API
# server) take minutes to compile, and `make bench` builds them all.
bench=(./internal/... ./overload ./simulator)

step() { # name command...: runs it, remembers whether it failed
    local name=$1
    shift
    printf '== %s\n' "$name"
    "$@" || closing+=(-failed "$name")
}

skip() { # name why
    printf '== %s: skipped, %s\n' "$1" "$2"
    closing+=(-skipped "$1: $2")
}

everywhere() { # command...: runs it on the main module and on bench/
    local failed=0
    "$@" ./... || failed=1
    (cd bench && "$@" "${bench[@]}") || failed=1
    return $failed
}

formatted() {
    local files
    files=$(gofmt -l .)
    [ -z "$files" ] || { printf 'gofmt -w these:\n%s\n' "$files"; return 1; }
}

tests() { # writes the events of every module's tests to standard output
    local failed=0
    # Many tests wait more than they compute: for processes, disks, clocks. One package more
    # than there are cores keeps the cores busy.
    go test -json -vet=off -p "$(($(getconf _NPROCESSORS_ONLN) + 1))" ${race[@]+"${race[@]}"} -shuffle=on -timeout "$timeout" "${pkgs[@]}" || failed=1
    (cd bench && go test -json -vet=off -timeout "$timeout" "${bench[@]}") || failed=1
    return $failed
}

step gofmt formatted
# Offline this could not be told from a missing download, so it is CI's.
[ "${CI:-}" != true ] || step 'go mod tidy' go mod tidy -diff
step 'go vet' everywhere go vet

if go build -C tools -o "$tmp/staticcheck" honnef.co/go/tools/cmd/staticcheck; then
    step staticcheck everywhere "$tmp/staticcheck"
else
    skip staticcheck 'it could not be built; it comes from the Go module proxy'
fi

vulnerable=0
scripts/vuln.sh || vulnerable=$?
case $vulnerable in
0) ;;
75) skip govulncheck 'the tool or the vulnerability database cannot be had here' ;;
*) closing+=(-failed govulncheck) ;;
esac

if command -v shellcheck >/dev/null; then
    step shellcheck shellcheck scripts/*.sh .ci/run
else
    skip shellcheck 'not installed; make deps brings it'
fi

race=()
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
    race=(-race)
else
    skip 'race detector' 'it needs a C compiler; make deps brings one'
fi

printf '== go test %s\n' "${race[*]+${race[*]} }${pkgs[*]}"
go build -o "$tmp/summary" ./test/summary
tests | "$tmp/summary" -allow test/skips-allowed.txt ${closing[@]+"${closing[@]}"}
