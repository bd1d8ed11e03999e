"""Two runs on one host with `gate: cards: own`: card 1's pair is timed while card 0's pair gets ready. What a request costs."""
import os, sys, time, threading, tempfile, subprocess, statistics
from pathlib import Path
sys.path.insert(0, "/tmp/w/rev")
from msgspec.structs import replace
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.protocol.model import Style, Environment
from expctl.domain.verdict.samples import Side
from tests.adapters.steps.test_runner import BENCHMARK, CHECKED, OK, SAY, WORKER
from tests.fakes.run import FakeProgress
def program(before, ns): 
    return SAY + before + WORKER.replace('[{"baseline": 1000, "candidate": 2000}[side]] * n', ns).replace("TIME", "pass").replace("END", OK).replace("CHECK", CHECKED)
def measure(core, prog, respawn, quads):
    t = Path(tempfile.mkdtemp())
    r = StepRunner(environment=Environment(writable=(str(t),)), scratch=t/"s", mark="m", experiment="P1", core=lambda: core)
    b = replace(BENCHMARK, argv=("{python}", "-c", prog, "{artifact}"), style=Style.FINE, respawn=respawn, quads=quads)
    got = r.measure(b, cwd=t, artifacts={s: (t/s.value,) for s in Side}, round=0, progress=FakeProgress())
    r.close(); return got
if sys.argv[1] == "ready":   # card 0: timed core 1; computes for 6 s while it gets ready
    measure(1, program("t=time.monotonic()\nwhile time.monotonic()-t<9: pass\n", "[1000]*n"), int(sys.argv[2]), 1)
else:                        # card 1: timed core 0 (= cores[-2] of two)
    work = "[(lambda a: (sum(range(1500000)), time.monotonic_ns()-a)[1])(time.monotonic_ns()) for _ in range(n)]"
    for respawn in (1, 2):
        p = subprocess.Popen([sys.executable, __file__, "ready", str(respawn)]); time.sleep(1.5)
        got = measure(0, program("", work), 1, 10)
        for s in Side: print(f"card 0 gets ready with respawn {respawn}: card 1 {s}: median {statistics.median(n for g in got if g.side is s for n in g.ns)/1e6:.2f} ms, mean {statistics.mean(n for g in got if g.side is s for n in g.ns)/1e6:.2f} ms")
        p.wait()
