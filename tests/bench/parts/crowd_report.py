# SPDX-License-Identifier: MIT
"""Turn the raw figures of crowd.sh into its table and bars, in Markdown.

The argument is a file with a line for each run: round, variant, load, and
operations a microsecond.
"""
import statistics
import sys

from table import head, row

BARS = {"own-2": 0.40, "own-8": 0.40, "own-64": 0.40, "larson-2": 0.50,
        "passed-2": 0.50, "passed-16": 0.50}


def read(path):
    """Return {load: {variant: [figure, ...]}}, in order of rounds."""
    loads = {}
    with open(path) as file:
        for line in file:
            _, variant, load, figure = line.split()
            loads.setdefault(load, {}).setdefault(variant, []).append(
                float(figure))
    return loads


def kept(figures, variant):
    return [own / bare
            for own, bare in zip(figures[variant], figures["bare"])]


def cell(values):
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def main():
    loads = read(sys.argv[1])
    variants = [name for name in next(iter(loads.values())) if name != "bare"]
    head("throughput kept of bare: load, threads", "bare, operations/us",
         *variants)
    for load, figures in loads.items():
        row(load, cell(figures["bare"]),
            *(cell(kept(figures, name)) for name in variants))
    print("\n### Bars\n")
    for load, figures in loads.items():
        value = statistics.median(kept(figures, "recorded"))
        word = "PASS" if value >= BARS[load] else "MISS"
        print(f"- {word}: {load} keeps {value:.2f}, at least {BARS[load]:.2f}")


main()
