# SPDX-License-Identifier: MIT
"""Turn the raw figures of threads.sh into its tables and bars, in Markdown.

The argument is a file with a line for each run: round, variant, threads, at
once, pairs, wall ns and CPU ns a thread.
"""
import statistics
import sys

from table import at_most, head, row

BAR_WALL = 1.5


def read(path):
    """Return {load: {variant: [(wall, cpu), ...]}}, in order of rounds."""
    loads = {}
    with open(path) as file:
        for line in file:
            _, variant, threads, at_once, pairs, wall, cpu = line.split()
            figures = loads.setdefault((threads, at_once, pairs), {})
            figures.setdefault(variant, []).append((float(wall), float(cpu)))
    return loads


def ratios(figures, variant, which):
    return [own[which] / bare[which]
            for own, bare in zip(figures[variant], figures["bare"])]


def cell(values):
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def print_ratios(loads, which, what):
    variants = [name for name in next(iter(loads.values())) if name != "bare"]
    head(f"{what}: threads, at once, pairs", "bare, us a thread",
         *(f"{name}/bare" for name in variants))
    for load, figures in loads.items():
        bare = [figure[which] / 1000 for figure in figures["bare"]]
        row(", ".join(load), cell(bare),
            *(cell(ratios(figures, name, which)) for name in variants))


def main():
    loads = read(sys.argv[1])
    print_ratios(loads, 0, "wall time")
    print_ratios(loads, 1, "CPU time")
    print("\n### Bars\n")
    for load in loads:
        if load[0] == "2000" and load[2] == "10":
            at_most(BAR_WALL,
                    statistics.median(ratios(loads[load], "late", 0)),
                    f"wall time of 2000 short threads, {load[1]} at once, "
                    "recorded/bare")


main()
