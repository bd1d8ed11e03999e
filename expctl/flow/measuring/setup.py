"""One target of one commit's protocol, with what is needed to build commits for it and to measure them."""

from dataclasses import dataclass
from pathlib import Path

from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.model import Benchmark, Protocol, Target
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Side
from expctl.ports.context import Context, Tools

CHECK_OUT = {Side.BASELINE: "b", Side.CANDIDATE: "c"}  # names of equal length, so that the paths of both sides are as long


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """One target (`name` in protocol.yaml), with the protocol, harness and tools of the commit `head`."""

    context: Context
    protocol: Protocol
    tools: Tools
    head: str
    name: str

    @property
    def target(self) -> Target:
        """Return the target's section of protocol.yaml."""
        return self.protocol.targets[self.name]

    @property
    def benchmark(self) -> Benchmark:
        """Return the target's benchmark. Raises TypeError if it has none, which can't happen for a target that may decide."""
        return benchmark_of(self.protocol, self.name)

    def check_out(self, commit: str, side: Side) -> Path:
        """Return the work tree of `commit` for one side; one that exists is reused. Scripts in it fail if harness files are
        edited.
        """
        return self.context.workspace.check_out(commit, CHECK_OUT[side], sealed=self.protocol.harness)

    def build(self, commit: str, tree: Path) -> tuple[Artifact, tuple[Path, ...]] | Failed:
        """Build `commit` in its work tree `tree`; return the artifact and its layouts' files, or Failed with the reason."""
        toolchains, sources = self.tools.toolchains, self.context.workspace.source_identity(commit)
        with self.tools.gate.working():
            made = toolchains.build(self.name, self.target, tree=tree, sources=sources)
        if isinstance(made, Failed):
            return made
        paths = toolchains.layouts(self.target, made)
        return (made, paths) if paths is not None else Failed(reason="the build's file is gone or was changed")


def benchmark_of(protocol: Protocol, target: str) -> Benchmark:
    """Return a target's benchmark. Raises TypeError if it has none, which can't happen for a target that may decide."""
    benchmark = protocol.targets[target].benchmark
    if benchmark is None:
        raise TypeError(f"{target} decides without a benchmark")
    return benchmark
