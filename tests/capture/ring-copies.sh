#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# ring-copies.sh - a copied or forged ring file does no harm
#
# A copied or forged ring file changes neither the trace of a live process nor
# any other file.
. "$(dirname "$0")/lib.sh"
need "$PYTHON"
# The trace and its ring file exist from the first event on.
export HATFTRACE_BEGIN=now

stat -f -c %T . | grep -qE 'ext|xfs|tmpfs|overlay|btrfs|f2fs' ||
	skip "no ring file is safe on $(stat -f -c %T .)"

# recovers WANT FILE...: 'hatf recover' has this status; its output is in
# 'said'.
recovers()
{
	local want=$1 status
	shift
	"$HATF" recover "$@" >said 2>&1
	status=$?
	check "recover $*: status ($(head -n 1 said))" "$status" "$want"
}

# A live process: copy its ring file to another folder, and next to it.
mkdir live copies
trace "$TMP/live/t.gz" "$PYTHON" -c '
import os, sys, time
kept = [bytearray(i % 900) for i in range(50000)]
open("ready", "w").close()
while not os.path.exists("go"): time.sleep(0.01)' &
pid=$!
for _ in $(seq 2000); do [ -e ready ] && break; sleep 0.01; done
rings=$(echo live/*.rings)
name=${rings%.rings}
cp "$rings" copies/
cp "$rings" live/other.rings
before=$(stat -c %s "$name")
for copy in copies/*.rings live/other.rings "$rings"; do
	recovers 1 "$copy"
	grep -q 'the process still runs' said || fail "$copy: $(cat said)"
done
recovers 1 -f --rings "$(echo copies/*.rings)" "$name"
check_ge "alive: bytes" "$(stat -c %s "$name")" "$before"
touch go
wait $pid || fail "alive: status"
rm -f live/other.rings
clean "$name"
check "alive: end" "$(trailer "$name" end)" exit
# The process has ended; in the copy's folder there is no such trace.
recovers 1 copies/*.rings
clean "$name"

# killed DIR: a killed process leaves its trace there; set 'name' and 'rings'.
killed()
{
	mkdir "$1"
	HATFTRACE_OUT="$TMP/$1/k.gz" LD_PRELOAD=$SO "$PYTHON" -c '
import os
kept = [bytearray(i % 900) for i in range(5000)]
os.kill(os.getpid(), 9)' 2>/dev/null
	rings=$(echo "$1"/*.rings)
	name=${rings%.rings}
}

# A zombie is no longer alive.
mkdir zombie
"$PYTHON" -c '
import os, subprocess, sys, time
env = dict(os.environ, LD_PRELOAD=sys.argv[1], HATFTRACE_OUT=sys.argv[2])
child = subprocess.Popen([sys.executable, "-c",
    "import os; os.kill(os.getpid(), 9)"], env=env)
time.sleep(0.5)
sys.exit(subprocess.call([sys.argv[3], "recover", "zombie"]))' \
	"$SO" "$TMP/zombie/z.gz" "$HATF" >said 2>&1 ||
	fail "zombie: $(cat said)"
clean zombie/*.gz

# craft RINGS FIELD VALUE...: change fields in the header of a ring file.
craft()
{
	"$PYTHON" - "$@" <<'END'
import os, struct, sys
fields = {"pid": 32, "path0": 480 + 24, "path1": 8696 + 24,
          "head0": 480, "head1": 8696}
def fnv(data):
    h = 0xcbf29ce484222325
    for c in data:
        h = ((h ^ c) * 0x100000001b3) & (2 ** 64 - 1)
    return h
with open(sys.argv[1], "r+b") as f:
    # Make the file look as if it had been created here.
    st = os.fstat(f.fileno())
    f.seek(16920)
    f.write(struct.pack("<2Q", st.st_dev, st.st_ino))
    f.seek(40)
    seq = struct.unpack("<Q", f.read(8))[0]
    f.seek(64 + (seq & 1) * 208 + 8)
    current = struct.unpack("<Q", f.read(8))[0]
    for field, value in zip(sys.argv[2::2], sys.argv[3::2]):
        place = 480 + 8216 * (current if field == "trace" else 1 - current)
        if field == "trace":
            with open(value, "rb") as victim:
                head = victim.read(16)
            f.seek(place)
            f.write(struct.pack("<2Q", len(head), fnv(head)))
        else:
            f.seek(place + 16)
            f.write(struct.pack("<Q", seq))
        f.seek(place + 24)
        f.write(value.encode() + b"\0")
END
}

# The forged file names as its trace another gzip file, or the trace of another
# process.
killed other
mv "$name" another.gz
killed made-up
seq 100000 | gzip >victim.gz
for victim in victim.gz another.gz; do
	sum=$(sha256sum "$victim")
	cp "$rings" made-up/x.rings
	craft made-up/x.rings trace "$TMP/$victim"
	recovers 1 made-up/x.rings
	check "$victim: is as it was" "$(sha256sum "$victim")" "$sum"
	ln -sf "$TMP/$victim" "made-up/$victim"
	recovers 1 made-up/x.rings
	check "$victim: behind a link" "$(sha256sum "$victim")" "$sum"
	rm "made-up/$victim"
done

# The forged file names a victim as its announced segment.
rm made-up/x.rings
echo precious >made-up/victim
cp "$TMP/another.gz" made-up/another.gz
if [ "$(id -u)" = 0 ]; then
	# Files of another owner: recovery touches neither.
	touch "made-up/empty"
	chown 65534 "$rings"
	sum=$(sha256sum "$name")
	recovers 1 "$rings"
	check "owner: is as it was" "$(sha256sum "$name")" "$sum"
	chown 0 "$rings"
	cp "$rings" made-up/x.rings
	chown 65534 made-up/x.rings made-up/empty
	if command -v setpriv >/dev/null && chmod 711 "$TMP" &&
		chmod 755 made-up && chmod 644 made-up/x.rings; then
		setpriv --reuid 65534 --clear-groups "$(reachable "$HATF")" \
			recover made-up/x.rings >said 2>&1
		check 'setpriv: status' $? 1
	fi
	rm made-up/x.rings
fi
cp -p "$rings" spare
for victim in victim another.gz; do
	craft "$rings" announced "$victim"
	recovers 0 "$rings"
	[ -s "made-up/$victim" ] || fail "$victim was removed"
	clean "$name"
	cp -p spare "$rings"
done
finish
