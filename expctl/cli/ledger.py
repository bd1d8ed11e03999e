"""The command `expctl ledger`: write ledger.md from the records, or check that it is what would be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

    from expctl.adapters.git.reader import Place
    from expctl.domain.experiment.hot_loop import HotLoop
    from expctl.domain.ledger.model import Ledger


def ledger(
    check: Annotated[bool, typer.Option("--check", help="Fail when ledger.md on disk differs from the records.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ledger's facts as JSON instead of writing it.")] = False,
    count: Annotated[
        bool, typer.Option("--count", help="First count hot loops that changed, and write them to experiments/hot_loops.json.")
    ] = False,
    plot: Annotated[
        str, typer.Option(metavar="FILE", help="Draw every experiment's effect and verdict to a .png or .svg instead.")
    ] = "",
) -> None:
    """Write ledger.md, computed from the committed records alone; with --check compare it with them and write nothing."""
    import gc

    from expctl import wiring
    from expctl.adapters.records.ledger_file import ledger_mend, ledger_on_disk
    from expctl.cli.output import after, print_json, print_lines
    from expctl.domain.errors import Refused
    from expctl.files import atomic_write
    from expctl.flow.repository.ledger_inputs import read_ledger
    from expctl.views.ledger.document import render

    gc.disable()  # a short process frees nothing; collecting only costs time
    place = wiring.here()
    git = wiring.reader(place)
    library, head = wiring.library_of_git_alone(git) if check else wiring.library(git), git.found_head()
    library.read_ahead(head)
    view = read_ledger(library, head, _counted(place) if count else None)
    if plot:
        _draw(view, plot)
        return
    text = render(view).encode()
    file = place.root / "ledger.md"
    on_disk = ledger_on_disk(file)
    same = on_disk == text
    if on_disk is not None and not same and (check or b"\r\n" in on_disk):
        same = git.blob_on_disk("ledger.md") == git.blob_of(text)  # git may check out other line ends
    if check:
        if not same:
            raise Refused(
                "ledger.md is not what the committed records say",
                code="ledger-differs",
                expected="exactly what `expctl ledger` writes",
                found="no file that can be compared"
                if on_disk is None
                else f"a difference in line {_first_difference(on_disk, text)}",
                where="ledger.md",
                hint=ledger_mend(file),
            )
        if not as_json:
            print_lines(["ledger.md is what the committed records say"])
    elif not as_json:
        if not same:
            if file.is_dir() or file.is_symlink():
                raise Refused(
                    "ledger.md is not a file",
                    code="ledger-not-a-file",
                    expected="a regular file, or nothing of this name",
                    found=str(file),
                    hint=ledger_mend(file),
                )
            atomic_write.replace_for_user(file, text)
        with after("ledger.md is up to date"):
            print_lines([f"ledger.md {'is up to date' if same else 'written'}"])
    if as_json:
        print_json(view, schema="ledger/1")


def _counted(place: Place) -> tuple[HotLoop, ...]:
    """Count the hot loops of HEAD and write them to the file that is to be committed with the ledger."""
    from expctl.adapters.records.hot_loop_file import hot_loops_bytes
    from expctl.cli.brief import count_loops
    from expctl.domain.experiment.hot_loop import FILE
    from expctl.files import atomic_write

    found = count_loops(place)
    file = place.root / FILE
    file.parent.mkdir(exist_ok=True)
    atomic_write.replace_for_user(file, hot_loops_bytes(found))
    return found


def _draw(view: Ledger, plot: str) -> None:
    from pathlib import Path

    from expctl.cli.output import print_lines
    from expctl.cli.picture import picture_format, write_picture
    from expctl.domain.errors import Refused
    from expctl.views.plot.effects import ledger_picture

    suffix = picture_format(Path(plot), "expctl ledger --plot out.svg")
    if not view.counts.measured:
        raise Refused(
            "there is nothing to draw",
            code="no-experiment-to-draw",
            expected="an experiment that was measured here",
            found="no record of one",
            hint="expctl run --all measures what waits",
        )
    write_picture(Path(plot), lambda: ledger_picture(view, suffix))
    print_lines([f"drawn in {plot}"])


def _first_difference(one: bytes, other: bytes) -> int:
    pairs = zip(one.splitlines(), other.splitlines(), strict=False)
    return next(
        (number for number, (a, b) in enumerate(pairs, start=1) if a != b), min(one.count(b"\n"), other.count(b"\n")) + 1
    )
