# SPDX-License-Identifier: MIT
"""python.py - mixed load: text, JSON, objects, sorting

With PYTHONMALLOC=malloc every object is a call of malloc.  The argument is the
number of rounds; 3 make about 12 million events.  A fraction below 1 makes one
round, smaller by that factor.
"""
import collections
import itertools
import json
import math
import random
import re
import sys

WORDS = 4000


def make_text(rng, count):
    words = [
        "".join(rng.choice("abcdefghijklmnopqrstuvwxyz")
                for _ in range(rng.randint(2, 11)))
        for _ in range(WORDS)
    ]
    weights = [1.0 / (i + 1) for i in range(WORDS)]
    sums = list(itertools.accumulate(weights))
    lines = []
    for _ in range(count):
        lines.append(" ".join(rng.choices(words, cum_weights=sums, k=9)))
    return "\n".join(lines)


def word_count(text):
    counts = collections.Counter()
    for line in text.split("\n"):
        for word in re.findall(r"[a-z]+", line):
            counts[word.capitalize()] += 1
    return counts.most_common(50)


class Node:
    __slots__ = ("key", "left", "right", "payload")

    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None
        self.payload = (key * 7919, str(key))


def build_tree(rng, count):
    root = Node(0.5)
    for _ in range(count):
        key = rng.random()
        node = root
        while True:
            side = "left" if key < node.key else "right"
            child = getattr(node, side)
            if child is None:
                setattr(node, side, Node(key))
                break
            node = child
    return root


def depth(node):
    if node is None:
        return 0
    return 1 + max(depth(node.left), depth(node.right))


def json_round_trip(rng, count):
    rows = [{"id": i, "name": "n%d" % i, "tags": ["a", "b", str(i)],
             "pos": {"x": rng.random(), "y": rng.random()}}
            for i in range(count)]
    back = json.loads(json.dumps(rows, indent=1))
    return sum(row["pos"]["x"] for row in back)


def sort_records(rng, count):
    rows = [(rng.randint(0, 999), "%08d" % rng.randint(0, 10**8))
            for _ in range(count)]
    rows.sort(key=lambda row: (row[1], row[0]))
    groups = collections.defaultdict(list)
    for number, text in rows:
        groups[number].append(text[::-1])
    return max(len(group) for group in groups.values())


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            cost = diagonal + (x != y)
            diagonal = row[j]
            if diagonal < cost:
                cost = diagonal + 1
            if row[j - 1] < cost:
                cost = row[j - 1] + 1
            row[j] = cost
    return row[-1]


def nearest_words(rng, text, count):
    words = sorted(set(text.split()))
    total = 0
    for _ in range(count):
        word = rng.choice(words)
        total += min(edit_distance(word, other)
                     for other in rng.sample(words, 40) if other != word)
    return total


def main():
    rng = random.Random(1)
    rounds = float(sys.argv[1])
    part = min(rounds, 1)
    text = make_text(rng, int(5000 * part))
    total = 0
    for _ in range(math.ceil(rounds)):
        total += word_count(text)[0][1]
        total += depth(build_tree(rng, int(9000 * part)))
        total += int(json_round_trip(rng, int(6000 * part)))
        total += sort_records(rng, int(20000 * part))
        total += nearest_words(rng, text, int(1000 * part))
    print(total)


main()
