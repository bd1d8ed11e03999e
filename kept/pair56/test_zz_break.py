"""Attacks. Run: .venv/bin/python -m pytest -q -s -p no:cacheprovider tests/adapters/steps/test_zz_break.py -k NAME"""
import os, time, signal, json, subprocess, sys, threading
from pathlib import Path
from textwrap import dedent
import pytest
from msgspec.structs import replace
from expctl.adapters.steps import pair as pair_module, worker_pool
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.protocol.model import Style, Environment
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Side
from expctl.launcher import containment
from expctl.launcher.capabilities import detect_capabilities
from tests.adapters.steps.test_runner import BENCHMARK, CHECKED, OK, SAY, WORKER, Measure, measure, runner
__all__ = ["measure", "runner"]

def order(monkeypatch, first):
    monkeypatch.setattr(pair_module.secrets, "choice", lambda options: first if isinstance(options, tuple) and first in options else options[0])

def no_groups(monkeypatch): monkeypatch.setattr(containment, "make_group", lambda _: None)
def no_pidns(monkeypatch):
    here = replace(detect_capabilities(), own_processes=False)
    monkeypatch.setattr(containment, "detect_capabilities", lambda: here)

MODES = {"full": (), "sigstop": (no_groups,), "groups, no pid ns": (no_pidns,), "sigstop, no pid ns": (no_groups, no_pidns)}
@pytest.fixture(params=MODES)
def mode(request, monkeypatch):
    for each in MODES[request.param]: each(monkeypatch)
    return request.param

def say_(what, got, t0): print(f"\n>>> {what}: {time.monotonic()-t0:.1f} s: {got.reason + ' fault=' + str(got.fault) if isinstance(got, Failed) else 'samples'}")

SIDE = "side = os.path.basename(sys.argv[1])\n"

def go(measure, what, begin="", respawn=2, **more):
    t0 = time.monotonic()
    got = measure(Style.FINE, "pass", OK, f"pass; {CHECKED}", before=SIDE + dedent(begin), respawn=respawn, **more)
    say_(what, got, t0)
    return got

@pytest.mark.parametrize("respawn", [1, 2])
@pytest.mark.parametrize("first", list(Side))
def test_fail_vs_slow(measure, monkeypatch, first, respawn):
    order(monkeypatch, first)
    go(measure, f"candidate exits at once, baseline takes 6 s; first={first} respawn={respawn}", "if side == 'candidate': print('boom'); sys.exit(3)\ntime.sleep(6)", respawn)

@pytest.mark.parametrize("respawn", [1, 2])
@pytest.mark.parametrize("first", list(Side))
def test_candidate_breaks_the_device(measure, monkeypatch, tmp_path, first, respawn):
    order(monkeypatch, first)
    broken = str(tmp_path / "device-broken")
    go(measure, f"candidate breaks the device, says so; first={first} respawn={respawn}", f"""
if side == 'candidate':
    time.sleep(0.5); open({broken!r}, 'w').close()
    sys.stdin.readline(); say(event='end', ok=False, reason='illegal address'); sys.exit(1)
for _ in range(15):
    time.sleep(0.1)
    if os.path.exists({broken!r}):
        sys.stdin.readline(); say(event='end', ok=False, fault=True, reason='device lost'); sys.exit(1)
""", respawn)

@pytest.mark.parametrize("respawn", [1, 2])
@pytest.mark.parametrize("first", list(Side))
def test_log_flood(measure, monkeypatch, first, respawn):
    order(monkeypatch, first)
    go(measure, f"candidate floods the log; first={first} respawn={respawn}", """
if side == 'candidate':
    while True: os.write(1, b'x' * 100 + b'\\n' + b'y' * (1 << 20))
time.sleep(3)
""", respawn)

@pytest.mark.parametrize("respawn", [1, 2])
@pytest.mark.parametrize("first", list(Side))
def test_log_quote(measure, monkeypatch, first, respawn):
    order(monkeypatch, first)
    go(measure, f"candidate dies silently, baseline chats; first={first} respawn={respawn}", """
if side == 'candidate': time.sleep(1); os._exit(3)
for _ in range(20): print('baseline: compiled graph ok', flush=True); time.sleep(.1)
""", respawn)

