# SPDX-License-Identifier: MIT
"""Turn the raw figures of capture.sh into its report, in Markdown.

The argument is a directory with raw.tsv, the 'hatf info --json' objects that
raw.tsv names, and a description of the machine.  The bars are the project's
own goals: a missed one is reported, but is no error.
"""
import json
import statistics
import sys

from table import at_least, at_most, head, row

BAR_LTTNG = 0.15
BAR_HEAPTRACK = 0.10
BAR_STACKS_HEAPTRACK = 0.15
BAR_STACKS_UNWIND = 0.25
BAR_KEPT = 0.90
BAR_DORMANT = 1.01
BAR_HATF_BYTES = 6.8
BAR_FILE_BYTES = 2.0
BAR_MEMORY_MIB = 16
BAR_MEMORY_THREAD_MIB = 1
# The programs whose added time the bars compare with that of the peers.
COMPARED = ("python3", "perl", "sqlite3", "cc1")
PEERS = ("lttng", "heaptrack")
TITLES = {"bare": "bare", "ours": "ours", "dormant": "dormant",
          "clock-off": "clock off", "clock-coarse": "clock coarse",
          "clock-us": "clock us", "clock-ns": "clock ns",
          "plain": "not compressed", "stacks": "with stacks",
          "forward": "forwards", "unwind": "unw_backtrace",
          "lttng": "LTTng", "heaptrack": "heaptrack"}
# These have a table of their own, with 'ours' and 'dormant' again.
VARIANTS = ("clock-off", "clock-coarse", "clock-us", "clock-ns", "plain")
# The cost of call stacks has a table of its own, too.
STACKS = ("stacks", "forward", "unwind")
SETTINGS = {"ours": "default"} | {t: TITLES[t]
                                  for t in VARIANTS + ("dormant",)}


class Run:
    """One line of raw.tsv."""

    def __init__(self, directory, line):
        (self.program, self.tool, _, wall, cpu, rss,
         more) = line.rstrip("\n").split("\t")
        self.wall_ns = float(wall)
        self.cpu_ns = float(cpu)
        self.peak_mib = float(rss) / 1024
        self.more = dict(word.split("=", 1) for word in more.split())
        self.daemon_ns = float(self.more.get("daemon_ns", 0))
        self.requests = {}
        if "requests" in self.more:
            self.requests = {name: float(ns) for name, ns in (
                item.split("=") for item in self.more["requests"].split(","))}
        self.info = {}
        if "info" in self.more:
            with open(f"{directory}/{self.more['info']}") as file:
                self.info = json.loads(file.readline())

    def time_ratio(self, bare):
        """The ratio of the times; for requests, the mean over their kinds."""
        if not self.requests:
            return self.wall_ns / bare.wall_ns
        return statistics.mean(self.requests[name] / bare.requests[name]
                               for name in bare.requests)


def median(values):
    return statistics.median(list(values))


class Results:
    """All runs, by program and tool, in the order of the file."""

    def __init__(self, directory):
        self.runs = {}
        with open(f"{directory}/raw.tsv") as file:
            for line in file:
                run = Run(directory, line)
                self.runs.setdefault((run.program, run.tool), []).append(run)
        self.programs = list(dict.fromkeys(p for p, _ in self.runs))
        present = {tool for _, tool in self.runs}
        self.all_tools = [t for t in TITLES if t in present]
        self.tools = [t for t in self.all_tools if t not in VARIANTS + STACKS]
        self.settings = [t for t in SETTINGS if t in present]

    def of(self, program, tool):
        return self.runs.get((program, tool), [])

    def median(self, program, tool, key):
        return median(key(run) for run in self.of(program, tool))

    def times(self, program, tool):
        """Times by kind of request, or the wall time, with the key ""."""
        runs = self.of(program, tool)
        if not runs[0].requests:
            return {"": median(run.wall_ns for run in runs)}
        return {name: median(run.requests[name] for run in runs)
                for name in runs[0].requests}

    def wall_ratio(self, program, tool):
        """Ratio to bare within each round: a slow minute slows both."""
        pairs = zip(self.of(program, tool), self.of(program, "bare"))
        return median(traced.time_ratio(bare) for traced, bare in pairs)

    def added(self, program, tool):
        return self.wall_ratio(program, tool) - 1

    def cpu_ratio(self, program, tool):
        return (self.median(program, tool, lambda run: run.cpu_ns)
                / self.median(program, "bare", lambda run: run.cpu_ns))

    def kept(self, program, request):
        """The fraction of bare's requests per second under ours."""
        pairs = zip(self.of(program, "ours"), self.of(program, "bare"))
        return median(bare.requests[request] / traced.requests[request]
                      for traced, bare in pairs)

    def spread(self, program, tool):
        """(max - min) / median of the time; of requests, the worst kind."""
        runs = self.of(program, tool)
        if runs[0].requests:
            columns = [[run.requests[name] for run in runs]
                       for name in runs[0].requests]
        else:
            columns = [[run.wall_ns for run in runs]]
        return max((max(c) - min(c)) / median(c) for c in columns)

    def info(self, program, key):
        return self.median(program, "ours", lambda run: float(run.info[key]))


