"""The command `expctl brief`: print what an agent or a newcomer must know, in at most 4,000 words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

WORDS_MAX = 4000


def brief(
    words: Annotated[int, typer.Option(min=1500, max=WORDS_MAX, help="The most words; the least useful are cut.")] = WORDS_MAX,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Print what a proposer must know: protocol, baselines, noise, findings, rules, open questions, queue. Takes no lock."""
    import gc

    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.flow.brief import brief_here
    from expctl.views.brief import brief_text

    gc.disable()  # a short process frees nothing; collecting costs a tenth of its time
    place = wiring.here()
    git = wiring.reader(place)
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
    )
    if as_json:
        print_json(found, schema="brief/1")
    else:
        print_lines(brief_text(found).splitlines())
