"""A world of fakes. They keep what they were told, so that a test can look."""

import json
from dataclasses import dataclass, field
from typing import Any, cast

from msgspec.structs import replace

from expctl.adapters.codec.record_codec import (
    blind_bytes,
    profile_bytes,
    record_bytes,
    rivals_bytes,
    samples_bytes,
    ticket_bytes,
)
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.ledger.model import Ledger
from expctl.domain.protocol.model import Benchmark, Build, KeepRule, Protocol, Size, Target, Toolchain
from expctl.domain.protocol.step import LimitedStep
from expctl.ports.context import Context, Tools
from expctl.ports.repository import Workspace
from tests.fakes.library import FakeLibrary
from tests.fakes.measuring import FakeCalibrations, FakeControls, FakeGate, FakeProfiles, FakeSteps, FakeToolchains
from tests.fakes.rules import FakeCircumstances, FakeRulebook
from tests.fakes.run import FakeClock, FakeDurations, FakeJournal, FakeLocks, FakeProgress
from tests.fakes.workspace import FakeView, FakeWorkspace

STEP = LimitedStep(argv=("run",), timeout_s=1)
BENCHMARK = Benchmark(argv=("run",), timeout_s=1, sizes=(Size(name="n", weight=1.0, flop=1000),), rounds=6)
PROTOCOL = Protocol(
    version=1,
    name="fake",
    scope=("src",),
    harness=("bench",),
    decides=("cpu", "other"),
    keep=KeepRule(blind_percent=0),
    targets={
        "cpu": Target(
            build=Build(toolchain=Toolchain.COMMAND, argv=("make",)),
            test=STEP,
            benchmark=BENCHMARK,
            profile=STEP,
        ),
        "other": Target(
            build=Build(toolchain=Toolchain.COMMAND, argv=("make",)),
            test=STEP,
            benchmark=Benchmark(argv=("run",), timeout_s=1, sizes=(Size(name="n", weight=1.0),), rounds=6),
        ),
        "guard": Target(build=Build(toolchain=Toolchain.COMMAND, argv=("make",)), stands_for="gfx1151"),
    },
)


def patch_to(text: str, path: str = "src/kernel") -> bytes:
    """A patch that gives `path` this text."""
    return json.dumps({path: text}).encode()


def proposal(id: str, **changes: Any) -> Proposal:
    """A plain proposal."""
    plain = Proposal(
        id=id, title=f"title of {id}", kind=Kind.PERF, hypothesis="it is faster", prediction=Prediction(verdict=Verdict.KEEP)
    )
    return replace(plain, **changes)


def ledger_text(ledger: Ledger) -> str:
    """A ledger in one line per row."""
    return "\n".join(f"{row.id} {row.verdict}" for row in (*ledger.earlier, *ledger.latest, *ledger.imported))


@dataclass
class Stage:
    """A world of fakes, and the fakes by name. `queue` proposes an experiment whose patch rewrites the kernel."""

    workspace: FakeWorkspace = field(default_factory=FakeWorkspace)
    journal: FakeJournal = field(default_factory=FakeJournal)
    locks: FakeLocks = field(default_factory=FakeLocks)
    clock: FakeClock = field(default_factory=FakeClock)
    progress: FakeProgress = field(default_factory=FakeProgress)
    steps: FakeSteps = field(default_factory=FakeSteps)
    profiles: FakeProfiles = field(default_factory=FakeProfiles)
    gate: FakeGate = field(default_factory=FakeGate)
    calibrations: FakeCalibrations = field(default_factory=FakeCalibrations)
    controls: FakeControls = field(default_factory=FakeControls)
    durations: FakeDurations = field(default_factory=FakeDurations)
    circumstances: FakeCircumstances = field(default_factory=FakeCircumstances)
    stops_after: int = -1
    device: str = ""
    survivors_ended: int = 0

    def __post_init__(self) -> None:
        files = {"src/kernel": b"slow 1000000", "protocol.yaml": b"p", "bench/run": b"b", "notes": b"n"}
        first = self.workspace.add("", files, "first")
        self.workspace.refs["refs/heads/main"] = first
        self.library = FakeLibrary(self.workspace, PROTOCOL)
        self.toolchains = FakeToolchains(self.workspace, gate=self.gate)
        self.steps.gate = self.gate

    def queue(self, id: str, kernel: str, *, patch: bytes | None = None, **changes: Any) -> None:
        """Queue an experiment."""
        self.library.queue[id] = (proposal(id, **changes), patch_to(kernel) if patch is None else patch)

    def kernel(self) -> str:
        """The kernel at the head of the branch."""
        return self.workspace.commits[self.workspace.head()].files["src/kernel"].decode()

    def context(self) -> Context:
        """The world; make a new one after a Crash, as a new process would."""
        self.locks.held, self.locks.publisher = False, ""
        self.gate.held = self.gate.shared = False
        return Context(
            workspace=self.workspace,
            library=self.library,
            rulebook=FakeRulebook(self.library, self.circumstances),
            journal=self.journal,
            locks=self.locks,
            clock=self.clock,
            progress=self.progress,
            calibrations=self.calibrations,
            controls=self.controls,
            durations=self.durations,
            machine={"machine": "fake"},
            tools_for=lambda _protocol, _experiment: Tools(
                toolchains=self.toolchains,
                steps=self.steps,
                profiles=self.profiles,
                gate=self.gate,
                settings=lambda _target: {"settings": "NUMA balancing 0"},
            ),
            seen_from=self._seen_from,
            end_survivors=self._end_survivors,
            stop_requested=self._stop_requested,
            record_bytes=record_bytes,
            samples_bytes=samples_bytes,
            blind_bytes=blind_bytes,
            rivals_bytes=rivals_bytes,
            profile_bytes=profile_bytes,
            ticket_bytes=ticket_bytes,
            render=ledger_text,
            device=self.device,
        )

    def _seen_from(self, branch: str) -> Workspace:
        return cast("Workspace", FakeView(self.workspace, branch))

    def _end_survivors(self) -> int:
        self.survivors_ended += 1
        return 0

    def _stop_requested(self) -> bool:
        self.stops_after -= 1
        return self.stops_after == -1
