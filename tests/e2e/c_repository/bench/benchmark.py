import json
import random
import sys
import time

from load import load
from say import say

total = load(sys.argv[1])
values, wanted, got = {}, {}, set()
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "begin":
        draw = random.Random(request["seed"])
        for size in request["sizes"]:
            values[size] = [draw.randrange(1000) for _ in range(int(size.removeprefix("n=")))]
            wanted[size] = sum(v * v for v in values[size])
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
