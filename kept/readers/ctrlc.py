"""Usage: ctrlc.py RESPAWN MODE TIMEOUT_S: measure a pair whose workers hang while they get ready."""
import sys, os, time, signal, tempfile
from pathlib import Path
sys.path.insert(0, "/tmp/w/rev")
from msgspec.structs import replace
from expctl.adapters.machine.signals import Interruption
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.protocol.model import Style, Environment
from expctl.domain.verdict.samples import Side
from expctl.domain.errors import Interrupted
from tests.adapters.steps.test_runner import BENCHMARK, CHECKED, OK, SAY, WORKER
from tests.fakes.run import FakeProgress
t = Path(tempfile.mkdtemp())
print("T", t, flush=True)
if "nogroup" in sys.argv[2]:
    from expctl.launcher import containment
    containment.make_group = lambda _: None
if "nopid" in sys.argv[2]:
    from expctl.launcher import containment
    from expctl.launcher.capabilities import detect_capabilities
    here = replace(detect_capabilities(), own_processes=False)
    containment.detect_capabilities = lambda: here
runner = StepRunner(environment=Environment(writable=(str(t),)), scratch=t/"scratch", mark="m", experiment="P1")
before = f"open({str(t)!r} + '/' + os.path.basename(sys.argv[1]), 'w').close()\nMARK='ctrlc-{os.getpid()}'\nif os.fork() == 0:\n    os.setsid(); time.sleep(300); os._exit(0)\ntime.sleep({sys.argv[3]})\n"
program = SAY + before + WORKER.replace("TIME", "pass").replace("END", OK).replace("CHECK", CHECKED)
bench = replace(BENCHMARK, argv=("{python}", "-c", program, "{artifact}"), style=Style.FINE, respawn=int(sys.argv[1]), timeout_s=float(sys.argv[4]))
t0 = time.monotonic()
with Interruption():
    try:
        print(runner.measure(bench, cwd=t, artifacts={s: (t/s.value,) for s in Side}, round=0, progress=FakeProgress()), flush=True)
    except BaseException as e:
        print(f"raised {e!r} after {time.monotonic()-t0:.1f}", flush=True)
runner.close()
print(f"closed after {time.monotonic()-t0:.1f}", flush=True)
