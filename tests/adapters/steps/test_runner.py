"""The harness contract from our side: what each kind of script becomes."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from msgspec.structs import replace

from expctl.adapters.child.arguments import child_environment, fill
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Benchmark, Environment, NumberKind, Size, Style
from expctl.domain.protocol.step import LimitedStep
from expctl.domain.run.step_result import Failed
from expctl.domain.run.step_result import TestReport as Passed
from expctl.domain.verdict.samples import Sample, Side, round_effects
from expctl.launcher import containment
from expctl.launcher.capabilities import detect_capabilities
from tests.fakes.run import FakeProgress

SAY = """
import json, os, signal, sys, time
def say(**line): raw(json.dumps(line))
def raw(text): os.write(int(os.environ["EXPCTL_RESULT_FD"]), text.encode() + b"\\n")
"""


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[StepRunner]:
    notes = Environment(writable=(str(tmp_path),))  # many scripts here leave notes for their test
    made = StepRunner(environment=notes, scratch=tmp_path / "scratch", mark="m", experiment="P1")
    yield made
    made.close()


def step(program: str, timeout_s: float = 10) -> LimitedStep:
    return LimitedStep(argv=("{python}", "-c", SAY + program, "{artifact}"), timeout_s=timeout_s)


def try_out(runner: StepRunner, program: str, tmp_path: Path, timeout_s: float = 10) -> Passed | Failed:
    return runner.test(step(program, timeout_s), cwd=tmp_path, artifact=tmp_path / "a.so", progress=FakeProgress())


CASE = "say(event='case', name='a', ok=True, facts={'rel': 0.5, 'n': 3, 'why': 'text', 'flag': True})\n"
OK = "say(event='end', ok=True)\n"

TESTS: dict[str, tuple[str, Passed | Failed]] = {
    "a pass": (
        CASE + CASE + OK,
        Passed(cases=2, summary="2 cases pass, worst rel 0.5, n 3", seen={"rel": (0.5, 0.5), "n": (3.0, 3.0)}),
    ),
    "what is no JSON": (
        CASE + "raw('not json')\n" + OK,
        Failed(reason="the test said something that it was not asked: no JSON object: 'not json'", died=True),
    ),
    "a list": (
        CASE + "raw('[1]')\n" + OK,
        Failed(reason="the test said something that it was not asked: no JSON object: '[1]'", died=True),
    ),
    "a deep list": (
        "raw('[' * 100000)\n" + CASE + OK,
        Failed(reason=f"the test said something that it was not asked: no JSON object: '{'[' * 59}…'", died=True),
    ),
    "another event": (
        CASE + "say(event='what')\n" + OK,
        Failed(reason='the test said something that it was not asked: {"event": "what"}', died=True),
    ),
    "a second end": (
        CASE + OK + OK,
        Failed(reason='the test said something that it was not asked: {"event": "end", "ok": true}', died=True),
    ),
    "a fail": (CASE + "say(event='end', ok=False, reason='C[3] is 1'); sys.exit(1)", Failed(reason="C[3] is 1")),
    "a fault": (
        "say(event='end', ok=False, fault=True, reason='no device'); sys.exit(2)",
        Failed(reason="no device", fault=True),
    ),
    "no reason": ("say(event='end', ok=False)", Failed(reason="no reason given")),
    "ok is a word": (CASE + "say(event='end', ok='yes')", Failed(reason="no reason given")),
    "no cases": (OK, Failed(reason="the test ended without having tried a case", fault=True)),
    "a pass and another status": (
        CASE + OK + "sys.exit(3)\n",
        Failed(reason="the test said it passed and then exited with status 3", died=True),
    ),
    "no end": (CASE, Failed(reason="the test exited with status 0 after 1 cases", died=True)),
    "an exception": (
        CASE + "print('boom'); sys.exit(9)",
        Failed(reason="the test exited with status 9 after 1 cases (boom)", died=True),
    ),
    "a signal": (
        "os.kill(os.getpid(), signal.SIGSEGV)",
        Failed(reason="the test died of SIGSEGV after 0 cases", died=True),
    ),
    "a flood": (
        "os.write(int(os.environ['EXPCTL_RESULT_FD']), b'x' * (2 << 20))",
        Failed(reason="the test sent a result line of more than 1048576 bytes", died=True),
    ),
}


@pytest.mark.parametrize("name", TESTS)
def test_a_test_step_becomes(runner: StepRunner, tmp_path: Path, name: str) -> None:
    program, outcome = TESTS[name]
    assert try_out(runner, program, tmp_path) == outcome


def test_a_case_that_failed_does_not_end_in_a_pass(runner: StepRunner, tmp_path: Path) -> None:
    outcome = try_out(runner, "say(event='case', name='a', ok=False, facts={})\n" + CASE + OK, tmp_path)
    assert isinstance(outcome, Failed)


def test_a_test_step_that_hangs_is_ended(runner: StepRunner, tmp_path: Path) -> None:
    outcome = try_out(runner, CASE + "time.sleep(60)", tmp_path, timeout_s=1)
    assert outcome == Failed(reason="the test did not end within 1 s (1 cases done)", died=True)


def test_a_daemon_that_keeps_the_channel_open_is_told(tmp_path: Path) -> None:
    hurried = StepRunner(environment=Environment(), scratch=tmp_path / "scratch", mark="m", experiment="P1", end_wait_s=0.5)
    outcome = try_out(hurried, CASE + "if os.fork() == 0: time.sleep(60)\n" + OK, tmp_path)
    reason = "the test ended, but something that it started kept the result channel open for 0.5 s"
    assert outcome == Failed(reason=reason, died=True)
    hurried.close()


@pytest.mark.parametrize("what", ["test", "profile"])
def test_a_program_that_is_not_there_is_a_fault(runner: StepRunner, tmp_path: Path, what: str) -> None:
    absent = LimitedStep(argv=("/no/such/program",), timeout_s=1)
    outcome: Passed | tuple[Fact, ...] | Failed
    if what == "test":
        outcome = runner.test(absent, cwd=tmp_path, artifact=tmp_path / "a", progress=FakeProgress())
    else:
        outcome = profile(runner, absent, tmp_path)
    assert outcome == Failed(reason="cannot start /no/such/program: No such file or directory", fault=True)


def test_a_step_sees_its_words_and_the_allowed_environment_only(
    runner: StepRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    program = "open(os.environ['TMPDIR'] + '/seen', 'w').write(json.dumps([sys.argv[1], os.getcwd(), dict(os.environ)]))"
    try_out(runner, program, tmp_path)
    (seen,) = (tmp_path / "scratch").glob("*/seen")
    artifact, cwd, environment = json.loads(seen.read_text())
    assert (artifact, cwd) == (str(tmp_path / "a.so"), str(tmp_path))
    assert "SECRET_TOKEN" not in environment
    assert environment["HOME"] == str(seen.parent / "home")
    assert environment["EXPCTL_RUN"] == "m"


def test_the_protocol_may_let_a_name_through_and_set_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LET_THROUGH", "1")
    monkeypatch.setenv("KEPT_OUT", "1")
    made = child_environment(Environment(pass_through=("LET_THROUGH", "ABSENT"), set={"THREADS": "1"}), tmp_path, "m")
    assert {name: made.get(name) for name in ("LET_THROUGH", "KEPT_OUT", "ABSENT", "THREADS")} == {
        "LET_THROUGH": "1",
        "KEPT_OUT": None,
        "ABSENT": None,
        "THREADS": "1",
    }


def test_words_of_an_argv_are_filled_in_also_inside_a_longer_word() -> None:
    assert fill(["{out}/x", "--a={artifact}", "{other}"], {"{out}": "/o", "{artifact}": "/a"}) == ["/o/x", "--a=/a", "{other}"]


# ------------------------------------------------------------------ profile


def profile(runner: StepRunner, wanted: LimitedStep, folder: Path) -> tuple[Fact, ...] | Failed:
    artifact, out = folder / "a", folder / "out"
    return runner.profile(wanted, cwd=folder, tree=folder, artifact=artifact, out=out, progress=FakeProgress())


def test_a_profiler_is_told_where_to_write(runner: StepRunner, tmp_path: Path) -> None:
    assert profile(runner, LimitedStep(argv=("/bin/sh", "-c", "echo {id} > {out}/said"), timeout_s=10), tmp_path) == ()
    assert (tmp_path / "out" / "said").read_text() == "P1\n"


FACT = "say(event='fact', name='instructions', value=10, unit='i', kind='exact_count')\n"
PROFILES: dict[str, tuple[str, tuple[Fact, ...] | str]] = {
    "facts": (FACT + OK, (Fact(name="instructions", value=10, unit="i", kind=NumberKind.EXACT_COUNT),)),
    "no facts": (OK, ()),
    "a failure": (FACT + "say(event='end', ok=False, reason='no counters')", "no counters"),
    "a status": (FACT + OK + "print('boom'); sys.exit(4)", "exited with status 4 (boom)"),
    "no number": ("say(event='fact', name='n', value='many', kind='static')", "without a number"),
    "a truth": ("say(event='fact', name='n', value=True, kind='static')", "without a number"),
    "an unknown kind": ("say(event='fact', name='n', value=1, kind='guess')", "number kind 'guess'"),
    "not a number": ("say(event='fact', name='n', value=float('nan'), kind='static')\n" + OK, "without a number"),
    "infinity": ("say(event='fact', name='n', value=float('inf'), kind='static')\n" + OK, "without a number"),
}


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_step_becomes(runner: StepRunner, tmp_path: Path, name: str) -> None:
    program, outcome = PROFILES[name]
    found = profile(runner, step(program), tmp_path)
    if isinstance(outcome, str):
        assert isinstance(found, Failed), found
        assert outcome in found.reason
        assert found.fault
    else:
        assert found == outcome


def test_a_profile_that_hangs_is_a_note(runner: StepRunner, tmp_path: Path) -> None:
    hangs = step("time.sleep(60)", timeout_s=0.5)
    found = profile(runner, hangs, tmp_path)
    assert found == Failed(reason="did not end within 0.5 s", fault=True)


# ------------------------------------------------------------------ benchmark

WORKER = """
side = os.path.basename(sys.argv[1])
wrong = False
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "begin":
        assert request["sizes"] == ["a", "b"] and request["seed"] >= 0
        say(event="ready")
    elif request["do"] == "time":
        n = request["iterations"]
        ns = [{"baseline": 1000, "candidate": 2000}[side]] * n
        more = {}
        TIME
        say(event="sample", size=request["size"], ns=ns, **more)
    elif request["do"] == "check":
        CHECK
    else:
        break
