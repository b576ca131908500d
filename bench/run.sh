#!/usr/bin/env bash
# Runs all harnesses and prints one Markdown page, fit for docs/performance.md.
#
#   ./run.sh > ../docs/performance.md     about 35 minutes on an idle machine
#   SHORT=1 ./run.sh                      about 5 minutes: does everything run?
#   ONLY="decide proxy" ./run.sh          some of them
#
# Progress and missed targets go to standard error. The exit code is 3 if any
# target was missed, 1 if a harness could not run.
set -uo pipefail
cd "$(dirname "$0")"

all="decide proxy admission overload loadgen simulator"
only=${ONLY:-$all}
if [ -n "${SHORT:-}" ]; then
	decide="-rounds 2 -benchtime 30ms"
	proxy="-rounds 2 -length 1s"
	admission="-rounds 5 -block 1000"
	overload="-rounds 1 -length 3s"
	loadgen="-rounds 2 -length 1s"
	simulator="-rounds 1 -requests 200000 -long 1000000"
else
	decide="" proxy="" admission="" overload="" loadgen="" simulator=""
fi

declare -A package=(
	[decide]=./cmd/decide [proxy]=./proxy [admission]=./admission
	[overload]=./overload [loadgen]=./loadgen [simulator]=./simulator
)

code=0
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

cat <<-END
	# Performance

	Measured on $(date -u +%Y-%m-%d) at $(git describe --always --dirty 2>/dev/null || echo "an unknown commit") with \`bench/run.sh\`${SHORT:+ (SHORT: too short to mean anything)}.
	Ratios are of figures of the same round, medians over the rounds, with the extremes beside them; absolute
	figures belong to this machine. [bench/README.md](../bench/README.md) says what each row measures and how to repeat it.

END
for name in $all; do
	case " $only " in *" $name "*) ;; *) continue ;; esac
	echo "== $name" >&2
	# Built first: go run turns every exit code into 1.
	# shellcheck disable=SC2086 # the flags are words
	go build -o "$bin/$name" "${package[$name]}" && "$bin/$name" ${!name}
	case $? in
	0) ;;
	3) [ "$code" = 1 ] || code=3 ;;
	*)
		code=1
		printf '## %s\n\nCould not be run.\n\n' "$name"
		;;
	esac
done
exit "$code"
