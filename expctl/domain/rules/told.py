"""What compilers told of a patch and the rules of a commit, as it is kept to be told again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record


class Told(Struct, frozen=True, kw_only=True):
    """A rule that compilers have something to say about. It knows the patch at `level`, for which `likeness` is the sentence
    and `patterns` the forbidden ones that matched; or, with an empty level, the patch is close to it, by so many `percent`.
    """

    id: str
    level: str = ""
    likeness: str = ""
    patterns: tuple[str, ...] = ()
    percent: int = 100


class Answer(Struct, frozen=True, kw_only=True):
    """All that `rules check` tells of a patch: `facts` as JSON; else `lines`, or, if a rule in force knows it, the words of the
    `refusal`. It `lasts` until the commit, expctl, a compiler or a fact of the machine is another one.
    """

    facts: Mapping[str, Any]
    lines: Sequence[str] = ()
    refusal: Mapping[str, str] = {}
    lasts: bool = False


class Near(Struct, frozen=True, kw_only=True):
    """A rejected experiment that a change is close to, without being the same."""

    record: Record
    percent: int
