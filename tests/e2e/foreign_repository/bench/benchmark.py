import sys
import time

from load import load
from say import heard, say

total = load(sys.argv[1])
values, wanted, got = {}, {}, set()
for line in sys.stdin:
    request = heard(line)
    if request["do"] == "begin":
        for size in request["sizes"]:
            count = int(size.removeprefix("n=")) // 4  # n is in bytes
            values[size] = [(request["seed"] + 7919 * n) % 1009 for n in range(count)]
            wanted[size] = sum([v * v for v in values[size]])
            total(values[size])
        say(event="ready")
    elif request["do"] == "time":
        size, ns = request["size"], []
        for _ in range(request["iterations"]):
            start = time.monotonic_ns()
            answer = total(values[size])
            ns.append(time.monotonic_ns() - start)
            got.add(answer == wanted[size])
        say(event="sample", size=size, ns=ns)
    else:
        break
say(event="end", ok=got == {True}, reason="a timed output was wrong")
