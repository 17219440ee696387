#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# ring-attack.sh - a trace folder's owner gains nothing from recovery
#
# The owner of a folder of traces attacks another user who recovers them.  No
# file of another folder is removed or changed, whenever names are exchanged
# meanwhile, and a ring file that claims to be huge costs no memory or time.
. "$(dirname "$0")/lib.sh"
need "$PYTHON"

stat -f -c %T . | grep -qE 'ext|xfs|tmpfs|overlay|btrfs|f2fs' ||
	skip "no ring file is safe on $(stat -f -c %T .)"

# killed DIR [SETTING...]: a killed process leaves DIR/t.gz and its rings.
killed()
{
	local dir=$1
	shift
	mkdir -p "$dir"
	env HATFTRACE_BEGIN=now "$@" HATFTRACE_OUT="$TMP/$dir/t.gz" \
		LD_PRELOAD="$SO" "$PYTHON" -c '
import os
kept = [bytearray(i % 900) for i in range(3000)]
os.kill(os.getpid(), 9)' 2>/dev/null
}

# --------------------------------------------------------- names are exchanged
# The victim has files with the same names; none of them may change.
killed spare
[ -e spare/t.gz.rings ] || {
	fail "no ring file"
	finish
}
mkdir victim
cp spare/t.gz victim/t.gz
echo precious >victim/t.gz.rings
echo precious >victim/file
ln -s "$TMP/victim" link-to-folder
ln -s "$TMP/victim/file" link-to-file

# state: print the names, inodes, sizes and contents of the victim's files.
state()
{
	(cd victim && stat -c '%n %i %s' -- * && sha256sum -- *)
}
before=$(state)

# exchange WHAT A B: exchange the names at each system call of a recovery, one
# call in each run.
exchange()
{
	local what=$1 a=$2 b=$3 n=0 status=0 completed=0
	while [ "$status" -ne 99 ]; do
		n=$((n + 1))
		rm -rf attack && mkdir attack && cp -rp spare attack/dir
		ln -s "$TMP/victim" attack/link
		ln -s "$TMP/victim/file" attack/file
		timeout 60 "$PROGS/exchange" "$n" "$a" "$b" \
			"$HATF" recover attack/dir/t.gz.rings >said 2>&1
		status=$?
		[ "$status" -le 1 ] || [ "$status" -eq 99 ] || {
			fail "$what at $n: status $status: $(cat said)"
			break
		}
		[ "$status" -ne 0 ] || completed=$((completed + 1))
		[ "$(state)" = "$before" ] || {
			fail "$what at $n: $(state | diff - <(echo "$before"))"
			rm -rf victim && mkdir victim && cp spare/t.gz victim/
			echo precious >victim/t.gz.rings
			echo precious >victim/file
			before=$(state)
		}
	done
	[ "$n" -gt 20 ] || fail "$what: only $n calls"
	# A late exchange has no effect on the recovery, so some recoveries must
	# succeed.
	check_ge "$what: recoveries" "$completed" 1
}

"$PROGS/exchange" 1 link-to-folder link-to-file true 2>said
[ $? -ne 98 ] || skip "no program can be watched here: $(cat said)"
"$PROGS/exchange" 1 link-to-folder link-to-file true

exchange folder attack/dir attack/link
exchange trace attack/dir/t.gz attack/file
exchange rings attack/dir/t.gz.rings attack/file

