"""The command `expctl rules check`: say whether a do-not-repeat rule would refuse a patch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

FREE = "free: no do-not-repeat rule knows this change"


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
    if book.is_free(head, contents):
        _say_free(as_json)
        return False
    from expctl.flow.rules.repeat_check import evidence, lapse_text, matching_rules, refusal

    misfits = book.misfits(head, contents)
    if misfits is None:
        raise Refused(
            "the file is no patch, so no rule can be compared with it",
            code="not-a-patch",
            expected="a unified diff of text: --- and +++ with a name, then hunks that change something",
            found=f"{len(contents)} bytes without one",
            where=str(patch),
            hint="git diff > my.patch makes such a file",
        )
    found, near = matching_rules(book, head, contents)
    if not found and not near and not misfits:
        book.keep_free(head, contents)
        _say_free(as_json)
        return False
    from expctl.domain.text import one_line, written_reason

    closed = [match for match, changed in found if not changed]
    refused = bool(closed) and not written_reason(precondition)
    if as_json:
        matched = [
            {
                "rule": match.record.id,
                "level": match.level,
                "likeness": match.likeness,
                "reasons": match.record.reasons,
                "changed": changed,
            }
            for match, changed in found
        ]
        close = [{"rule": each.record.id, "percent": each.percent} for each in near]
        print_json({"refused": refused, "matches": matched, "near": close, "misfits": misfits}, schema="rules-check/1")
        return refused
    if refused:
        raise refusal(closed[0], "", *closed[1:])
    lines = [
        f"free: {match.record.id} matches ({match.level}), but is open again: {lapse_text(changed[0])}"
        for match, changed in found
        if changed
    ]
    lines += [f"free: {match.record.id} matches ({match.level}), let through for: {one_line(precondition)}" for match in closed]
    lines = lines or [FREE]
    lines += [f"note: close to {each.record.id} ({each.percent} %), {one_line(evidence(each.record), 160)}" for each in near]
    lines += [f"note: it does not fit {one_line(path)} as it is in HEAD; its own lines alone were compared" for path in misfits]
    print_lines(lines)
    return False


def _say_free(as_json: bool) -> None:
    from expctl.cli.output import print_json, print_lines

    if as_json:
        print_json({"refused": False, "matches": [], "near": [], "misfits": []}, schema="rules-check/1")
    else:
        print_lines([FREE])


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
