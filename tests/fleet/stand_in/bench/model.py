"""The whole harness of the fleet's stand-in: model.py test|benchmark ARTIFACT. The artifact is a list of knobs; one iteration
takes 1 ms and what each knob wastes, and 150 us more while two knobs are at 0 that don't go together (src/knobs: `apart`).
A knob at nan fails the test. On the device of a line `unlike DEVICE KNOB`, that knob wastes 300 us more at 0. Times are told,
not spent; a request sleeps, so that two cores are enough for a fleet.
"""

import json
import os
import sys
import time

SLEEP_S = 0.02
OUT = int(os.environ.get("EXPCTL_RESULT_FD", "1"))


def say(**line):
    os.write(OUT, (json.dumps(line) + "\n").encode())


def microseconds(file):
    with open(file) as lines:
        words = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    knobs = {name: float(value) for kind, name, value in words if kind == "knob"}
    pairs = [(one, other) for kind, one, other in words if kind == "apart"]
    here = os.getcwd().split("/")
    unlike = [knob for kind, device, knob in words if kind == "unlike" and device in here]
    wasted = 300 * sum(knobs[knob] == 0 for knob in unlike)
    return wasted + 1000 + sum(knobs.values()) + 150 * sum(knobs[one] == knobs[other] == 0 for one, other in pairs)


us = microseconds(sys.argv[2])
if sys.argv[1] == "test":
    say(event="case", name="one", ok=us == us, facts={})
    say(event="end", ok=us == us)
    sys.exit()
jitter = 1
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "begin":
        say(event="ready")
    elif request["do"] == "time":
        time.sleep(SLEEP_S)
        ns = []
        for _ in range(request["iterations"]):
            jitter = (jitter * 1103515245 + 12345) % 2**31
            ns.append(int(1000 * us * (1 + (jitter >> 8) % 1000 / 500000)))
        say(event="sample", size=request["size"], ns=ns, outside_ns=sum(ns) + 1000)
    else:
        break
say(event="end", ok=True)
