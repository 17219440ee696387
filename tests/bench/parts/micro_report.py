# SPDX-License-Identifier: MIT
"""Turn the raw figures of micro.sh into its tables and bars, in Markdown.

The argument is a file with a line for each figure: round, variant, table,
work, threads, ns an event.
"""
import statistics
import sys

from table import at_least, at_most, head, row

BAR_ADDED_NS = 3
BAR_KEPT = 0.35


class Results:
    """ns[table][column][variant] are the figures, in the order of rounds."""

    def __init__(self, path):
        self.ns = {}
        variants = []
        with open(path) as file:
            for line in file:
                _, variant, table, work, threads, ns = line.split()
                plural = "" if threads == "1" else "s"
                column = f"{work}, {threads} thread{plural}"
                figures = self.ns.setdefault(table, {}).setdefault(column, {})
                figures.setdefault(variant, []).append(float(ns))
                variants.append(variant)
        self.variants = list(dict.fromkeys(variants))

    def beside_bare(self, table, column, variant, compare):
        """Apply compare to each round's figure and its bare one."""
        figures = self.ns[table][column]
        return [compare(ns, bare)
                for ns, bare in zip(figures[variant], figures["bare"])]


def cell(values, digits):
    if not values:
        return ""
    middle, low, high = statistics.median(values), min(values), max(values)
    return (f"{middle:.{digits}f}"
            f" ({low:.{digits}f}–{high:.{digits}f})")


def print_ns(res, table, title):
    columns = res.ns[table]
    head(f"{title}: ns an event, median (range)", *columns)
    for variant in res.variants:
        if any(variant in figures for figures in columns.values()):
            row(variant, *(cell(figures.get(variant), 1)
                           for figures in columns.values()))


def kept(res, column, variant):
    return res.beside_bare("saturated", column, variant,
                           lambda ns, bare: bare / ns)


def print_saturated(res):
    for column, figures in res.ns["saturated"].items():
        head(f"saturated: {column}", "ns an event, median (range)",
             "throughput kept of bare")
        for variant in res.variants:
            row(variant, cell(figures[variant], 1),
                cell(kept(res, column, variant), 3))


def print_bars(res):
    print("\n### Bars\n")
    added = res.beside_bare("paced", "pairs, 1 thread", "coarse",
                            lambda ns, bare: ns - bare)
    at_most(BAR_ADDED_NS, statistics.median(added),
            "paced pairs, 1 thread, ns added with the clock coarse")
    for column in res.ns["saturated"]:
        at_least(BAR_KEPT, statistics.median(kept(res, column, "auto")),
                 f"saturated, {column}, throughput kept with the clock auto")


def main():
    res = Results(sys.argv[1])
    print_ns(res, "paced", "paced")
    print_ns(res, "full", "all out")
    print_saturated(res)
    if "auto" in res.variants:
        print_bars(res)


main()
