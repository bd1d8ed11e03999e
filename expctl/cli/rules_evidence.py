"""The commands `expctl rules why` and `expctl rules test`: what a rule rests on, and what it can do on HEAD."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader
    from expctl.domain.experiment.record import Record

Experiment = Annotated[str, typer.Argument(metavar="ID", help="An experiment that left a rule.")]


def why(experiment: Experiment) -> None:
    """Show the chain of evidence of a rule: verdict, figures, files, how a repeat is known, what holds and what has changed."""
    from expctl import wiring
    from expctl.cli.output import print_lines
    from expctl.domain.rules.states import rule_states
    from expctl.views.rules import why_lines

    git = wiring.reader(place := wiring.here())
    head, book = git.head(), wiring.rulebook(place, git)
    record = _ruled(git, head, experiment)
    state = next(each for each in rule_states(book.ruled(head), book.circumstances(head)) if each.id == record.id)
    files = sorted(git.list_files(head, f"experiments/{record.id}"))
    print_lines(why_lines(record, state, files))


def test(experiment: Experiment) -> None:
    """Try a rule on HEAD: does its patch fit, what do the compilers make of it. Exit 0: it can refuse a repeat; 1: it can't."""
    from expctl import wiring
    from expctl.cli.output import print_lines
    from expctl.flow.rules.trial import try_rule
    from expctl.views.rules import trial_lines

    git = wiring.reader(place := wiring.here())
    head = git.head()
    tried = try_rule(wiring.rulebook(place, git), head, _ruled(git, head, experiment))
    print_lines(trial_lines(tried))
    if not tried.refuses:
        raise typer.Exit(1)


def _ruled(git: "GitReader", head: str, experiment: str) -> "Record":
    from expctl import wiring
    from expctl.domain.errors import Refused
    from expctl.domain.experiment.ids import check_id

    record = wiring.library(git).record(head, check_id(experiment))
    if record is None or record.rule is None:
        raise Refused(
            f"{experiment} left no do-not-repeat rule",
            code="no-such-rule",
            expected="an experiment that was rejected, and left a rule",
            found="no record of it in HEAD" if record is None else f"it ended {record.verdict}",
            hint="expctl rules lists those that there are",
        )
    return record