def print_wall(res):
    traced = [t for t in res.tools if t != "bare"]
    cells = ["wall", "bare"] + [TITLES[t] for t in traced]
    cells += ["added: " + TITLES[t] for t in traced]
    if "ours" in traced:
        cells += ["ours/" + TITLES[t] for t in PEERS if t in traced]
    cells += ["spread: " + TITLES[t] for t in res.tools]
    head(*cells)
    for program in res.programs:
        bare = res.times(program, "bare")
        if "" in bare:
            cells = [program, f"{bare[''] / 1e9:.2f} s"]
        else:
            cells = [program,
                     f"{statistics.mean(bare.values()):.0f} ns/request"]
        cells += [f"{res.wall_ratio(program, t):.3f}" for t in traced]
        cells += [f"{100 * res.added(program, t):+.1f} %" for t in traced]
        if "ours" in traced:
            cells += [f"{ratio(res, program, t):.2f}"
                      for t in PEERS if t in traced]
        cells += [f"{100 * res.spread(program, t):.0f} %" for t in res.tools]
        row(*cells)


def ratio(res, program, peer):
    return res.added(program, "ours") / res.added(program, peer)


def print_settings(res):
    head("settings of the recorder: added wall time (and CPU ratio)",
         *res.programs)
    for tool in res.settings:
        row(SETTINGS[tool], *(f"{100 * res.added(p, tool):+.1f} %"
                              f" ({res.cpu_ratio(p, tool):.3f})"
                              for p in res.programs))


def stacks_ratio(res, program, peer):
    """The recorder with stacks beside a peer; both add to the bare program."""
    return res.added(program, "stacks") / res.added(program, peer)


def unwind_ratio(res, program):
    """What stacks add to our recorder, and unw_backtrace to a forwarder."""
    ours = res.added(program, "stacks") - res.added(program, "ours")
    return ours / (res.added(program, "unwind")
                   - res.added(program, "forward"))


def has_all(res, *tools):
    return all(t in res.all_tools for t in tools)


def print_stacks(res):
    if "stacks" not in res.all_tools:
        return
    tools = [t for t in ("ours",) + STACKS + PEERS if t in res.all_tools]
    cells = ["call stacks: added wall time"] + [TITLES[t] for t in tools]
    cells += ["with stacks/" + TITLES[t] for t in PEERS if t in tools]
    has_unwind = has_all(res, "ours", *STACKS)
    if has_unwind:
        cells.append("stacks alone/unw_backtrace alone")
    cells += ["spread: " + TITLES[t] for t in tools]
    head(*cells)
    for program in res.programs:
        cells = [program]
        cells += [f"{100 * res.added(program, t):+.1f} %" for t in tools]
        cells += [f"{stacks_ratio(res, program, t):.2f}"
                  for t in PEERS if t in tools]
        if has_unwind:
            cells.append(f"{unwind_ratio(res, program):.2f}")
        cells += [f"{100 * res.spread(program, t):.0f} %" for t in tools]
        row(*cells)


def print_stack_bars(res):
    if has_all(res, "stacks", "heaptrack"):
        at_most(BAR_STACKS_HEAPTRACK,
                statistics.mean(stacks_ratio(res, p, "heaptrack")
                                for p in res.programs),
                "added time, with stacks/heaptrack, average")
    if has_all(res, "ours", *STACKS):
        at_most(BAR_STACKS_UNWIND,
                statistics.mean(unwind_ratio(res, p) for p in res.programs),
                "added time, stacks/unw_backtrace, average")


def print_requests(res):
    for program in res.programs:
        bare = res.times(program, "bare")
        if "" in bare:
            continue
        head(f"{program}: ns a request", *bare)
        for tool in res.all_tools:
            times = res.times(program, tool)
            row(TITLES[tool], *(f"{times[n]:.0f} ({times[n] / bare[n]:.2f})"
                                for n in bare))


def print_cpu(res):
    traced = [t for t in res.tools if t != "bare"]
    cells = ["CPU, user + system", "bare"] + [TITLES[t] for t in traced]
    if "lttng" in traced:
        cells.append("LTTng with its daemons")
    head(*cells)
    for program in res.programs:
        bare = res.median(program, "bare", lambda run: run.cpu_ns)
        cells = [program, f"{bare / 1e9:.2f} s"]
        cells += [f"{res.cpu_ratio(program, t):.3f}" for t in traced]
        if "lttng" in traced:
            total = res.median(program, "lttng",
                               lambda run: run.cpu_ns + run.daemon_ns)
            cells.append(f"{total / bare:.3f}")
        row(*cells)