ORPHAN = """
def orphan(seconds, spin=False):
    r, w = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            os.close(int(os.environ['EXPCTL_RESULT_FD']))
            os.close(r); os.write(w, b'x'); os.close(w)
            time.sleep(seconds)
            os._exit(0)
        os._exit(0)
    os.wait(); os.close(w); os.read(r, 1)
"""
@pytest.mark.parametrize("respawn", [1, 2])
def test_transient_orphan(measure, monkeypatch, mode, respawn):
    order(monkeypatch, Side.BASELINE)
    go(measure, f"[{mode}] candidate has an orphan for 1.5 s while it gets ready, baseline has none; respawn={respawn}", ORPHAN + """
if side == 'candidate': time.sleep(.3); orphan(1.5); time.sleep(2.5)
else: time.sleep(1.)
""", respawn)

@pytest.mark.parametrize("respawn", [1, 2])
def test_lasting_orphan(measure, monkeypatch, mode, respawn):
    order(monkeypatch, Side.BASELINE)
    go(measure, f"[{mode}] candidate leaves an orphan; respawn={respawn}", ORPHAN + """
if side == 'candidate': time.sleep(.1); orphan(15); time.sleep(1.5)
else: time.sleep(.8)
""", respawn)

def test_where(measure, monkeypatch, mode, tmp_path):
    """children, grandchildren with own sessions, threads in all: which cores while timed?"""
    seen = tmp_path / "cores"
    order(monkeypatch, Side.BASELINE)
    before = SIDE + f"""
import threading
def spin_threads():
    def churn():
        while True:
            t = threading.Thread(target=time.sleep, args=(0.001,)); t.start(); t.join()
    for _ in range(4): threading.Thread(target=churn, daemon=True).start()
spin_threads()
pids = []
for depth in (1, 2, 3):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(int(os.environ['EXPCTL_RESULT_FD']))
        os.setsid(); me = os.getppid()
        kid = os.fork()
        if kid == 0: os.setsid(); spin_threads()
        os.write(w, b'x')
        while os.getppid() == me: time.sleep(0.01)
        os._exit(0)
    os.read(r, 1)
def cores():
    out = set()
    for p in os.listdir('/proc'):
        if p.isdigit():
            try:
                if b'EXPCTL' not in open('/proc/' + p + '/environ','rb').read(): continue
                if sys.argv[1].encode() not in open('/proc/' + p + '/cmdline','rb').read(): continue
                for t in os.listdir('/proc/' + p + '/task'):
                    out.add(str(sorted(os.sched_getaffinity(int(t)))))
            except OSError as e: pass
            except PermissionError: out.add('denied')
    return sorted(out)
def note(): open({str(seen)!r}, 'a').write(side + ' ' + str(cores()) + chr(10))
time.sleep(.3); note()
"""
    t0 = time.monotonic()
    got = measure(Style.FINE, "note()", OK, f"pass; {CHECKED}", before=before, respawn=2)
    say_(f"[{mode}] where", got, t0)
    from collections import Counter
    print(Counter(seen.read_text().splitlines()))

def test_join_fails(measure, monkeypatch, tmp_path):
    from expctl.launcher.control_group import ControlGroup
    def bad(self): raise OSError(1, "no")
    monkeypatch.setattr(ControlGroup, "join", bad)
    order(monkeypatch, Side.BASELINE)
    seen = tmp_path / "cores"
    before = SIDE + f"def note(): open({str(seen)!r}, 'a').write(side + str(os.sched_getaffinity(0)) + chr(10))\ntime.sleep(.3)\n"
    t0 = time.monotonic()
    got = measure(Style.FINE, "note()", OK, f"pass; {CHECKED}", before=before, respawn=2)
    say_("the child could not join its group", got, t0)
    print(set(seen.read_text().splitlines()))

@pytest.mark.parametrize("respawn", [1, 2])
@pytest.mark.parametrize("how", ["fails", "hangs"])
def test_limit(measure, monkeypatch, respawn, how):
    order(monkeypatch, Side.CANDIDATE)
    what = "if side == 'candidate': sys.exit(3)\ntime.sleep(60)" if how == "fails" else "time.sleep(60)"
    go(measure, f"limit 5 s; candidate (first) {how}, baseline hangs; respawn={respawn}", what, respawn, timeout_s=5)

