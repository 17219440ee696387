# SPDX-License-Identifier: MIT
"""Tables in Markdown, and bars, for the reports of the benchmarks."""


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def head(*cells):
    print()
    row(*cells)
    row(*(["---"] + ["---:"] * (len(cells) - 1)))


def at_most(bar, value, text):
    verdict(value <= bar, value, f"at most {bar:g}", text)


def at_least(bar, value, text):
    verdict(value >= bar, value, f"at least {bar:g}", text)


def verdict(passed, value, bar, text):
    print(f"- {'PASS' if passed else 'MISS'}: {text}: {value:.3f}"
          f" (bar: {bar})")
