"""The command `expctl rules check`: say whether a do-not-repeat rule would refuse a patch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer


def check(
    patch: Annotated[Path, typer.Argument(help="A unified diff against HEAD.")],
    precondition: Annotated[str, typer.Option(help="What is new, as it would stand in experiment.yaml.")] = "",
    assume: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Suppose another value of ziglang, hipcc, nvcc, cc, architecture or epoch."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Check whether a do-not-repeat rule refuses this patch: exit 0 no, 1 yes. Compiles where words don't tell."""
    if _refuses(patch, precondition, assume or (), as_json=as_json):
        import typer

        raise typer.Exit(1)


def check_quickly(patch: Path, *, as_json: bool) -> None:
    """Do what `check` does with a patch and perhaps --json, without typer: importing that takes as long as the answer."""
    if _refuses(patch, "", (), as_json=as_json):
        sys.exit(1)


def _refuses(patch: Path, precondition: str, assume: Sequence[str], *, as_json: bool) -> bool:
    """Print the answer as facts or lines; return whether a rule refuses the patch. In lines, raises Refused if one does."""
    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.errors import Refused
    from expctl.domain.patch.unified_diff import PATCH_BYTES_MAX
    from expctl.files import user_file

    contents = user_file.contents(patch, "the patch", bytes_max=PATCH_BYTES_MAX)
    git = wiring.reader(place := wiring.here())
    head, book = git.found_head(), wiring.rulebook(place, git, assumed(assume))
    answer = book.kept(head, contents) if not precondition else None
    if answer is None:
        from expctl.flow.rules.whole_answer import whole_answer

        answer = whole_answer(book, head, contents, precondition, str(patch))
        if not precondition:
            book.keep(head, contents, answer)
    if as_json:
        print_json(answer.facts, schema="rules-check/1")
    elif answer.refusal:
        raise Refused.again(answer.refusal)
    else:
        print_lines(answer.lines)
    return bool(answer.facts["refused"])


def assumed(words: Sequence[str]) -> dict[str, str]:
    """Return condition -> value, from words of --assume such as `ziglang=0.17.0`. Raises Misused for a malformed word."""
    if not words:
        return {}
    from expctl.domain.errors import Misused
    from expctl.domain.rules.conditions import ARCHITECTURE, COMPILERS, EPOCH

    known = (*COMPILERS, ARCHITECTURE, EPOCH)
    for word in words:
        name, sign, value = word.partition("=")
        if name not in known or not sign or not value:
            raise Misused(
                "--assume names no known condition with a value",
                code="unknown-assumption",
                expected=f"NAME=VALUE, where NAME is one of {', '.join(known)}",
                found=word[:80],
                hint="expctl rules --assume ziglang=0.17.0",
            )
    return dict(word.split("=", 1) for word in words)
