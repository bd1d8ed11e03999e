"""What `expctl tune` is asked for."""

from dataclasses import dataclass
from enum import StrEnum


class Edit(StrEnum):
    """Which files a tuning may change: those of single pairs of N and K, or DEFAULT.json first, for all that read it."""

    SPECIAL = "special"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked for: target and shapes ("" and (): as protocol.yaml says), the edit; `anew` replaces stale tables."""

    target: str = ""
    shapes: tuple[str, ...] = ()
    edit: Edit = Edit.SPECIAL
    anew: bool = False

    @property
    def command(self) -> str:
        """Return what to type to ask for it."""
        words = [f"--target {self.target}"] * bool(self.target) + [f"--shapes {','.join(self.shapes)}"] * bool(self.shapes)
        words += [f"--edit {self.edit}"] * (self.edit is not Edit.SPECIAL) + ["--anew"] * self.anew
        return " ".join(["expctl tune", *words])
