#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# stderr.sh - a message of the recorder does no harm, whatever standard error is
#
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

# The program has closed standard error, and its next file has that number.
HATFTRACE_OUT=$TMP/t.hatf.gz LD_PRELOAD=$SO "$FAULTS/database"
check "a file that has the number: status" $? 0
check "a file that has the number" "$(cat database)" "DB"

# Standard error is a full pipe that nobody reads.
cat >full.py <<'EOT'
import fcntl, os, subprocess, sys

reader, writer = os.pipe()
fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
try:
    while True:
        os.write(writer, b'x' * 4096)
except BlockingIOError:
    pass
fcntl.fcntl(writer, fcntl.F_SETFL, 0)
sys.exit(subprocess.run(sys.argv[1:], stderr=writer, timeout=20,
                        env=dict(os.environ, HATFTRACE_CLOCK='wrong',
                                 LD_PRELOAD=os.environ['SO'])).returncode)
EOT
if command -v python3 >/dev/null; then
	SO=$SO LD_PRELOAD='' python3 full.py /bin/true 2>err
	check "a full pipe: status" $? 0
fi
finish
