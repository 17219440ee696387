#!/bin/bash
# SPDX-License-Identifier: MIT
#
# slow-readers.sh - output into a pipe that does not block is complete
#
# A caller may have set O_NONBLOCK for its pipe.  A write to a full pipe then
# fails, and 'hatf' must wait for the reader.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

{
	echo '10 HATF ascii thread heap time attributes'
	for ((i = 1; i <= 40000; i++)); do
		printf '0 %d 0x%x 0 0 1\n' $((i % 100)) $((i * 4096))
	done
} >trace.ascii
run "$HATF" convert trace.ascii trace.hatf
check_status 'convert' 0

# through_pipe FILE COMMAND...: the output of a command, which goes through a
# small pipe that does not block, to a reader that begins late.
through_pipe()
{
	python3 - "$@" <<-'PYTHON'
		import fcntl, os, subprocess, sys, time

		to, *command = sys.argv[1:]
		reader, writer = os.pipe()
		fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
		os.set_blocking(writer, False)
		process = subprocess.Popen(command, stdout=writer)
		os.close(writer)
		time.sleep(0.2)
		with open(to, 'wb') as out:
		    while piece := os.read(reader, 1 << 16):
		        out.write(piece)
		sys.exit(process.wait())
	PYTHON
}

# check_output WHAT ARGUMENT...: the same output through such a pipe and into a
# file.
check_output()
{
	local what=$1

	shift
	"$HATF" "$@" >want 2>err || fail "$what: $(cat err)"
	through_pipe got "$HATF" "$@" 2>err || fail "$what: $(cat err)"
	cmp -s want got || fail "$what: $(wc -c <got) bytes of $(wc -c <want)"
	[ "$(wc -c <want)" -gt 16384 ] || fail "$what: too short for a test"
}

check_output 'text' dump trace.hatf
check_output 'a trace' convert -f hatf -t ascii trace.hatf -
check_output 'a compressed trace' convert -t ascii -z trace.hatf -
check_output 'a Meta-TF trace' convert -t metatf trace.hatf -
finish