# ----------------------------------------------- a ring file somewhere else
# Root removes a ring file that a trace names only if --rings allows it.
mkdir far
chmod 711 "$TMP"
killed near HATFTRACE_RINGS="$TMP/far"
if [ "$(id -u)" = 0 ] && [ -e far/t.gz.rings ]; then
	cp -rp near named && cp -p far/t.gz.rings far.rings
	"$HATF" recover near/t.gz >said 2>&1 && fail "far: root recovers"
	grep -q 'its ring file was not found (see --rings)' said ||
		fail "far: $(cat said)"
	[ -e far/t.gz.rings ] || fail "far: root removed it"
	"$HATF" recover --rings far near/t.gz >said 2>&1 ||
		fail "far, named: $(cat said)"
	clean near/t.gz
	[ ! -e far/t.gz.rings ] || fail "far: is still there"
	if command -v setpriv >/dev/null; then
		user() { setpriv --reuid 65534 --clear-groups "$@"; }
		cp -p far.rings far/t.gz.rings
		chown -R 65534 named far
		user "$HATF" recover named/t.gz >said 2>&1 ||
			fail "far, a user's own: $(cat said)"
		clean named/t.gz
		# A user's ring file in place of another user's trace counts as
		# none.
		rm -rf named && cp -rp spare named && rm named/t.gz.rings
		cp -p far.rings far/t.gz.rings
		chmod 644 far/t.gz.rings
		chown -R 65534 named
		"$PROGS/touched" far/t.gz.rings -- setpriv --reuid 65534 \
			--clear-groups "$HATF" info named/t.gz >out 2>said
		grep -q '^opened' said && fail "far, another's: $(cat said)"
	fi
fi

# ------------------------------------------------------------- a sparse file
# As long as the format allows, with no content: words, rings and the trace's
# head.
mkdir sparse
cp spare/t.gz sparse/
"$PYTHON" - spare/t.gz.rings sparse/t.gz.rings <<'END'
import struct, sys
HEADER, RING, WORDS = 20480, 4096, 1 << 27
data = bytearray(open(sys.argv[1], "rb").read(HEADER + RING + 8192))
seq, = struct.unpack_from("<Q", data, 40)
ring = bytearray(data[HEADER:HEADER + RING])
with open(sys.argv[2], "wb") as f:
    f.write(data[:HEADER])
    for i in range(7):
        at = HEADER + i * (RING + 8 * WORDS)
        struct.pack_into("<Q", ring, 0, WORDS)      # head
        struct.pack_into("<2Q", ring, 64, 0, WORDS) # tail, capacity
        struct.pack_into("<2Q", ring, 200, at, WORDS)
        struct.pack_into("<16Q", ring, 240, *([2 ** 64 - 1] * 16))
        f.seek(at)
        f.write(ring)
    f.truncate(at + RING + 8 * WORDS)
END
check_ge "sparse: length" "$(stat -c %s sparse/t.gz.rings)" 7000000000
for option in --dry-run --force; do
	"$PYTHON" - "$HATF" recover $option sparse/t.gz.rings >said 2>&1 <<'END'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], timeout=120).returncode
mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print("status", status, "small" if mib < 300 else "%d MiB" % mib)
END
	check "sparse $option" "$(tail -n 1 said)" "status 1 small"
done
grep -q ' 0 events recovered' said || fail "sparse, forced: $(cat said)"
# Nothing is committed: recovery reads the trace as far as its first event, here
# a trace of zeros to its end.
rm -rf sparse && cp -r spare sparse
"$PYTHON" - sparse/t.gz sparse/t.gz.rings <<'END'
import gzip, struct, sys
data = gzip.open(sys.argv[1]).read()
header = data[:3 + struct.unpack(">H", data[1:3])[0]]
with open(sys.argv[1], "wb") as f:
    f.write(header)
    f.truncate(1 << 40)
with open(sys.argv[2], "r+b") as f:
    f.seek(40)
    f.write(bytes(8))
END
cp sparse/t.gz.rings kept
timeout 60 "$HATF" recover sparse/t.gz.rings >said 2>&1
check "no commit, but events: status" $? 1
text='offset 0x28: seq: not a ring file, or a damaged one'
check "no commit, but events" "$(cat said)" \
	"hatf recover: sparse/t.gz.rings: $text"
cmp kept sparse/t.gz.rings || fail "no commit, but events: the ring file"
# The header alone, as it is before the first ring exists.
truncate -s 20480 sparse/t.gz.rings
timeout 60 "$HATF" recover sparse/t.gz.rings >said 2>&1
check "sparse, begun: status" $? 0
check "sparse, begun" "$(cat said)" \
	"sparse/t.gz.rings: the process had recorded nothing"
check "sparse, begun: trace" "$(stat -c %s sparse/t.gz)" $((1 << 40))
finish
