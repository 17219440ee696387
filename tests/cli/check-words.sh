#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-words.sh - what 'hatf check' says about each measure and scope
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# program NAME PID: a trace of a program that leaks a block, after a temporary
# one.
program()
{
	header unit=us "exe=/bin/$1" "pid=$2"
	layout
	comment 'HATF frame\nframe=1\nfunction=leak\nfile=/src/a.c\nline=7\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	alloc 1000 0x1000 0 0 0 '\x45\x01'
	free 0x1000 0 0 1
	alloc 3000 0x2000 0 0 2 '\x45\x01'
}
program app 1 >app.hatf
program tool 2 >tool.hatf
for name in app tool; do
	trailer $name.hatf 3 6
done

# says LIMIT: 'hatf check' prints what standard input has.
says()
{
	run "$HATF" check --limit "$1" app.hatf tool.hatf
	check_silent "$1"
	head -n -1 out >got
	check_text "$1" got
}
says 'process app peak 1K' <<'END'
exceeded  process app peak 1K                  by 1 process
            app: 2.9 KiB at the peak, limit 1.0 KiB; largest part: leak (/src/a.c:7)
END
says 'process app site leak live-at-end 1K' <<'END'
exceeded  process app site leak live-at-end 1K  by 1 site
            leak (a.c) in app: 2.9 KiB live at the end, limit 1.0 KiB; largest part: leak (/src/a.c:7)
END
says 'function leak allocs 1' <<'END'
exceeded  function leak allocs 1               by 2 functions
            leak in app: 2 allocations, limit 1; largest part: leak (/src/a.c:7)
            leak in tool: 2 allocations, limit 1; largest part: leak (/src/a.c:7)
END
says 'process app thread 0 allocated 1K' <<'END'
exceeded  process app thread 0 allocated 1K    by 1 thread
            thread 0 in app: 3.9 KiB allocated, limit 1.0 KiB
END
says 'process app temporary-ratio 1%' <<'END'
exceeded  process app temporary-ratio 1%       by 1 process
            app: 50 % temporary allocations, limit 1 %; largest part: leak (/src/a.c:7)
END
says 'process app single 1K' <<'END'
exceeded  process app single 1K                by 1 process
            app: 2.9 KiB in the largest allocation, limit 1.0 KiB; by leak (/src/a.c:7)
END
says 'tree peak 1K' <<'END'
exceeded  tree peak 1K                         by the sum of 2 processes
            all processes: 5.9 KiB as the sum of the peaks, limit 1.0 KiB; largest part: leak (/src/a.c:7) in app (app.hatf)
END
says 'process app site leak live 1M' <<'END'
ok        process app site leak live 1M        2.9 KiB by leak (a.c) in app
END
says 'process tool site app live 1M' <<'END'
unused    process tool site app live 1M        nothing matches
END
finish
