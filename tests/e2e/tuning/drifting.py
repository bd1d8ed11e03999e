"""A benchmark in which the candidate is 10 % faster with the pinned config; another helps the baseline alone, by 20 %."""

import sys

from say import heard, say  # type: ignore[import-not-found]  # beside the copy in the repository

NOW, WIDE = 1_000_000, "2,2,2,2,4,4"
with open(sys.argv[1]) as artifact:
    CANDIDATE = "[" in artifact.read()


def time_of(size: str) -> int:
    config = size.partition("@")[2]
    base = NOW * 9 // 10 if CANDIDATE else NOW
    if config == "":
        return base
    return NOW * 8 // 10 if config == WIDE and not CANDIDATE else NOW * 12 // 10


calls: dict[str, int] = {}
for line in sys.stdin:
    request = heard(line)
    if request["do"] == "begin":
        say(event="ready", facts={"config": "any"})
    elif request["do"] == "time":
        size = request["size"]
        calls[size] = calls.get(size, 0) + 1
        base = time_of(size)
        ns = [base + base * (7 * calls[size] * (n + 3) % 13 - 6) // 5000 for n in range(request["iterations"])]
        say(event="sample", size=size, ns=ns, outside_ns=sum(ns) + 100)
    elif request["do"] == "check":
        say(event="checked")
    else:
        break
say(event="end", ok=True)
