"""The command `expctl replay`: compute the verdict again from the committed samples, and compare it with the record."""

from typing import TYPE_CHECKING, Annotated

import typer

from expctl.cli.experiment_ids import experiment_ids

if TYPE_CHECKING:
    from expctl.adapters.records.replay_outcome import Outcome


def replay(
    experiment: Annotated[
        str, typer.Argument(metavar="[ID]", help="An experiment that was measured.", autocompletion=experiment_ids)
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="Every experiment that was measured.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Recompute verdicts from the committed samples; exit 1 if a record has another verdict."""
    from expctl import wiring
    from expctl.adapters.records.replays import Replays
    from expctl.cli.output import print_result
    from expctl.domain.errors import Misused
    from expctl.domain.experiment.ids import check_id
    from expctl.domain.text import one_line

    if bool(experiment) == everything:
        raise Misused(
            "replay needs one ID or --all", code="replay-one-or-all", expected="expctl replay P15, or expctl replay --all"
        )
    git = wiring.reader(wiring.here())
    replays = Replays(wiring.library_of_git_alone(git), git.head())
    outcomes = replays.all() if everything else replays.of(check_id(experiment))
    lines = [f"{each.id:<8} {_word(each):<8} {one_line(each.text)}" for each in outcomes]
    print_result({"outcomes": outcomes}, lambda: lines, as_json, schema="replay/1")
    if any(each.differs for each in outcomes):
        raise typer.Exit(1)


def _word(outcome: "Outcome") -> str:
    return "differs" if outcome.differs else "same" if outcome.rule else "-"
