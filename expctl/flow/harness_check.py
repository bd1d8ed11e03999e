"""Try protocol.yaml and the harness as they lie in the work tree: build, test, and two short rounds against itself.

Nothing is committed or recorded, no verdict is made, and the machine need not be quiet.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.model import Benchmark, Protocol, Target
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.repository.preflight import choose_targets
from expctl.ports.measuring import Progress, Steps, Toolchains

ROUNDS, QUADS_MOST, ITERATIONS_MOST = 2, 2, 2
SHORT_NS, UNEVEN = 10_000, 0.25
MISTAKE = re.compile(r"(?P<where>[^\s:]+:\d+(?:, in [\w.]+)?): expected (?P<expected>.+?), found (?P<found>.*)", re.DOTALL)
PLACE = re.compile(r'File "([^"]+)", line (\d+)|([\w./-]+\.\w+:\d+)')


class Checked(Struct, frozen=True, kw_only=True):
    """One part that works: what it is, what was seen, and a `remark` on what looks odd, else empty."""

    part: str
    what: str
    remark: str = ""


class Trial(Struct, frozen=True, kw_only=True):
    """What is tried: a copy of the work tree at `tree`, its protocol, and tools that share nothing with a run."""

    protocol: Protocol
    tree: Path
    toolchains: Toolchains
    steps: Steps
    progress: Progress


def check_harness(trial: Trial, *, target: str, sources: str, line_of: Callable[[str], int]) -> Iterator[Checked]:
    """Yield each part that works. `target` is the one to try ("": the first available), `sources` a hash of the copied files,
    and `line_of` returns the line of protocol.yaml with a text, 0 if none. Raises Refused for the first that doesn't.
    """
    protocol = trial.protocol
    _check_files(trial, line_of)
    roles = choose_targets(protocol, trial.toolchains, target)
    name = roles.deciding
    yield Checked(part="protocol", what=f"target {name}; scope {', '.join(protocol.scope)}")
    chosen = protocol.targets[name]
    build = _built(trial, name, chosen, sources, line_of)
    yield Checked(part="build", what=f"{chosen.build.artifact}, code {build[0].code[:12]}")
    yield _tested(trial, chosen, build[1], line_of)
    if chosen.benchmark is not None:
        yield from _measured(trial, chosen.benchmark, build[1], line_of)
    if chosen.profile is not None:
        yield _profiled(trial, chosen, build[1])
    for guard in roles.guards:
        yield _guarding(trial, guard, sources, line_of)


def _check_files(trial: Trial, line_of: Callable[[str], int]) -> None:
    protocol = trial.protocol
    named = [(key, name) for key in ("scope", "harness") for name in getattr(protocol, key)]
    steps = [step for each in protocol.targets.values() for step in (each.test, each.benchmark, each.profile) if step]
    named += [("argv", word) for step in steps for word in step.argv if word.endswith((".py", ".sh")) and "{" not in word]
    named += [("source", each.build.source) for each in protocol.targets.values() if each.build.source]
    for key, name in named:
        if not name.startswith("/") and not (trial.tree / name).exists():
            raise Refused(
                "protocol.yaml names what is not there",
                code="named-file-missing",
                expected=f"{name}, which protocol.yaml has as {key}",
                found="no such file or folder that git doesn't ignore",
                where=f"protocol.yaml:{line_of(name)}",
                hint=f"make {name}, or correct that line; then expctl harness check",
            )


def _built(trial: Trial, name: str, target: Target, sources: str, line_of: Callable[[str], int]) -> tuple[Artifact, Path]:
    trial.progress.working("build", name)
    made = trial.toolchains.build(name, target, tree=trial.tree, sources=sources)
    if isinstance(made, Failed):
        key = target.build.source or next((word for word in target.build.argv if "{artifact}" in word), "toolchain")
        raise _refused("the build", "a build of HEAD's sources", made, _in_protocol(line_of(key)))
    path = trial.toolchains.path(target, made)
    if path is None:
        raise _refused("the build", "a file", Failed(reason="it was removed or changed"), "")
    return made, path


def _tested(trial: Trial, target: Target, artifact: Path, line_of: Callable[[str], int]) -> Checked:
    if target.test is None:
        return Checked(part="test", what="none", remark="a target that decides needs a test")
    trial.progress.working("test", target.test.argv[-1])
    report = trial.steps.test(target.test, cwd=trial.tree, artifact=artifact, progress=trial.progress)
    if isinstance(report, Failed):
        place = _place(trial, target.test.argv, report, line_of)
        raise _refused("the test", "a test that the present kernel passes", report, place)
    if target.test.metrics is not None and (absent := "; ".join(target.test.metrics.absent(report.seen))):
        raise _refused("the test", "the figures that test.metrics holds against the baseline's", Failed(reason=absent), "")
    return Checked(part="test", what=report.summary)


def _guarding(trial: Trial, name: str, sources: str, line_of: Callable[[str], int]) -> Checked:
    """Return what a target that isn't timed was seen to do; one that fails today guards nothing."""
    target = trial.protocol.targets[name]
    artifact, path = _built(trial, name, target, sources, line_of)
    what = "no test" if target.test is None else _tested(trial, target, path, line_of).what
    return Checked(part=name, what=f"code {artifact.code[:12]}, {what}; it guards, and is never timed")


