"""Recipe for a target that is built by a command in protocol.yaml, in any language, with any compiler."""

from pathlib import Path

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import LAYOUT, Build
from expctl.domain.run.step_result import Available, Unavailable
from expctl.inspection.readers.code_identity import code_hash


class CommandRecipe:
    """Builds with the command (argv) in protocol.yaml, which is run in the work tree and must write the file `{artifact}`."""

    def availability(self, build: Build) -> Available | Unavailable:  # noqa: ARG002  the port's signature
        """Return Available without versions: only running the command shows whether its tools are installed."""
        return Available(versions={})

    def commands(
        self,
        build: Build,
        *,
        out: Path,
        layout: int = 0,
        objects: Path | None = None,  # noqa: ARG002  the port's signature
    ) -> tuple[tuple[str, ...], ...]:
        """Return the command in protocol.yaml; `{artifact}` in it becomes a path in `out`, `{layout}` becomes `layout`."""
        path = str(out / build.artifact)
        return (tuple(word.replace(LAYOUT, str(layout)).replace("{artifact}", path) for word in build.argv),)

    def preprocess(self, build: Build, *, out: Path) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        """Return (): nobody knows what the command reads."""
        return ()

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        """Return the hash of the artifact's code (of the whole file if it isn't ELF), and no facts."""
        return code_hash(artifact), ()
