"""The command `expctl brief`: print what an agent or a newcomer must know, in at most 4,000 words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

    from expctl.adapters.git.reader import Place
    from expctl.domain.experiment.hot_loop import HotLoop

WORDS_MAX = 4000


def brief(
    words: Annotated[int, typer.Option(min=1500, max=WORDS_MAX, help="The most words; the least useful are cut.")] = WORDS_MAX,
    about: Annotated[
        str, typer.Option(metavar="PATH", help="Only rules and findings that touch this file or folder of the repository.")
    ] = "",
    count: Annotated[
        bool, typer.Option("--count", help="Count hot loops first that weren't counted: builds, times nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Print what a proposer must know: protocol, how to propose, hot loop, baselines, noise, findings, rules, queue. Takes no
    lock, unless it has to --count.
    """
    import gc

    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.brief.text import brief_text
    from expctl.flow.brief import brief_here

    gc.disable()  # a short process frees nothing; collecting costs a tenth of its time
    place = wiring.here()
    git = wiring.reader(place)
    if count:
        count_loops(place)
    library, head = wiring.library(git), git.found_head()
    library.read_ahead(head)
    machine = wiring.machine()
    found = brief_here(
        library,
        wiring.calibrations(machine),
        wiring.rulebook(place, git, tries=False),
        head=head,
        machine=machine,
        words_max=words,
        loops=wiring.hot_loops(place),
        about=wiring.about(git, head, about) if about else None,
        absent=wiring.absent_targets(library.protocol(head)),
    )
    if as_json:
        print_json(found, schema="brief/1")
    else:
        print_lines(brief_text(found).splitlines())


def count_loops(place: Place) -> tuple[HotLoop, ...]:
    """Count the hot loops of HEAD; say on standard error which can't be counted here, and return the others."""
    import os
    import sys

    from expctl import wiring
    from expctl.flow.measuring.hot_loops import Uncounted

    if wiring.measured_beside():
        os.nice(19)  # what is being timed comes first
    found = wiring.count_hot_loops(place)
    for each in found:
        if isinstance(each, Uncounted):
            print(f"not counted: {each.target}: {each.why}", file=sys.stderr)
    return tuple(each for each in found if not isinstance(each, Uncounted))