@pytest.mark.parametrize("respawn", [1, 2])
def test_same_build_orphan(runner, monkeypatch, mode, respawn, tmp_path):
    """A/A: calibrate with one layout hands the same path to both sides: one room, one pid namespace. Each start forks a
    helper that stays, and has an orphan for 1 s (a shell's `tool &`); the one which is later by .5 s is the later one to end it."""
    before = ORPHAN + f"""
side = 'x'
try: os.mkdir({str(tmp_path / 'first')!r}); late = 0
except OSError: late = 1
r, w = os.pipe()
if os.fork() == 0:
    os.close(int(os.environ['EXPCTL_RESULT_FD'])); os.close(w); os.read(r, 1); os._exit(0)
if late: time.sleep(.5)
orphan(1.0); time.sleep(1.2)
"""
    program = SAY + before + WORKER.replace('{"baseline": 1000, "candidate": 2000}[side]', "1000").replace("TIME", "pass").replace("END", OK).replace("CHECK", CHECKED)
    bench = replace(BENCHMARK, argv=("{python}", "-c", program, "{artifact}"), style=Style.FINE, respawn=respawn)
    t0 = time.monotonic()
    got = runner.measure(bench, cwd=tmp_path, artifacts={s: (tmp_path / "same",) for s in Side}, round=0, progress=FakeProgress())
    say_(f"[{mode}] A/A of one build, transient orphans, respawn={respawn}", got, t0)

from tests.fakes.run import FakeProgress

@pytest.mark.parametrize("respawn", [1, 2])
@pytest.mark.parametrize("same", [False, True])
def test_first_runs(runner, tmp_path, respawn, same, monkeypatch):
    order(monkeypatch, Side.BASELINE)
    before = """
side = os.path.basename(sys.argv[1])
d = os.environ['TRITON_CACHE_DIR']; os.makedirs(d, exist_ok=True)
if os.path.exists(d + '/kept'): time.sleep(.3)
else: time.sleep({'baseline': 1.0, 'candidate': 2.0}.get(side, 1.0)); open(d + '/kept', 'w').close()
"""
    program = SAY + before + WORKER.replace('{"baseline": 1000, "candidate": 2000}[side]', "1000").replace("TIME", "pass").replace("END", OK).replace("CHECK", CHECKED)
    bench = replace(BENCHMARK, argv=("{python}", "-c", program, "{artifact}"), style=Style.FINE, respawn=respawn)
    art = {s: (tmp_path / ("same" if same else s.value),) for s in Side}
    t0 = time.monotonic()
    got = runner.measure(bench, cwd=tmp_path, artifacts=art, round=0, progress=FakeProgress())
    say_(f"first runs same={same} respawn={respawn}", got, t0)
    print(runner.take_first_runs())

@pytest.mark.parametrize("first", list(Side))
def test_omp(measure, monkeypatch, tmp_path, first):
    """A library that binds its threads where it was loaded (OMP_PROC_BIND, as numpy/torch's OpenMP do) undoes the move."""
    order(monkeypatch, first)
    made = containment.call_filter  # the filter as it is beside a GPU: cores are not filtered (docs/WALLS.md)
    monkeypatch.setattr(containment, "call_filter", lambda counters, gpu: made(counters=counters, gpu=True))
    lib = tmp_path / "libomp_t.so"
    src = tmp_path / "t.c"
    src.write_text("""#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
int where(char *out, int n) { int at = 0;
 #pragma omp parallel num_threads(2)
 { cpu_set_t s; CPU_ZERO(&s); sched_getaffinity(0, sizeof s, &s); char b[64]; int k=0;
   for (int i=0;i<64;i++) if (CPU_ISSET(i,&s)) k+=snprintf(b+k,sizeof b-k,"%d,",i);
   #pragma omp critical
   at += snprintf(out+at, n-at, "t%d on %s(in %d) ", omp_get_thread_num(), b, sched_getcpu()); }
 return at; }
""")
    subprocess.run(["gcc", "-O1", "-fopenmp", "-shared", "-fPIC", str(src), "-o", str(lib)], check=True)
    seen = tmp_path / "seen"
    before = SIDE + f"""
os.environ['OMP_PROC_BIND'] = 'true'
import ctypes
lib = ctypes.CDLL({str(lib)!r})
def note():
    b = ctypes.create_string_buffer(500); lib.where(b, 500)
    open({str(seen)!r}, 'a').write(side + ': ' + b.value.decode() + chr(10))
"""
    t0 = time.monotonic()
    got = measure(Style.FINE, "note()", OK, f"pass; {CHECKED}", before=before, respawn=2)
    say_(f"OpenMP bound, first used while timed; first={first.value}", got, t0)
    print("\n".join(sorted(set(seen.read_text().splitlines()))))

