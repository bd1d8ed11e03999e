"""The command `expctl show`: show one experiment completely."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from expctl.cli.experiment_ids import experiment_ids
from expctl.domain.experiment.ids import ID_PATTERN

if TYPE_CHECKING:
    from expctl.adapters.records.repository_contents import GitLibrary
    from expctl.domain.experiment.record import Record
    from expctl.domain.verdict.plot_data import Picture

TERMINAL = "-"


class ShowCommand(TyperCommand):
    """The command `show` for typer. Its option `--plot` may have no value, which means to draw in the terminal."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the value `-` after a `--plot` without one, because typer has no options with optional values."""
        given = []
        for word, following in zip(args, [*args, ""][1:], strict=True):
            given.append(word)
            if word == "--plot" and (not following or following.startswith("--") or ID_PATTERN.fullmatch(following)):
                given.append(TERMINAL)
        return super().parse_args(ctx, given)


def show(
    experiment: Annotated[
        str, typer.Argument(metavar="ID", help="An experiment, queued or concluded.", autocompletion=experiment_ids)
    ],
    apply: Annotated[bool, typer.Option("--apply", help="Apply its patch here; the scope must have no local changes.")] = False,
    plot: Annotated[
        str, typer.Option(metavar="[FILE]", help="Draw rounds, boundaries and estimate: a .png or .svg file, or here.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Show one experiment: hypothesis, prediction, outcome, measured effects, reasons, change of resources and profile."""
    from functools import partial

    from expctl import wiring
    from expctl.cli.output import print_lines, print_result
    from expctl.cli.picture import picture_format
    from expctl.domain.errors import Misused, Refused
    from expctl.domain.experiment.ids import check_id
    from expctl.views.console import ConsoleProgress
    from expctl.views.report import proposal_lines

    check_id(experiment)
    if plot and (apply or as_json):
        raise Misused(
            "--plot can't be combined with --apply or --json",
            code="plot-not-alone",
            expected="--plot alone",
            hint=f"expctl show {experiment} --plot",
        )
    hint = "expctl show ID --plot out.png, or --plot - for the terminal"
    suffix = "" if plot in ("", TERMINAL) else picture_format(Path(plot), hint)
    place = wiring.here()
    if apply:
        from expctl.flow.queue.submit import reapply

        applied = reapply(wiring.context(place, ConsoleProgress()), experiment)
        print_lines([f"applied to the work tree: {', '.join(applied.files)}"])
        if applied.conflicts:
            print_lines([f"conflicts: {', '.join(applied.conflicts)}", _resolve(experiment)])
            raise typer.Exit(1)
        return
    git = wiring.reader(place)
    library, head = wiring.library(git), git.head()
    record = library.record(head, experiment)
    if record is not None:
        from expctl.flow.repository.standing_records import with_times

        if plot:
            _draw(wiring.pictures(place, git).of_record(record), plot, suffix)
        else:
            shown = with_times(library, head, record)
            lines = partial(_lines, library, head, shown)
            print_result(shown, lines, as_json, schema=f"record/{record.schema}")
        return
    for malformed in library.malformed(head, [experiment]):
        raise malformed.refusal()
    proposals = {each.id: each for each in library.some_proposals(head, [experiment])}
    if experiment not in proposals:
        raise Refused(
            f"there is no experiment {experiment}",
            code="experiment-unknown",
            expected="an experiment that is committed",
            found=f"no experiments/{experiment} in {head[:10]}",
            hint="expctl status lists what waits, ledger.md everything",
        )
    if plot:
        _draw(wiring.pictures(place, git).of_proposal(proposals[experiment]), plot, suffix)
        return
    found = proposals[experiment]
    lines = partial(proposal_lines, found, library.protocol(head).references)
    print_result(found, lines, as_json, schema="proposal/1")


def _resolve(experiment: str) -> str:
    return (
        f"HEAD's lines stand above =======, those of {experiment} below: keep what is right, remove the markers, then"
        f" expctl new --from-diff, and expctl withdraw {experiment} --why 'merged as ID'"
    )


def _lines(library: "GitLibrary", head: str, record: "Record") -> list[str]:
    from expctl.domain.experiment.predictions import accuracy_of, accuracy_text
    from expctl.domain.history.epochs import epochs_from
    from expctl.views.report import epoch_lines, labelled, record_lines

    digests = library.digests(head)
    epoch = epochs_from(each for digest in digests for each in digest.measurings).of.get(record.id)
    rate = accuracy_text(accuracy_of(each.told for each in digests if each.told))
    placed = [*(epoch_lines(epoch) if epoch else []), *(labelled("so far", rate) if record.prediction else [])]
    return record_lines(record, library.protocol(head).references, placed)


def _draw(picture: "Picture", plot: str, suffix: str) -> None:
    from expctl.cli.output import print_lines
    from expctl.cli.picture import write_picture

    if plot == TERMINAL:
        from expctl.views.plot.ascii import chart_lines

        print_lines(chart_lines(picture))
        return
    from expctl.views.plot.png import figure_bytes

    write_picture(Path(plot), lambda: figure_bytes(picture, suffix), otherwise="; or --plot -")
    print_lines([f"drawn in {plot}"])
