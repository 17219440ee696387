#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fuzz.sh - run the fuzz targets of tests/fuzz, or prepare their corpora
#
# usage: scripts/fuzz.sh libfuzzer|afl [TARGET...]    fuzz one after the other
#        scripts/fuzz.sh coverage [TARGET...]  lines of hatf/ that inputs reach
#        scripts/fuzz.sh minimize [TARGET...]  replace the committed corpus
#
# A target is the NAME of a tests/fuzz/fuzz_NAME.c; the default is all of them.
# FUZZ_SECONDS limits each target (default 60).  A run starts with the inputs in
# build/fuzz/NAME and with the committed ones in tests/fuzz/corpus/NAME, and
# adds inputs that reach new code to build/fuzz/NAME.  Inputs that break the
# library go to build/fuzz/NAME.found, and the exit status is 1; to reproduce a
# failure, run the target's program with such a file as its argument.
set -eu
cd "$(dirname "$0")/.."

seconds=${FUZZ_SECONDS:-60}
rss_mb=2048
# Upper bound of any single allocation of the library, for any input. zstd's
# window takes 128 MiB.
malloc_mb=160
input_max=8192 # bytes; committed inputs are smaller, at most merge_max
merge_max=1024
jobs=$(nproc)
mode=${1-}
[ $# -eq 0 ] || shift
targets=("$@")
if [ $# -eq 0 ]; then
	for source in tests/fuzz/fuzz_*.c; do
		source=${source##*/fuzz_}
		targets+=("${source%.c}")
	done
fi
# Readers allocate much for each input.  With a larger quarantine, page faults
# would take most of the time.
quarantine=quarantine_size_mb=16
export ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:$quarantine
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1

# seeds NAME: print the folders of further inputs, the reader's test data.
seeds()
{
	[ "$1" != reader ] || echo tests/data/golden tests/data/corrupt
}

# dictionary OPTION NAME: print OPTION and the target's dictionary, if any.
dictionary()
{
	[ ! -e "tests/fuzz/$2.dict" ] || echo "$1tests/fuzz/$2.dict"
}

fuzz_libfuzzer()
{
	local name=$1 status=0

	mkdir -p "build/fuzz/$name" "build/fuzz/$name.found"
	# Look for leaks at the end of the run, not after each input.
	# shellcheck disable=SC2046 # the words have no blanks
	ASAN_OPTIONS=symbolize=1:detect_leaks=1:$quarantine "$bin/fuzz_$name" \
		-max_total_time="$seconds" -timeout=20 -detect_leaks=0 \
		-rss_limit_mb=$rss_mb -malloc_limit_mb=$malloc_mb \
		-max_len=$input_max -print_final_stats=1 -verbosity=0 \
		-use_value_profile=1 -reload=0 \
		-artifact_prefix="build/fuzz/$name.found/" \
		$(dictionary -dict= "$name") \
		"build/fuzz/$name" "tests/fuzz/corpus/$name" $(seeds "$name") \
		>"build/fuzz/$name.log" 2>&1 || status=$?
	sed -n 's/^stat::number_of_executed_units: */executions: /p
		s/^stat::average_exec_per_sec: */executions a second: /p
		s/^stat::peak_rss_mb: */memory at most, MiB: /p' \
		"build/fuzz/$name.log"
	[ $status -eq 0 ] || tail -n 60 "build/fuzz/$name.log"
	return $status
}

fuzz_afl()
{
	local name=$1 in=build/fuzz/$1.in out=build/fuzz/$1.afl

	rm -rf "$in" "$out"
	mkdir -p "$in" "build/fuzz/$name" "build/fuzz/$name.found"
	for folder in "tests/fuzz/corpus/$name" $(seeds "$name"); do
		find "$folder" -type f -size -${input_max}c ! -name '*.expect' \
			-exec cp -t "$in" {} +
	done
	# shellcheck disable=SC2046
	AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 \
		AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_SKIP_CRASHES=1 \
		afl-fuzz -i "$in" -o "$out" -V "$seconds" -m none -t 5000 \
		-G $input_max $(dictionary '-x ' "$name") \
		-- "$bin/fuzz_$name" >"build/fuzz/$name.log" 2>&1 || {
		tail -n 20 "build/fuzz/$name.log"
		return 1
	}
	sed -n 's/^execs_done *: */executions: /p
		s/^execs_per_sec *: */executions a second: /p
		s/^bitmap_cvg *: */edges reached: /p' \
		"$out/default/fuzzer_stats"
	cp -t "build/fuzz/$name" "$out"/default/queue/id* 2>/dev/null || true
	find "$out/default/crashes" "$out/default/hangs" -name 'id*' \
		-exec cp -t "build/fuzz/$name.found" {} + -exec false {} +
}

# coverage TARGET...: print how many lines of the library the inputs reach.
coverage()
{
	local objects=() raw=() name

	for name; do
		mkdir -p "build/fuzz/$name"
		raw+=("build/fuzz/$name.profraw")
		# shellcheck disable=SC2046
		LLVM_PROFILE_FILE=${raw[-1]} "$bin/fuzz_$name" \
			"build/fuzz/$name" "tests/fuzz/corpus/$name" \
			$(seeds "$name") >/dev/null 2>&1
		objects+=(-object "$bin/fuzz_$name")
	done
	llvm-profdata merge -o build/fuzz/profdata "${raw[@]}"
	llvm-cov report -instr-profile build/fuzz/profdata "${objects[@]:1}" \
		hatf
}

# minimize TARGET: make the corpus the smallest inputs that together reach all
# that the inputs reach now.
minimize()
{
	local name=$1 corpus=tests/fuzz/corpus/$1 new

	new=$(mktemp -d "build/fuzz/$name.XXXXXX")
	# Counts of how often an edge is reached would make the corpus ten times
	# as large.
	# shellcheck disable=SC2046
	"$bin/fuzz_$name" -merge=1 -use_counters=0 -max_len=$merge_max \
		-verbosity=0 "$new" "$corpus" "build/fuzz/$name" \
		$(seeds "$name") >"build/fuzz/$name.log" 2>&1
	rm -rf "$corpus"
	mv "$new" "$corpus"
	chmod 755 "$corpus"
	du -sb "$corpus"
}

case $mode in
libfuzzer | minimize)
	scripts/setup.sh test
	san=fuzzer-no-link,address,undefined
	bin=build/clang-${san//,/-}/tests/fuzz
	make -j"$jobs" CC=clang SAN=$san fuzz-programs
	;;
afl)
	scripts/setup.sh fuzz
	bin=build/afl-clang-fast-address-undefined/tests/fuzz
	make -j"$jobs" CC=afl-clang-fast SAN=address,undefined fuzz-programs
	;;
coverage)
	scripts/setup.sh fuzz
	bin=build/coverage/tests/fuzz
	make -j"$jobs" B=build/coverage CC=clang fuzz-programs \
		CFLAGS='-fprofile-instr-generate -fcoverage-mapping'
	coverage "${targets[@]}"
	exit
	;;
*)
	sed -n '5,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
status=0
for name in "${targets[@]}"; do
	echo "== $mode $name"
	case $mode in
	minimize) minimize "$name" ;;
	*)
		if "fuzz_$mode" "$name"; then
			echo "no finding"
		else
			status=1
		fi
		;;
	esac
done
exit $status