def added_mib(res, program, tool):
    return (res.median(program, tool, lambda run: run.peak_mib)
            - res.median(program, "bare", lambda run: run.peak_mib))


def memory_bar(res, program):
    return (BAR_MEMORY_MIB
            + BAR_MEMORY_THREAD_MIB * res.info(program, "threads"))


def print_memory(res):
    # Without heaptrack: its script hides the peak of the program.
    tools = [t for t in res.tools if t in ("ours", "lttng")]
    head("peak memory, MiB", "bare", *(f"{TITLES[t]}, added" for t in tools),
         "bar")
    for program in res.programs:
        bare = res.median(program, "bare", lambda run: run.peak_mib)
        cells = [program, f"{bare:.1f}"]
        cells += [f"{added_mib(res, program, t):.1f}" for t in tools]
        cells.append(f"{memory_bar(res, program):.0f}"
                     if "ours" in tools else "")
        row(*cells)


def per_event(res, program, key):
    return res.info(program, key) / res.info(program, "events")


def print_size(res):
    peers = [t for t in PEERS if t in res.tools]
    head("bytes an event", "events", "a second, bare", "HATF", "HATF gzip'ed",
         *(TITLES[t] for t in peers))
    for program in res.programs:
        events = res.info(program, "events")
        cpu = res.median(program, "bare", lambda run: run.cpu_ns)
        cells = [program, f"{events / 1e6:.2f} M",
                 f"{events / cpu * 1e3:.1f} M",
                 f"{per_event(res, program, 'hatf_bytes'):.2f}",
                 f"{per_event(res, program, 'file_bytes'):.2f}"]
        for tool in peers:
            size = res.median(program, tool,
                              lambda run: float(run.more["bytes"]))
            cells.append(f"{size / events:.2f}")
        row(*cells)


def print_time_bars(res):
    compared = [p for p in res.programs if p in COMPARED]
    for tool, bar in (("lttng", BAR_LTTNG), ("heaptrack", BAR_HEAPTRACK)):
        if tool in res.tools and compared:
            at_most(bar, statistics.mean(ratio(res, p, tool)
                                         for p in compared),
                    f"added time, ours/{TITLES[tool]}, average of"
                    f" {', '.join(compared)}")
    if "redis" in res.programs:
        for request in ("SET", "GET"):
            at_least(BAR_KEPT, res.kept("redis", request),
                     f"redis, throughput of {request} that is kept")


def print_size_bars(res):
    mean = statistics.mean
    at_most(BAR_HATF_BYTES,
            mean(per_event(res, p, "hatf_bytes") for p in res.programs),
            "bytes of HATF an event, average")
    at_most(BAR_FILE_BYTES,
            mean(per_event(res, p, "file_bytes") for p in res.programs),
            "bytes an event gzip'ed, average")
    at_most(0, max(added_mib(res, p, "ours") - memory_bar(res, p)
                   for p in res.programs),
            f"added memory beyond {BAR_MEMORY_MIB} MiB and"
            f" {BAR_MEMORY_THREAD_MIB} MiB a thread, worst, MiB")


def print_bars(res):
    if "ours" not in res.tools and "dormant" not in res.tools:
        return
    print("\n### Bars\n")
    if "ours" in res.tools:
        print_time_bars(res)
        print_stack_bars(res)
        print_size_bars(res)
    if "dormant" in res.tools:
        at_most(BAR_DORMANT,
                statistics.mean(res.wall_ratio(p, "dormant")
                                for p in res.programs),
                "wall, dormant/bare, average")


def print_honesty(res):
    """Print lost events: the time of a lossy tracer does not count."""
    print()
    for program in res.programs:
        for tool in ("ours", "stacks") + VARIANTS:
            for run in res.of(program, tool):
                if not run.info["complete"] or run.info["lost"] != 0:
                    print(f"- MISS: {program}, {TITLES[tool]}: the trace is"
                          f" incomplete, or lost {run.info['lost']} events")
        for run in res.of(program, "lttng"):
            if run.more["lost"] != "0":
                print(f"- MISS: {program}: LTTng lost {run.more['lost']}"
                      " events: its time does not count")


def main():
    directory = sys.argv[1]
    res = Results(directory)
    print("## What recording costs\n")
    with open(f"{directory}/machine") as file:
        print(file.read(), end="")
    print_wall(res)
    if res.settings:
        print_settings(res)
    print_stacks(res)
    print_requests(res)
    print_cpu(res)
    if "ours" in res.tools:
        print_memory(res)
        print_size(res)
    print_bars(res)
    print_honesty(res)


main()