END
"""
CHECKED = "say(event='checked')"
BENCHMARK = Benchmark(
    argv=(), timeout_s=20, sizes=(Size(name="a", weight=0.5), Size(name="b", weight=0.5)), iterations=3, quads=4
)
Measure = Callable[..., tuple[Sample, ...] | Failed]


@pytest.fixture
def measure(runner: StepRunner, tmp_path: Path) -> Measure:
    def measures(
        style: Style, time: str = "pass", end: str = OK, check: str = CHECKED, before: str = "", **changes: object
    ) -> tuple[Sample, ...] | Failed:
        program = SAY + before + WORKER.replace("TIME", time).replace("END", end).replace("CHECK", check)
        benchmark = replace(BENCHMARK, argv=("{python}", "-c", program, "{artifact}"), style=style, **changes)
        artifacts = {side: (tmp_path / side.value,) for side in Side}
        return runner.measure(benchmark, cwd=tmp_path, artifacts=artifacts, round=7, progress=FakeProgress())

    return measures


@pytest.mark.parametrize(("style", "launches", "times"), [(Style.LAUNCH, 4, 3), (Style.FINE, 2, 24)])
def test_a_round_has_every_launch_size_and_iteration(measure: Measure, style: Style, launches: int, times: int) -> None:
    samples = measure(style)
    assert isinstance(samples, tuple)
    assert len(samples) == 2 * launches
    assert {(sample.round, sample.style, sample.visit, len(sample.ns)) for sample in samples} == {(7, style, 3, times)}
    assert {sample.launch for sample in samples} == set(range(launches))
    for side, ns in ((Side.BASELINE, 1000), (Side.CANDIDATE, 2000)):
        assert {time for sample in samples if sample.side is side for time in sample.ns} == {ns}
    (effect,) = round_effects(samples)
    assert effect.effect == {"a": pytest.approx(-0.693147, abs=1e-6), "b": pytest.approx(-0.693147, abs=1e-6)}
    if style is Style.LAUNCH:
        order = {sample.launch: sample.side for sample in samples}
        assert {sample.order for sample in samples} <= {"ABBA", "BAAB"}
        letters = {"A": Side.BASELINE, "B": Side.CANDIDATE}
        assert [order[i] for i in range(4)] == [letters[letter] for letter in samples[0].order]
    else:
        assert {len(sample.order) for sample in samples} == {BENCHMARK.quads}
        assert set("".join(sample.order for sample in samples)) <= {"A", "B"}


BAD_TIMES = {
    "too few": "ns = ns[:-1] if n > 1 else ns",
    "too many": "ns = ns + [5]",
    "negative": "ns[0] = -1",
    "zero": "ns[0] = 0",
    "a float": "ns[0] = 1.5",
    "a truth": "ns[0] = True",
    "text": "ns = '123'",
    "nothing": "ns = None",
    "enormous": "ns[0] = 1 << 60",
}


@pytest.mark.parametrize("name", BAD_TIMES)
def test_times_that_are_none_are_a_fault_of_the_harness(measure: Measure, name: str) -> None:
    failed = measure(Style.FINE, BAD_TIMES[name])
    assert isinstance(failed, Failed)
    assert failed.fault
    assert "positive integers (ns) were asked" in failed.reason


@pytest.mark.parametrize("style", list(Style))
@pytest.mark.parametrize(
    ("side", "blamed", "ending"),
    [
        ("candidate", True, "reason='C[3] is 1'"),
        ("baseline", False, "reason='C[3] is 1'"),
        ("candidate", False, "fault=True, reason='gpu'"),
    ],
)
def test_wrong_outputs_blame_the_candidate_alone(measure: Measure, style: Style, side: str, blamed: bool, ending: str) -> None:
    failed = measure(style, end=f"say(event='end', ok=side != '{side}', {ending})\n")
    assert isinstance(failed, Failed)
    assert failed.reason.startswith(f"{side}: ")
    assert failed.fault is not blamed


@pytest.mark.parametrize("style", list(Style))
def test_a_candidate_that_ends_early_as_wrong_is_blamed(measure: Measure, style: Style) -> None:
    early = "if side == 'candidate' and n > 1: say(event='end', ok=False, reason='nan'); sys.exit(1)"
    assert measure(style, early) == Failed(reason="candidate: nan", fault=False)


DEATHS = {
    "a signal": ("os.kill(os.getpid(), signal.SIGSEGV)", "died of SIGSEGV"),
    "an exit": ("print('boom'); sys.exit(5)", "exited with status 5 (boom)"),
    "a silence": ("time.sleep(60)", "did not answer in time"),
}


@pytest.mark.parametrize("name", DEATHS)
def test_a_worker_that_dies_or_hangs_says_nothing_about_the_candidate(measure: Measure, name: str) -> None:
    act, words = DEATHS[name]
    failed = measure(Style.LAUNCH, f"if side == 'candidate': {act}", timeout_s=1.5)
    assert isinstance(failed, Failed)
    assert failed.fault
    assert failed.reason.startswith("the worker of the candidate ")
    assert words in failed.reason


UNASKED = {
    "garbage": "raw('garbage')",
    "a heartbeat": "say(event='heartbeat')",
    "a sample before its time": "say(event='sample', size=request['size'], ns=[1] * n)",
    "another size": "request['size'] = 'n=1'",
}


@pytest.mark.parametrize("name", UNASKED)
@pytest.mark.parametrize("style", list(Style))
def test_what_was_not_asked_is_a_failure(measure: Measure, style: Style, name: str) -> None:
    failed = measure(style, f"if side == 'candidate': {UNASKED[name]}")
    assert isinstance(failed, Failed)
    assert failed.fault
    assert failed.reason.startswith("the worker of the candidate ")
    assert " asked" in failed.reason


BIND = "import builtins\nunbound = say\nnonce = None\ndef say(**line): unbound(**line, **({'nonce': nonce} if nonce else {}))\n"


def bound(program: str) -> str:
    """A worker that repeats the nonce of its `begin`."""
    return program.replace("side = os.path", BIND + "side = os.path").replace(
        "    if request", "    nonce = request.get('nonce', nonce)\n    if request", 1
    )


FORGED = {
    "without a nonce": 'os.write(int(os.environ[\'EXPCTL_RESULT_FD\']), b\'{"event": "sample", "ns": [1, 1, 1]}\\n\')',
    "of another run": "unbound(event='sample', size=request['size'], ns=[1] * n, nonce='0' * 32)",
}


@pytest.mark.parametrize("name", FORGED)
def test_a_line_that_is_not_bound_to_the_run_is_a_failure(runner: StepRunner, tmp_path: Path, name: str) -> None:
    program = bound(SAY + WORKER.replace("END", OK).replace("CHECK", CHECKED))
    artifacts = {side: (tmp_path / side.value,) for side in Side}

    def measured(time: str) -> tuple[Sample, ...] | Failed:
        argv = ("{python}", "-c", program.replace("TIME", time), "{artifact}")
        benchmark = replace(BENCHMARK, argv=argv, style=Style.LAUNCH)
        return runner.measure(benchmark, cwd=tmp_path, artifacts=artifacts, round=0, progress=FakeProgress())

    assert isinstance(measured("pass"), tuple)
    failed = measured(f"if side == 'candidate': {FORGED[name]}")
    assert isinstance(failed, Failed)
    assert "a line that is not of this run" in failed.reason


def test_a_sample_has_what_was_seen_of_each_visit_beyond_its_times(measure: Measure) -> None:
    told = measure(Style.LAUNCH, "more = {'outside_ns': sum(ns) + 500}")
    assert isinstance(told, tuple)
    assert {each.hidden_ns for each in told} == {(500,)}
    refused = measure(Style.LAUNCH, "more = {'outside_ns': -1}")
    assert isinstance(refused, Failed)
    assert "outside_ns" in refused.reason
    timed = measure(Style.FINE, "time.sleep(0.002)")
    assert isinstance(timed, tuple)
    assert {len(each.hidden_ns) for each in timed} == {2 * BENCHMARK.quads}
    assert all(2e6 < ns < 1e9 for each in timed for ns in each.hidden_ns)


def test_workers_of_a_fine_round_share_one_core(measure: Measure, tmp_path: Path) -> None:
    measure(Style.FINE, f"open({str(tmp_path / 'cores')!r}, 'a').write(str(os.sched_getaffinity(0)) + '\\n')")
    assert set((tmp_path / "cores").read_text().splitlines()) == {str({max(os.sched_getaffinity(0))})}


@pytest.mark.parametrize("style", Style)
def test_rounds_take_the_layouts_in_turn_on_both_sides(runner: StepRunner, tmp_path: Path, style: Style) -> None:
    notes = tmp_path / "notes"
    note = f"open({str(notes)!r}, 'a').write(sys.argv[1] + ' ' + str(len(os.environ.get('EXPCTL_PADDING', ''))) + chr(10))"
    program = SAY + WORKER.replace("TIME", "pass").replace("END", f"{note}; {OK}").replace("CHECK", CHECKED)
    benchmark = replace(BENCHMARK, argv=("{python}", "-c", program, "{artifact}"), style=style)
    layouts = {side: tuple(tmp_path / str(layout) / side.value for layout in range(3)) for side in Side}
    paddings = []
    for round in range(5):
        notes.unlink(missing_ok=True)
        samples = runner.measure(benchmark, cwd=tmp_path, artifacts=layouts, round=round, progress=FakeProgress())
        assert isinstance(samples, tuple), samples
        assert {each.layout for each in samples} == {round % 3}
        said = [line.split() for line in notes.read_text().splitlines()]
        assert {path for path, _ in said} == {str(layouts[side][round % 3]) for side in Side}
        paddings += [int(padding) for _, padding in said]
    assert max(paddings) < 4096
    assert len(set(paddings)) > len(paddings) // 2


def test_without_layouts_nothing_is_added_to_the_environment(measure: Measure, tmp_path: Path) -> None:
    samples = measure(Style.LAUNCH, f"open({str(tmp_path / 'names')!r}, 'a').write(' '.join(os.environ))")
    assert isinstance(samples, tuple)
    assert {each.layout for each in samples} == {0}
    assert "EXPCTL_PADDING" not in (tmp_path / "names").read_text()


def test_a_pair_keeps_its_layout(runner: StepRunner, tmp_path: Path) -> None:
    program = SAY + WORKER.replace("TIME", "pass").replace("END", OK).replace("CHECK", CHECKED)
    benchmark = replace(BENCHMARK, argv=("{python}", "-c", program, "{artifact}"), style=Style.FINE, respawn=2)
    layouts = {side: tuple(tmp_path / str(layout) / side.value for layout in range(2)) for side in Side}
    seen = []
    for round in range(6):
        samples = runner.measure(benchmark, cwd=tmp_path, artifacts=layouts, round=round, progress=FakeProgress())
        assert isinstance(samples, tuple), samples
        seen += [(each.layout, each.pair) for each in samples[:1]]
    assert seen == [(0, 0), (0, 0), (1, 2), (1, 2), (0, 4), (0, 4)]


def test_a_pair_lives_for_as_many_rounds_as_the_protocol_says(
    measure: Measure, runner: StepRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each round is two workers that time two sizes; a check ends all rounds of a pair but its last."""
    here = replace(detect_capabilities(), own_processes=False)  # by their pids they are told apart
    monkeypatch.setattr(containment, "detect_capabilities", lambda: here)
    notes = tmp_path / "notes"
    note = f"open({str(notes)!r}, 'a').write(f'{{os.getpid()}} WORD\\n')"
    times, check, end = (note.replace("WORD", word) for word in ("time", "check", "end"))
    pids: list[set[str]] = []
    words: list[set[str]] = []
    for _ in range(4):
        notes.unlink(missing_ok=True)
        samples = measure(Style.FINE, times, f"{end}\n{OK}", f"{check}; {CHECKED}", respawn=3)
        assert isinstance(samples, tuple), samples
        said = [line.split() for line in notes.read_text().splitlines()]
        pids.append({pid for pid, _ in said})
        words.append({word for _, word in said} - {"time"})
    assert [len(each) for each in pids] == [2, 2, 2, 2]
    assert pids[0] == pids[1] == pids[2]
    assert not pids[2] & pids[3]
    assert words == [{"check"}, {"check"}, {"end"}, {"check"}]
    assert all(Path(f"/proc/{pid}").exists() for pid in pids[3])
    runner.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids[3])


