"""Sum of squares by a generator, and the sum of the values alone, beside the build: what a `rivals` step starts.

`script.py BUILD OUT [absent]`; with `absent` it fails as a script does whose package is missing.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path


def say(**line: object) -> None:
    os.write(int(os.environ["EXPCTL_RESULT_FD"]), (json.dumps(line) + "\n").encode())


def ns_of(call: Callable[[], object]) -> int:
    begin = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - begin


def main() -> int:
    build, out, *mode = sys.argv[1:]
    if mode:
        say(event="end", ok=False, fault=True, reason="numpy is not installed here: pip install numpy")
        return 2
    names: dict[str, Callable[[list[int]], int]] = {}
    exec(Path(build).read_text(), names)
    values = list(range(2000))
    ways: dict[str, tuple[str, Callable[[], object]]] = {
        "ours": ("ours", lambda: names["total"](values)),
        "a generator": ("rival", lambda: sum(value * value for value in values)),
        "the values alone": ("wall", lambda: sum(values)),
    }
    kernels = [{"name": "sum", "calls": 9, "mean_ns": 70}]
    entries: list[dict[str, object]] = [
        {"name": name, "role": role, "ns": [ns_of(way) for _ in range(9)], "listing": {"products": 9, "kernels": kernels}}
        for name, (role, way) in ways.items()
    ]
    entries.append({"name": "numpy", "role": "rival", "absent": "no numpy here"})
    sizes = [{"name": "n=2000", "flop": 4000, "entries": entries}]
    Path(out, "rivals.json").write_text(json.dumps({"environment": {"torch": "none"}, "sizes": sizes}))
    say(event="end", ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
