"""The command `expctl show`: show one experiment completely."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand

from expctl.domain.experiment.ids import ID_PATTERN

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click

    from expctl.domain.experiment.record import Record
    from expctl.domain.ledger.record_summary import RecordSummary
    from expctl.domain.verdict.plot_data import Picture

SUFFIXES = ("png", "svg")
TERMINAL = "-"


class ShowCommand(TyperCommand):
    """The command `show`, in which `--plot` may stand without a value and then means the terminal."""

    def parse_args(self, ctx: "click.Context", args: list[str]) -> list[str]:
        """Add the value `-` to a `--plot` without one, because typer has no options with optional values."""
        given = []
        for word, following in zip(args, [*args, ""][1:], strict=True):
            given.append(word)
            if word == "--plot" and (not following or following.startswith("--") or ID_PATTERN.fullmatch(following)):
                given.append(TERMINAL)
        return super().parse_args(ctx, given)


def show(
    experiment: Annotated[str, typer.Argument(metavar="ID")],
    apply: Annotated[bool, typer.Option("--apply", help="Put its patch into the work tree, on a clean scope.")] = False,
    plot: Annotated[
        str, typer.Option(metavar="[FILE]", help="Draw rounds, boundaries and estimate: a .png or .svg file, or here.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Show hypothesis, prediction and outcome, numbers, reasons, resource and profile change of one experiment."""
    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.errors import Misused, Refused
    from expctl.domain.experiment.ids import check_id
    from expctl.views.console import ConsoleProgress
    from expctl.views.report import proposal_lines, record_lines

    check_id(experiment)
    if plot and (apply or as_json):
        raise Misused(
            "a picture comes alone",
            code="plot-not-alone",
            expected="--plot without --apply and --json",
            hint=f"expctl show {experiment} --plot",
        )
    _check_plot(plot)
    place = wiring.here()
    if apply:
        from expctl.flow.queue.submit import reapply

        changed = reapply(wiring.context(place, ConsoleProgress()), experiment)
        print_lines([f"applied to the work tree: {', '.join(changed)}"])
        return
    git = wiring.reader(place)
    library, head = wiring.library(git), git.head()
    record = library.record(head, experiment)
    if record is not None:
        if plot:
            _draw(wiring.pictures(place, git).of_record(record), plot)
        elif as_json:
            print_json(record)
        else:
            print_lines(record_lines(record, library.protocol(head).references, _place_lines(library.digests(head), record)))
        return
    for malformed in library.malformed(head, [experiment]):
        raise malformed.refusal()
    proposals = {each.id: each for each in library.some_proposals(head, [experiment])}
    if experiment not in proposals:
        raise Refused(
            f"there is no {experiment}",
            code="experiment-unknown",
            expected="an experiment that is committed",
            found=f"no experiments/{experiment} in {head[:10]}",
            hint="expctl status lists what waits, ledger.md everything",
        )
    if plot:
        _draw(wiring.pictures(place, git).of_proposal(proposals[experiment]), plot)
    elif as_json:
        print_json(proposals[experiment])
    else:
        print_lines(proposal_lines(proposals[experiment], library.protocol(head).references))


def _place_lines(digests: "Sequence[RecordSummary]", record: "Record") -> list[str]:
    from expctl.domain.experiment.predictions import accuracy_of, accuracy_text
    from expctl.domain.history.epochs import epochs_from
    from expctl.views.report import epoch_lines, labelled

    epoch = epochs_from(each for digest in digests for each in digest.measurings).of.get(record.id)
    rate = accuracy_text(accuracy_of(each.told for each in digests if each.told))
    return [*(epoch_lines(epoch) if epoch else []), *(labelled("so far", rate) if record.prediction else [])]


def _check_plot(plot: str) -> None:
    from expctl.domain.errors import Misused

    if plot not in ("", TERMINAL) and _suffix(plot) not in SUFFIXES:
        raise Misused(
            "this is not a picture that can be drawn",
            code="not-a-picture-file",
            expected=f"a file name that ends in {' or '.join(f'.{each}' for each in SUFFIXES)}, or - for the terminal",
            found=plot,
            hint="expctl show ID --plot out.png",
        )


def _draw(picture: "Picture", plot: str) -> None:
    from expctl.cli.output import print_lines
    from expctl.domain.errors import Refused

    if plot == TERMINAL:
        from expctl.views.plot.ascii import chart_lines

        print_lines(chart_lines(picture))
        return
    from expctl.files import atomic_write
    from expctl.views.plot.png import figure_bytes

    try:
        contents = figure_bytes(picture, _suffix(plot))
        atomic_write.replace(Path(plot), contents)
    except ModuleNotFoundError as error:
        raise Refused(
            "matplotlib draws picture files, and it is not installed",
            code="matplotlib-not-installed",
            expected="the extra `plot` of expctl",
            found=f"no module {error.name}",
            hint="pip install 'expctl[plot]' (in its repository: pip install -c constraints.txt -e '.[plot]'); or --plot -",
        ) from error
    except OSError as error:
        raise Refused(
            f"cannot write {plot}", code="file-not-writable", found=str(error.strerror), where=plot, hint="name another file"
        ) from error
    print_lines([f"drawn in {plot}"])


def _suffix(plot: str) -> str:
    return Path(plot).suffix.lower().removeprefix(".")
