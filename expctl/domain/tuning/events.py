"""What a tuning has done so far, as its journal keeps it: after a kill the same command goes on from there."""

from collections.abc import Mapping

from msgspec import Struct

from expctl.domain.verdict.samples import Sample


class TuningBegun(Struct, frozen=True, kw_only=True):
    """A tuning began at the commit `base`, by `command`. `rests_on` identifies what is tuned and what judges it there: where a
    branch has something else, no command goes on with this tuning.
    """

    base: str
    rests_on: str
    command: str


class Gated(Struct, frozen=True, kw_only=True):
    """The static gate is passed: the configs that go on, and why each of the others does not."""

    configs: tuple[str, ...]
    dropped: Mapping[str, str]


class Screened(Struct, frozen=True, kw_only=True):
    """The screen of one bucket: its launches, ln t of each config, the current one's as the control. `now` is the current
    config, "" if the benchmark doesn't say, or has another for each shape.
    """

    bucket: str
    launches: tuple[Mapping[str, float], ...]
    now: str = ""


class Shot(Struct, frozen=True, kw_only=True):
    """One round of some contests, by their key; or of the comparison of the whole list, by the key of its proposal."""

    samples: Mapping[str, tuple[Sample, ...]]


class Landing(Struct, frozen=True, kw_only=True):
    """The branch is about to move to `commit`, the record of `experiment`. `asked` hashes what the command was asked for."""

    experiment: str
    commit: str
    asked: str


TuneEvent = TuningBegun | Gated | Screened | Shot | Landing
