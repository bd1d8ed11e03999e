"""A target built by the protocol's own command: any language, any compiler."""

from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import Build
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection.readers.code_identity import code_hash


class CommandRecipe:
    """argv from protocol.yaml, run in the worktree; it must write `{artifact}`."""

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """Always here; whether the command works shows when it runs."""
        return Available(versions={})

    def commands(self, build: Build, *, out: Path) -> tuple[tuple[str, ...], ...]:
        """The protocol's argv, with `{artifact}` filled in."""
        return (tuple(word.replace("{artifact}", str(out / build.artifact)) for word in build.argv),)

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Identity alone: of the code sections when it is ELF, of the file otherwise."""
        return code_hash(artifact), ()
