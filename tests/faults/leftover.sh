#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# leftover.sh - a process may no longer remove its ring file
#
# Its trace is complete and can be read in spite of the file.  'hatf record'
# removes the file.  'hatf recover' removes it, too, and says that the trace was
# complete.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

is_root || skip "not root"
chmod 711 "$TMP"
mkdir -m 755 alone anew recorded folder

rings()
{
	find "$1" -name '*.rings' | wc -l
}

HATFTRACE_OUT=$TMP/alone/t.hatf.gz LD_PRELOAD=$SO \
	"$FAULTS/privileges" setresuid >out 2>err
check "alone: status" $? 0
check "alone: said" "$(cat err)" ""
check "alone: a ring file" "$(rings alone)" 1
"$HATF" verify alone/t.hatf.gz >verify.out 2>&1 || fail "$(cat verify.out)"
"$HATF" tree alone >tree.out 2>&1 || fail "tree: $(cat tree.out)"
check "tree: processes" "$(grep -c exit tree.out)" 1
"$HATF" recover alone >recover.out 2>&1 || fail "recover: $(cat recover.out)"
check "recover" "$(cat recover.out)" "alone/t.hatf.gz: was complete"
check "recovered: ring files" "$(rings alone)" 0

# Another program writes the complete trace anew, as 'hatf symbolize' does.
HATFTRACE_OUT=$TMP/anew/t.hatf.gz LD_PRELOAD=$SO \
	"$FAULTS/privileges" setresuid >out 2>err
check "anew: a ring file" "$(rings anew)" 1
"$HATF" convert anew/t.hatf.gz anew.hatf.gz || fail "anew: convert"
head -c 300 anew.hatf.gz >anew/t.hatf.gz
"$HATF" recover anew >recover.out 2>&1
check "cut short: status" $? 1
check "cut short: a ring file" "$(rings anew)" 1
cat anew.hatf.gz >anew/t.hatf.gz
"$HATF" recover anew >recover.out 2>&1 || fail "anew: $(cat recover.out)"
check "anew" "$(cat recover.out)" "anew/t.hatf.gz: was complete"
check "anew: ring files" "$(rings anew)" 0
cmp anew.hatf.gz anew/t.hatf.gz || fail "anew: the trace has changed"

"$HATF" record -o "$TMP/recorded/t.hatf.gz" \
	"$FAULTS/privileges" setresuid >out 2>err
check "recorded: status" $? 0
check "recorded: ring files" "$(rings recorded)" 0
"$HATF" verify recorded/t.hatf.gz >verify.out 2>&1 || fail "$(cat verify.out)"

# The ring file is in another folder, and belongs to a child.
HATFTRACE_RINGS=$TMP/folder "$HATF" record -o "$TMP/recorded/c.%p.hatf.gz" \
	"$BASH" -c '"$0" setresuid; :' "$FAULTS/privileges" >out 2>err
check "folder: status" $? 0
check "folder: ring files" "$(rings folder)" 0

# The ring file of a running process stays.
mkfifo gate
HATFTRACE_BEGIN=now "$HATF" record -o "$TMP/recorded/d.%p.hatf.gz" \
	"$BASH" -c 'read -r x <"$0" & :' "$TMP/gate" >out 2>err
check_ge "alive: ring files" "$(rings recorded)" 1
echo >gate
for ((i = 0; i < 100 && $(rings recorded) != 0; i++)); do
	sleep 0.05
done
check "over: ring files" "$(rings recorded)" 0
finish
