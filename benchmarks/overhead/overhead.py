"""What gate, journal and containment cost beyond the steps themselves.

python -m benchmarks.overhead.overhead [--repeats 9] [--out benchmarks/overhead/overhead.json]

Three figures, each a median: what a whole experiment (a KEEP on the stand-in of the fault suite) spends in gate,
journal, locks and the sweep, with the containment of its builds and its test; what a launch of the benchmark costs beyond the
same process started bare and asked the same; and how long `expctl run` takes, from the prompt and back, where nothing is to be
built or timed. The gate's `quiet_s` is 0: waiting for a quiet machine is a step that the protocol asks for, and no overhead.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from expctl import wiring
from expctl.adapters.machine.facts import machine_facts
from expctl.domain.protocol.model import Protocol
from expctl.domain.verdict.samples import Side
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.run.experiment import run_experiment
from expctl.ports.context import Context, Tools
from expctl.views.console import ConsoleProgress
from tests.faults.fault_lab import Lab, Scene

EXPERIMENT_MS_MOST, LAUNCH_MS_MOST, IDLE_S_MOST = 150.0, 5.0, 1.0
SINGLE_LAUNCHES = 3  # of an experiment: two builds and a test
ROUNDS = 40


class Timed:
    """A port whose calls, and the entering and leaving of its contexts, are added up under one name."""

    def __init__(self, port: object, spent_s: dict[str, float], name: str) -> None:
        self._port, self._spent_s, self._name = port, spent_s, name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return timed(getattr(self._port, method), self._spent_s, self._name)


def timed(act: Callable[..., Any], spent_s: dict[str, float], name: str) -> Callable[..., Any]:
    """`act`, with the time that it takes added to `spent_s[name]`."""

    @contextlib.contextmanager
    def both_ends(context: Any) -> Iterator[Any]:
        with clock():
            entered = context.__enter__()
        try:
            yield entered
        finally:
            with clock():
                context.__exit__(*sys.exc_info())

    @contextlib.contextmanager
    def clock() -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            spent_s[name] += time.perf_counter() - started

    def call(*words: Any, **named: Any) -> Any:
        with clock():
            made = act(*words, **named)
        return both_ends(made) if hasattr(made, "__exit__") else made

    return call


def main() -> int:
    """Measure, print and write; the exit status is 1 when a limit is passed."""
    parser = argparse.ArgumentParser(description="what expctl itself costs")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    with Lab() as lab:
        launch_ms = _launch_ms(lab)
        spent = [_experiment_s(lab) for _ in range(options.repeats)]
        idle_s = statistics.median(_idle_s(lab) for _ in range(options.repeats))
    parts = {name: 1000 * statistics.median(each[name] for each in spent) for name in sorted(spent[0])}
    parts["containment of builds and test"] = SINGLE_LAUNCHES * launch_ms
    experiment_ms = sum(parts.values())
    facts = {
        "command": f"python -m benchmarks.overhead.overhead --repeats {options.repeats}",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": "{cpu}, {cores} cores, {os}".format_map(machine_facts()),
        "experiment_ms": round(experiment_ms, 1),
        "experiment_ms_most": EXPERIMENT_MS_MOST,
        "of_which_ms": {name: round(value, 1) for name, value in parts.items()},
        "launch_ms": round(launch_ms, 2),
        "launch_ms_most": LAUNCH_MS_MOST,
        "run_without_build_or_timing_s": round(idle_s, 3),
        "run_without_build_or_timing_s_most": IDLE_S_MOST,
    }
    print(json.dumps(facts, indent=1))
    options.out.write_text(json.dumps(facts, indent=1) + "\n")
    return int(experiment_ms > EXPERIMENT_MS_MOST or launch_ms > LAUNCH_MS_MOST or idle_s > IDLE_S_MOST)


@contextlib.contextmanager
def _inside(scene: Scene) -> Iterator[Context]:
    """The world of expctl as its command line makes it, in this process."""
    before, was = dict(os.environ), Path.cwd()
    os.environ.clear()
    os.environ.update(scene.environment)
    os.chdir(scene.root)
    try:
        with open(os.devnull, "w", encoding="utf-8") as unseen:
            yield wiring.context(wiring.here(), ConsoleProgress(unseen))
    finally:
        os.chdir(was)
        os.environ.clear()
        os.environ.update(before)


def _experiment_s(lab: Lab) -> dict[str, float]:
    """Part -> seconds that one whole KEEP spent in it."""
    spent_s: dict[str, float] = defaultdict(float)
    with _inside(lab.scene("first")) as context:

        def tools_for(protocol: Protocol, experiment: str) -> Tools:
            made = context.tools_for(protocol, experiment)
            gate: Any = Timed(made.gate, spent_s, "gate")
            return replace(made, gate=gate)

        journal: Any = Timed(context.journal, spent_s, "journal")
        locks: Any = Timed(context.locks, spent_s, "lock of the repository")
        sweep = timed(context.end_survivors, spent_s, "sweep of survivors")
        outcome = run_experiment(replace(context, journal=journal, locks=locks, end_survivors=sweep, tools_for=tools_for), "P1")
    if outcome.record.verdict != "KEEP":
        raise RuntimeError(f"the stand-in was to end in a KEEP: {outcome.record.reasons}")
    return spent_s


def _launch_ms(lab: Lab) -> float:
    """What one launch costs more than bare: rounds of both kinds in turns, so that a busy machine is busy for both."""
    scene = lab.scene("first")
    kernel = scene.root / "src" / "kernel"
    extra = []
    with _inside(scene) as context:
        protocol = context.library.protocol(context.workspace.head())
        benchmark = protocol.targets["here"].benchmark
        if benchmark is None:
            raise RuntimeError("the stand-in has a benchmark")
        equipment = context.tools_for(protocol, "P1")
        artifacts = dict.fromkeys(Side, (kernel,))
        for number in range(ROUNDS):
            started = time.perf_counter()
            measure_round(context, equipment, benchmark, cwd=scene.root, artifacts=artifacts, number=number)
            contained_s = time.perf_counter() - started
            started = time.perf_counter()
            _bare_round(lab, kernel)
            extra.append(contained_s - (time.perf_counter() - started))
    return 1000 * statistics.median(extra) / len(Side)


def _bare_round(lab: Lab, kernel: Path) -> None:
    """Two workers, started bare and asked what a round asks: begin, a visit that is dropped, a quad of two visits each, end."""
    visits = [json.dumps({"do": "time", "size": "n", "iterations": count}) for count in (1, 2, 2)]
    asked = [json.dumps({"do": "begin", "seed": 1, "sizes": ["n"]}), *visits, json.dumps({"do": "end"})]
    workers = []
    for _ in Side:
        argv = [str(lab.standin), "benchmark", str(kernel)]
        workers.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}))
    for request in asked:
        for worker in workers:
            if worker.stdin is None or worker.stdout is None:
                raise RuntimeError("pipes were asked for")
            worker.stdin.write(request.encode() + b"\n")
            worker.stdin.flush()
            worker.stdout.readline()
    for worker in workers:
        worker.communicate()


def _idle_s(lab: Lab) -> float:
    """`expctl run` of an experiment whose two builds are kept and whose code is the baseline's: a NO-OP."""
    scene = lab.scene("first no-op")
    started = time.perf_counter()
    command = [str(Path(sys.executable).with_name("expctl")), "run", "P5"]
    ended = subprocess.run(command, cwd=scene.root, env=scene.environment, capture_output=True, text=True, check=False)
    took_s = time.perf_counter() - started
    if ended.returncode or "NO-OP" not in ended.stdout:
        raise RuntimeError(f"the stand-in was to end in a NO-OP: {ended.stdout}{ended.stderr}")
    return took_s


if __name__ == "__main__":
    sys.exit(main())
