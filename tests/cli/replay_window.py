#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hatf replay --from and --to, held against a count by hand.

usage: replay_window.py HATF ROUNDS

Random traces of up to four threads; windows by number and by time.
"""
import json
import random
import subprocess
import sys

HATF, ROUNDS = sys.argv[1], int(sys.argv[2])
TIMES = {"0": 5, "1": 4, "2": 6, "8": 3, "9": 3}  # where a record has its time


def make_trace(rng):
    """Return lists of words, one for each record."""
    records, live, alive, born, time = [], [], [0], 1, 0
    for n in range(rng.randrange(5, 150)):
        time += rng.randrange(3)
        what, thread = rng.random(), rng.choice(alive)
        if what < 0.05 and len(alive) < 4:
            records.append(["8", str(born), "0", str(time), f"42{thread:02x}"])
            alive.append(born)
            born += 1
        elif what < 0.08 and thread != 0:
            records.append(["9", str(thread), "0", str(time)])
            alive.remove(thread)
        elif what < 0.12:
            records.append(["0", "5", "0x0", str(thread), "0", str(time)])
        elif what < 0.55 or not live:
            live.append(f"{16 * (n + 1):#x}")
            records.append(["0", str(rng.randrange(300)), live[-1],
                            str(thread), "0", str(time)])
            if rng.random() < 0.3:
                records[-1].append(rng.choice(["01", "414020"]))
        elif what < 0.8:
            block = live.pop(rng.randrange(len(live)))
            records.append(["1", block, str(thread), "0", str(time)])
        else:
            i = rng.randrange(len(live))
            block, live[i] = live[i], f"{16 * (n + 1):#x}"
            records.append(["2", str(rng.randrange(1, 300)), block, live[i],
                            str(thread), "0", str(time)])
    return records


def count(records, begins, ends):
    """What a replay of a window makes; begins(n, time) is one of its bounds."""
    live, built = {}, None
    out = dict.fromkeys(("mallocs", "callocs", "memaligns", "reallocs",
                         "frees", "left_out_failed"), 0)
    peak = calls = 0
    start = int(records[0][TIMES[records[0][0]]])
    for words in records:
        if words[0] in "89":
            continue
        time = int(words[TIMES[words[0]]]) - start
        if ends(calls, time):
            break
        if built is None and begins(calls, time):
            built = dict(live)
            peak = sum(built.values())
            out = dict.fromkeys(out, 0)
        calls += 1
        if words[0] == "0":
            if words[2] == "0x0":
                out["left_out_failed"] += 1
                continue
            live[words[2]] = int(words[1])
            kind = {"01": "callocs", "414020": "memaligns"}
            out[kind.get(words[-1], "mallocs")] += 1
        elif words[0] == "1":
            del live[words[1]]
            out["frees"] += 1
        else:
            del live[words[2]]
            live[words[3]] = int(words[1])
            out["reallocs"] += 1
        peak = max(peak, sum(live.values()))
    if built is None:
        built, peak = dict(live), sum(live.values())
        out = dict.fromkeys(out, 0)
    out["calls"] = sum(v for k, v in out.items() if k != "left_out_failed")
    out["begin_blocks"], out["begin_bytes"] = len(built), sum(built.values())
    out["end_blocks"], out["end_bytes"] = len(live), sum(live.values())
    out["peak_bytes"] = peak
    return out


def bound(rng, records):
    """A random bound: its text, and whether a call reaches it."""
    if rng.random() < 0.5:
        n = rng.randrange(len(records) + 5)
        return str(n), lambda calls, time: calls >= n
    us = rng.randrange(len(records) + 5)
    return f"{us}us", lambda calls, time: time >= us


def never(calls, time):
    return False


def run(arguments):
    done = subprocess.run([HATF, "replay", *arguments], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


for seed in range(ROUNDS):
    rng = random.Random(seed)
    records = make_trace(rng)
    with open("window.ascii", "w") as f:
        f.write("10 HATF ascii thread heap time attributes\n"
                "10 HATF 1.0\\x0aproducer=test\\x0aunit=us\\x0a\n")
        f.writelines(" ".join(words) + "\n" for words in records)
        events = sum(words[0] not in "89" for words in records)
        f.write(f"10 HATF end\\x0aevents={events}\\x0a"
                f"records={len(records) + 1}\\x0a"
                "complete=1\\x0aend=exit\\x0alost=0\\x0a\n")
    text, begins = bound(rng, records)
    to, ends = bound(rng, records)
    arguments = ["--from", text, "-a", "glibc", "-r", "1", "window.ascii"]
    if rng.random() < 0.5:
        arguments[:0] = ["--to", to]
    else:
        ends = never
    if rng.random() < 0.3:
        arguments[:0] = ["--threads", "1"]
    run(["--check", *arguments])
    got = json.loads(run(["--json", "--usable", "--latency", *arguments]))
    for key, value in count(records, begins, ends).items():
        assert got[key] == value, (seed, arguments, key, got[key], value)
