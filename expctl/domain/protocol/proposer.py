"""The types of `proposer:` in protocol.yaml: a command that proposes experiments, or the built-in sweep."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from expctl.domain.text import AUTHOR

COMBINATIONS_MAX = 10_000


class Sampler(StrEnum):
    """Which combinations of constants a sweep tries: all (`grid`), or as many as `trials` chosen by Optuna."""

    GRID = "grid"
    OPTUNA = "optuna"


class Screen(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a sweep ranks combinations of constants to find the one to propose; a rank never decides a verdict.

    The score is the gain over `rounds` rounds of the benchmark; or if `fact` names a figure of the build or profile, how much
    lower that is. It is measured on `target`.
    """

    rounds: int = 3
    fact: str = ""
    target: str = ""


class Sweep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values to try for named constants in one `file`: every combination of `constants`, or the listed `tuples`."""

    file: str
    constants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tuples: tuple[Mapping[str, str], ...] = ()
    screen: Screen = Screen()
    sampler: Sampler = Sampler.GRID
    trials: int = 20


class Leaves(StrEnum):
    """What a proposer's command leaves: the two files of a proposal, or edits in a scratch check-out and its words (`diff`)."""

    PROPOSAL = "proposal"
    DIFF = "diff"


class Proposer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What proposes experiments: a command that reads the brief and writes experiments/ID/ (docs/QUEUE.md), or a sweep.

    `author` (`Name <e-mail>`) is the author of the commits that its KEEPs land; "" is whom git knows. With `screen`, what it
    proposes is built and tested as `expctl try` does before it is queued. A coding agent needs what its user has: the home
    folder (`users_home`) and the variables `pass_through`.
    """

    argv: tuple[str, ...] = ()
    timeout_s: float = 600.0
    sweep: Sweep | None = None
    author: str = ""
    leaves: Leaves = Leaves.PROPOSAL
    screen: bool = False
    users_home: bool = False
    pass_through: tuple[str, ...] = ()


class Refusal(Struct, frozen=True, kw_only=True):
    """A proposal that was refused, with the error message. The proposer's command gets both on its next call."""

    id: str
    code: str
    refused: str
    expected: str = ""
    found: str = ""
    where: str = ""
    next: str = ""


def proposer_faults(proposer: Proposer | None, *, in_scope: bool, targets: Sequence[str]) -> list[str]:
    """Return one sentence for each contradiction in `proposer`; `in_scope` says whether a patch may touch the sweep's file."""
    if proposer is None:
        return []
    if proposer.author and not re.fullmatch(AUTHOR, proposer.author):
        return [f"proposer.author: expected Name <e-mail>, found {proposer.author!r}"]
    sweep = proposer.sweep
    if bool(proposer.argv) is (sweep is not None):
        return ["proposer: expected either argv or sweep, found both or none"]
    if proposer.timeout_s <= 0:
        return [f"proposer.timeout_s: expected more than 0, found {proposer.timeout_s:g}"]
    if sweep is None:
        return []
    found = [] if in_scope else [f"proposer.sweep.file: expected a file in the scope, found {sweep.file!r}"]
    if bool(sweep.constants) is bool(sweep.tuples):
        found.append("proposer.sweep: expected either constants or tuples, found both or none")
    if not all(sweep.constants.values()) or not all(sweep.tuples):
        found.append("proposer.sweep: expected at least one value for each constant, found none for one")
    if len({frozenset(each) for each in sweep.tuples}) > 1:
        found.append("proposer.sweep.tuples: expected the same names in each tuple, found different ones")
    if not 1 <= sweep.screen.rounds <= 46:
        found.append(f"proposer.sweep.screen.rounds: expected 1 to 46, found {sweep.screen.rounds}")
    if sweep.screen.target and sweep.screen.target not in targets:
        found.append(
            f"proposer.sweep.screen.target: expected one of targets ({', '.join(targets)}), found {sweep.screen.target}"
        )
    if bool(sweep.screen.target) is not bool(sweep.screen.fact):
        found.append("proposer.sweep.screen: expected both fact and target, or neither, found one")
    if sweep.trials < 1:
        found.append(f"proposer.sweep.trials: expected at least 1, found {sweep.trials}")
    size = 1
    for values in sweep.constants.values():
        size *= len(values)
    if size > COMBINATIONS_MAX:
        found.append(f"proposer.sweep.constants: expected at most {COMBINATIONS_MAX} combinations, found {size}")
    return found
