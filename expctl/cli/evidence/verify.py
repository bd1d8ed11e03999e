"""The command `expctl verify`: hold a clone of anybody's repository against its own evidence, and believe no cache."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.domain.history.evidence import Verified


BELIEVE = "expctl verify --since COMMIT believes what came before a commit, such as edits by hand (docs/VERIFY.md)"


def verify(
    since: Annotated[
        str, typer.Option("--since", metavar="COMMIT", help="Believe the kernel of this commit, and what came before.")
    ] = "",
    signers: Annotated[
        Path | None,
        typer.Option("--signers", metavar="FILE", help="git's file of allowed signers: each record must be signed by one."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Check that verdicts follow from samples, KEEPs are what was measured, nothing else changed the kernel; else exit 1."""
    from expctl import wiring
    from expctl.adapters.records.verification import Verification
    from expctl.cli.output import print_result

    git = wiring.reader(wiring.here())
    found = Verification(git, wiring.library_of_git_alone(git), git.head()).verified(since=since, signers=signers)
    is_verified = bool(found.records) and not found.faults
    print_result({"verified": is_verified, "result": found}, lambda: _lines(found), as_json, schema="verify/1")
    if found.faults:
        raise typer.Exit(1)


def _lines(found: "Verified") -> list[str]:
    from expctl.domain.text import one_line

    faults = [f"{each.where:<11} {one_line(each.what)}" for each in found.faults]
    return [*faults, found.sentence(), *([f"  next      {BELIEVE}"] if faults else [])]