def test_a_wrong_check_blames_the_candidate_and_ends_its_pair(measure: Measure) -> None:
    wrong = "say(event='end', ok=side != 'candidate', reason='C[3] is 1') if side == 'candidate' else say(event='checked')"
    assert measure(Style.FINE, check=wrong, respawn=3) == Failed(reason="candidate: C[3] is 1", fault=False)
    assert isinstance(measure(Style.FINE, respawn=3), tuple)


def test_a_worker_that_takes_turns_does_nothing_while_the_other_is_asked(measure: Measure, tmp_path: Path) -> None:
    """A thread that works on beside its main thread's waiting would slow the other side down, and so would a child that has
    left its session.
    """
    child = f"""
        import threading
        side = os.path.basename(sys.argv[1])
        def burn(marks, until=lambda: False):
            while not until(): time.sleep(0.001); marks(time.monotonic())
        marks = []; threading.Thread(target=burn, args=(marks.append,), daemon=True).start()
        if os.fork() == 0:
            os.setsid(); os.closerange(0, 99)
            lines = open({str(tmp_path)!r} + "/child." + side, "w")
            parent = os.getppid()
            burn(lambda mark: print(mark, file=lines, flush=True), lambda: os.getppid() != parent)
            os._exit(0)
    """
    asked = f"before = time.monotonic(); open({str(tmp_path)!r} + '/' + side, 'a').write(f'{{before}}\\n'); time.sleep(0.02)"
    end = f"open({str(tmp_path)!r} + '/marks.' + side, 'w').write(json.dumps(marks))\n{OK}"
    assert isinstance(measure(Style.FINE, asked, end, before=dedent(child)), tuple)
    for side, other in (("candidate", "baseline"), ("baseline", "candidate")):
        turns = [float(line) for line in (tmp_path / other).read_text().split()]
        of_thread = json.loads((tmp_path / f"marks.{side}").read_text())
        of_child = [float(line) for line in (tmp_path / f"child.{side}").read_text().split("\n")[:-1]]
        for marks in (of_thread, of_child):
            inside = [mark for mark in marks for turn in turns if turn + 0.006 < mark < turn + 0.018]  # a stop takes its time
            assert len(marks) > 50
            assert not inside