def test_one_core(measure, monkeypatch):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {1})
    try: go(measure, "one core, respawn 2", "time.sleep(.5)")
    finally: os.sched_setaffinity(0, before)

def test_cards(monkeypatch):
    from expctl.adapters.machine.measuring_locks import MeasuringLocks
    from expctl.adapters.steps.worker_pool import core_beside
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    def of(index):
        locks = MeasuringLocks.__new__(MeasuringLocks)
        locks._card = type("Card", (), {"index": index})
        return locks.core()
    for card in range(4): print(f"card {card}: timed on core {of(card)}, its second worker gets ready on core {core_beside(of(card), Path('/nonexistent'))}")

def test_move_refused(measure, monkeypatch, tmp_path):
    """The kernel refuses the move (EINVAL: the core went offline, or its cpuset was changed, between start and move)."""
    order(monkeypatch, Side.BASELINE)
    seen = tmp_path / "cores"
    before = SIDE + f"def note(): open({str(seen)!r}, 'a').write(side + str(os.sched_getaffinity(0)) + chr(10))\ntime.sleep(.3)\n"
    real = os.sched_setaffinity
    me = os.getpid()
    def refuse(pid, cores):
        if pid and os.getpid() == me: raise OSError(22, "Invalid argument")
        real(pid, cores)
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    got = measure(Style.FINE, "note()", OK, f"pass; {CHECKED}", before=before, respawn=2)
    say_("move refused by the kernel", got, time.monotonic()); print(set(seen.read_text().splitlines()))

def test_ready_at_once_times_itself(measure, monkeypatch, tmp_path):
    """A worker that chooses a config by timing while it gets ready: CPU time of the same work, alone or beside the other side's."""
    pass

def test_survivors(measure, monkeypatch, mode, tmp_path):
    """One fails while the other, with children in sessions of their own, gets ready: who lives afterwards?"""
    order(monkeypatch, Side.CANDIDATE)
    from expctl.launcher.control_group import groups_of
    mark = f"survivor-{os.getpid()}-{mode.replace(' ', '')}"
    go(measure, f"[{mode}] candidate fails at .5 s, baseline has children, 2 s", f"""
MARK = {mark!r}
if os.fork() == 0: os.setsid(); time.sleep(100); os._exit(0)
if side == 'candidate': time.sleep(.5); sys.exit(3)
time.sleep(2)
""")
    time.sleep(.3)
    left = []
    for p in os.listdir("/proc"):
        if p.isdigit():
            try: 
                if mark.encode() in open(f"/proc/{p}/cmdline", "rb").read(): left.append(p)
            except OSError: pass
    print("left:", left, "groups:", list(groups_of("m")), "threads:", [t.name for t in threading.enumerate()])

def test_numa(tmp_path, monkeypatch):
    """One package of two NUMA nodes (sub-NUMA clustering, NPS2), numbered in turns: node0 0,2,4,6, node1 1,3,5,7."""
    from expctl.adapters.steps.worker_pool import core_beside
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    for c in range(8):
        t = tmp_path / f"cpu{c}" / "topology"; t.mkdir(parents=True); (t / "physical_package_id").write_text("0\n"); (tmp_path / f"cpu{c}" / f"node{c % 2}").mkdir()
    print("\n>>> core 7 is of node 1; beside it:", b := core_beside(7, tmp_path), "of node", b % 2)
    t = tmp_path / "cpu7" / "topology" / "physical_package_id"; t.unlink()
    print(">>> package of 7 not readable:", core_beside(7, tmp_path))
