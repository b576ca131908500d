#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (default 10s each), one after the other,
# since the go command fuzzes one at a time. FUZZ=regexp picks some.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${FUZZTIME:-10s}
pick=${FUZZ:-.}
failed=()
ran=0

while IFS=: read -r file target; do
    printf '== %s %s\n' "./$(dirname "$file")" "$target"
    ran=$((ran + 1))
    go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" </dev/null ||
        failed+=("$(dirname "$file") $target")
done < <(grep -rhoE --include='*_test.go' --exclude-dir=testdata --exclude-dir=bench --with-filename '^func Fuzz[A-Za-z0-9_]*' . |
    sed 's|^\./||; s|:func |:|' | grep -E "$pick" | sort)

if [ ${#failed[@]} -gt 0 ]; then
    printf 'failed: %s\n' "${failed[@]}"
    exit 1
fi
printf '%d targets, %s each, none failed\n' "$ran" "$time"