def test_a_worker_that_leaves_a_process_behind_is_refused_at_once(measure: Measure) -> None:
    left = """
        if sys.argv[1].endswith("candidate") and os.fork() == 0:
            if os.fork() == 0:
                os.setsid(); os.closerange(0, 99); time.sleep(60)
            os._exit(0)
        time.sleep(0.1)
    """
    begun = time.monotonic()
    failed = measure(Style.FINE, before=dedent(left))
    assert isinstance(failed, Failed)
    assert "the worker of the candidate left a process behind" in failed.reason
    assert time.monotonic() - begun < 10


def test_a_benchmark_that_is_not_there_is_a_fault(runner: StepRunner, tmp_path: Path) -> None:
    benchmark = replace(BENCHMARK, argv=("/no/such/program",))
    artifacts = {side: (tmp_path / side.value,) for side in Side}
    failed = runner.measure(benchmark, cwd=tmp_path, artifacts=artifacts, round=0, progress=FakeProgress())
    assert failed == Failed(reason="cannot start /no/such/program: No such file or directory", fault=True)


def test_the_interpreter_is_the_one_that_runs_expctl(runner: StepRunner, tmp_path: Path) -> None:
    outcome = try_out(runner, CASE + "say(event='end', ok=False, reason=sys.executable)", tmp_path)
    assert outcome == Failed(reason=sys.executable)
