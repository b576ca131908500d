#!/usr/bin/env bash
# Asks whether this code calls anything that is known to be vulnerable, in every
# module. The database is fetched from vuln.go.dev, or from where GOVULNDB says
# (a mirror, or file:///path of a copy).
#
# exits 0 if nothing is known, 3 if something is, 75 if the database or the tool
# cannot be had here, which is said and is no verdict.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if ! go build -C tools -o "$tmp/govulncheck" golang.org/x/vuln/cmd/govulncheck; then
    echo 'vuln: govulncheck could not be built; it comes from the Go module proxy'
    exit 75
fi

worst=0
for module in . bench; do
    [ -f "$module/go.mod" ] || continue
    status=0
    patterns=(./...)
    [ "$module" != bench ] || patterns=(./internal/... ./overload ./simulator)
    "$tmp/govulncheck" ${GOVULNDB:+-db "$GOVULNDB"} -C "$module" "${patterns[@]}" >"$tmp/said" 2>&1 || status=$?
    case $status in
    0) ;;
    3)
        cat "$tmp/said"
        worst=3
        ;;
    *)
        if grep -q 'fetching vulnerabilities' "$tmp/said"; then
            echo "vuln: the vulnerability database cannot be reached: $(tail -n 1 "$tmp/said")"
            exit 75
        fi
        cat "$tmp/said"
        exit "$status"
        ;;
    esac
done
exit $worst
