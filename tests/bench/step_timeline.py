#!/usr/bin/env python3
"""Summarise a step's timeline (tests/bench/step_timeline.cpp): what ran when, and the chain that bounds the step.

    CUDA_INJECTION64_PATH=libstep_timeline.so FOXHUNT_TIMELINE=t.txt foxhunt-cli bench --device cuda --batch 256
    step_timeline.py t.txt [--all]

The chain is followed back from the last kernel: what ended last before a kernel began held it up. "gap" is the time
between the two, launch and memory fences of a node; "kernel" the time within.
"""

import argparse
import collections
import re


def short(name: str) -> str:
    name = re.sub(r"^void ", "", name)
    if name.startswith("_Z"):
        parts = re.findall(r"\d+([a-z][a-z0-9_]+)", name)
        name = max(parts, key=len) if parts else name
    return re.sub(r"[<(].*", "", name)[:48]


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("file")
    ap.add_argument("--all", action="store_true", help="every kernel, not only the chain")
    a = ap.parse_args()
    spans = []
    for line in open(a.file):
        start, end, stream, name = line.rstrip("\n").split(" ", 3)
        spans.append((float(start), float(end), int(stream), short(name)))
    end = max(s[1] for s in spans)
    chain, at = [], max(spans, key=lambda s: s[1])
    while at:
        chain.append(at)
        before = [s for s in spans if s[1] <= at[0] + 0.05 and s is not at and s[0] < at[0]]
        at = max(before, key=lambda s: s[1]) if before else None
    chain.reverse()
    busy = sum(s[1] - s[0] for s in chain)
    gaps = [b[0] - a_[1] for a_, b in zip(chain, chain[1:])]
    print(f"{len(spans)} kernels, {end:.1f} us from first to last; chain of {len(chain)}: "
          f"{busy:.1f} us in kernels, {sum(gaps):.1f} us between them")
    for i, s in enumerate(spans if a.all else chain):
        gap = f"{gaps[i - 1]:6.2f}" if not a.all and i else "      "
        print(f"{s[0]:9.2f} {gap} {s[1] - s[0]:8.2f}  {s[2]:6d}  {s[3]}")
    sums = collections.defaultdict(lambda: [0, 0.0])
    for s in chain:
        sums[s[3]][0] += 1
        sums[s[3]][1] += s[1] - s[0]
    print("\nby kernel, on the chain: count, us")
    for name, (count, us) in sorted(sums.items(), key=lambda x: -x[1][1]):
        print(f"{count:4d} {us:8.2f}  {name}")


if __name__ == "__main__":
    main()
