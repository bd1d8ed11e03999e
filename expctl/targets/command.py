"""Recipe of a target that is built by the protocol's own command, in any language, with any compiler."""

from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import LAYOUT, Build
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection.readers.code_identity import code_hash


class CommandRecipe:
    """Builds by the argv in protocol.yaml, run in the work tree; the command must write `{artifact}`."""

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """Return Available, without tool versions: only running the command shows whether it works."""
        return Available(versions={})

    def commands(
        self,
        build: Build,
        *,
        out: Path,
        layout: int = 0,
        objects: Path | None = None,  # noqa: ARG002  the port's signature
    ) -> tuple[tuple[str, ...], ...]:
        """Return the protocol's argv, with `{artifact}` replaced by its path in `out`, and `{layout}` by `layout`."""
        path = str(out / build.artifact)
        return (tuple(word.replace(LAYOUT, str(layout)).replace("{artifact}", path) for word in build.argv),)

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        """Return (): nobody knows what the command reads."""
        return ()

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Return the hash of the artifact's code sections, or of the whole file if it isn't ELF; and no facts."""
        return code_hash(artifact), ()
