#!/bin/bash
# SPDX-License-Identifier: MIT
#
# python.sh - the Python module has the figures of the command, and its page is
# true
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'
python3 -c 'import ctypes, mmap' 2>/dev/null || skip 'no python3'
module=$CLI/../../hatf/python
case $BUILD in
*address* | *thread*) skip 'a sanitizer cannot be loaded into python3' ;;
esac
export PYTHONPATH=$module PYTHONDONTWRITEBYTECODE=1
HATF_LIBRARY=$(realpath "$BUILD/libhatf.so.0")
export HATF_LIBRARY

# The interpreters to try: with numpy and without, as far as there are both.
interpreters=$(for python in /usr/bin/python3 \
	"$(python3 -c 'import sys; print(sys.executable)')"; do
	[ -x "$python" ] && realpath "$python"
done | sort -u)

# ------------------------------------------------------- figures and wrong use
seq 1 500 >numbers
"$HATF" record -o app.hatf.gz sort -n numbers >/dev/null 2>err ||
	fail "$(cat err)"
cat >program.cc <<'END'
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
static void *kept[50];
static void
grow(int n)
{
	for (int i = 0; i < n; i++)
		kept[i] = std::realloc(kept[i], 100 * (i + 1));
}
int
main()
{
	std::vector<std::string> v(20, std::string(100, 'x'));
	std::thread t(grow, 20);
	t.join();
	grow(30);
	std::free(kept[3]);
	return 0;
}
END
g++ -g -O1 -pthread -o program program.cc || fail 'g++ failed'
"$HATF" record -o new.hatf.gz ./program 2>err || fail "$(cat err)"
cp app.hatf.gz old.hatf.gz
for python in $interpreters; do
	run "$python" "$CLI/python_module.py" "$HATF" app.hatf.gz new.hatf.gz
	check_status "$python: $(tail -3 err)" 0
done

# ------------------------------------------------------- the page, as it stands
mkdir page
awk -v n=0 '/^```python/ { n++; inside = 1; next }
	/^```/ { inside = 0 }
	inside { print >("page/" n ".py") }' "$module/README.md"
check 'examples' "$(find page -name '*.py' | wc -l)" 6
numpy=$(for python in $interpreters; do
	"$python" -c 'import numpy' 2>/dev/null && echo "$python"
done | head -1)
if [ -n "$numpy" ]; then
	for example in page/*.py; do
		run "$numpy" "$example"
		check_status "$example: $(cat err)" 0
	done
	"$numpy" page/1.py >sites
	[ "$(wc -l <sites)" -gt 2 ] || fail "sites: $(cat sites)"
	check 'lines of the first example' "$(grep -c . page/1.py)" 4
fi

# -------------------------------------------------------------------- installed
python=${numpy:-python3}
if "$python" -m venv --system-site-packages venv >/dev/null 2>&1 &&
	"$python" -c 'import setuptools' 2>/dev/null; then
	unset PYTHONPATH
	cp -r "$module" copy
	run venv/bin/python -m pip install --no-index --no-build-isolation \
		./copy
	check_status "pip install: $(tail -2 err)" 0
	run venv/bin/python -c '
import hatf
assert "site-packages" in hatf.__file__, hatf.__file__
with hatf.open("app.hatf.gz") as trace:
    print(len(trace.sites()))'
	check_status "installed: $(cat err)" 0
	HATF_LIBRARY=/none run venv/bin/python -c 'import hatf'
	check_status 'without the library' 1
	grep -q '^ImportError: libhatf.so.0 cannot be loaded; set' err ||
		fail "without the library: $(tail -1 err)"
fi

# The figures do not depend on the locale of the program.
sampled=$CLI/../data/foreign/memtrace/ext-v3.ctf.gz
mkdir locales
if localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>/dev/null; then
	cat >comma.py <<-'END'
		import locale, sys
		import hatf
		locale.setlocale(locale.LC_NUMERIC, sys.argv[1])
		print(hatf.Trace(sys.argv[2]).header('sample_rate'))
	END
	export PYTHONPATH=$module
	want=$(python3 comma.py C "$sampled")
	[[ $want = 0.* ]] || fail "a rate: '$want'"
	export LOCPATH=$PWD/locales
	check 'a rate where the decimal point is a comma' \
		"$(python3 comma.py de_DE.UTF-8 "$sampled")" "$want"
fi
finish