def _measured(trial: Trial, benchmark: Benchmark, artifact: Path, line_of: Callable[[str], int]) -> Iterator[Checked]:
    short = replace(
        benchmark,
        quads=min(benchmark.quads, QUADS_MOST),
        iterations=min(benchmark.iterations, ITERATIONS_MOST),
        respawn=1,
        layouts=1,
    )
    samples: list[Sample] = []
    for number in range(ROUNDS):
        trial.progress.working("benchmark", f"round {number + 1} of {ROUNDS}, against itself")
        sides = dict.fromkeys(Side, (artifact,))
        found = trial.steps.measure(short, cwd=trial.tree, artifacts=sides, round=number, progress=trial.progress)
        if isinstance(found, Failed):
            place = _place(trial, benchmark.argv, found, line_of)
            raise _refused("the benchmark", "times of the present kernel", found, place)
        samples += found
    for size in benchmark.sizes:
        yield _times(size.name, [each for each in samples if each.size == size.name])


def _times(size: str, samples: list[Sample]) -> Checked:
    """Return the median time of a call at `size`, and how far the two sides, which are the same, lie apart."""
    medians = {side: _median([ns for each in samples if each.side is side for ns in each.ns]) for side in Side}
    typical = min(medians.values())
    apart = max(medians.values()) / typical - 1
    remarks = ["shorter than 10 us: make the size larger"] if typical < SHORT_NS else []
    remarks += ["the same build twice should be nearer: is the machine busy?"] if apart > UNEVEN else []
    what = f"{size}: {_time(typical)} a call; the same build twice, {100 * apart:.1f} % apart"
    return Checked(part="benchmark", what=what, remark="; ".join(remarks))


def _profiled(trial: Trial, target: Target, artifact: Path) -> Checked:
    assert target.profile is not None  # noqa: S101  asked by the caller
    trial.progress.working("profile", target.profile.argv[0])
    out = artifact.parent / "profile"
    found = trial.steps.profile(
        target.profile, cwd=trial.tree, tree=trial.tree, artifact=artifact, out=out, progress=trial.progress
    )
    if isinstance(found, Failed):
        return Checked(part="profile", what="none", remark=f"it fails, which never changes a verdict: {found.reason}")
    return Checked(part="profile", what=f"{len(found)} facts")


def _median(values: list[int]) -> float:
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _time(ns: float) -> str:
    return f"{ns / 1e6:.3g} ms" if ns >= 1e6 else f"{ns / 1e3:.3g} us"


def _place(trial: Trial, argv: Sequence[str], failed: Failed, line_of: Callable[[str], int]) -> str:
    """Return where to look when the failure itself names no line: the time allowed, else the call in the script."""
    if "did not end within" in failed.reason:
        return _in_protocol(line_of("timeout_s"))
    script = next((word for word in argv if word.endswith(".py") and (trial.tree / word).is_file()), "")
    lines = (trial.tree / script).read_text(errors="replace").splitlines() if script else []
    return next((f"{script}:{number}" for number, line in enumerate(lines, start=1) if "def call(" in line), script)


def _in_protocol(line: int) -> str:
    return f"protocol.yaml:{line}" if line else ""


def _refused(part: str, expected: str, failed: Failed, place: str) -> Refused:
    """Return the error for a part that failed; expected, found and line are the harness' own where it said them, and `place`
    is where to look otherwise.
    """
    mistake = MISTAKE.search(failed.reason)
    places = [short or f"{file}:{number}" for file, number, short in PLACE.findall(failed.reason)]
    where = places[-1] if places else place
    return Refused(
        f"{part} of the work tree fails",
        code="harness-check-failed",
        expected=mistake["expected"] if mistake else expected,
        found=mistake["found"] if mistake else failed.reason,
        where=mistake["where"] if mistake else where,
        hint="mend that line, then expctl harness check" if mistake or where else "mend it, then expctl harness check",
    )
