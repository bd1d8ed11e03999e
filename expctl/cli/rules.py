"""`expctl rules`: what must not be repeated, what is open again, and whether a patch would be refused."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.domain.experiment import Probe

app = typer.Typer(
    help="Do-not-repeat rules: active, open again, waived; would a patch be refused?", invoke_without_command=True
)
Json = Annotated[bool, typer.Option("--json", help="Print facts as JSON.")]
Assume = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Suppose another compiler version, epoch or architecture: ziglang=0.17.0."),
]
PATCH_BYTES_MAX = 16_000_000


@app.callback()
def rules(
    ctx: typer.Context,
    probe: Annotated[str, typer.Option(metavar="ID", help="Try the probe of one rule.")] = "",
    arch: Annotated[str, typer.Option(metavar="GPU", help="With --probe: for this architecture as well.")] = "",
    assume: Assume = None,
    as_json: Json = False,
) -> None:
    """Rules that are active, open again (with the condition that changed) and waived."""
    if ctx.invoked_subcommand is not None:
        return
    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.errors import Misused
    from expctl.domain.rule_states import rule_states
    from expctl.views.rules import rules_lines

    if arch and not probe:
        raise Misused(
            "--arch is for a probe",
            expected="--probe ID with it",
            found=arch[:60],
            hint="expctl rules --probe P2 --arch gfx1250",
        )
    if probe:
        _try_probe(probe, arch, as_json)
        return
    git = wiring.reader(place := wiring.here())
    head, book = git.head(), wiring.rulebook(place, git, _assumed(assume or []))
    states = rule_states(book.ruled(head), book.circumstances(head))
    if as_json:
        print_json(states)
    else:
        print_lines(rules_lines(states))


@app.command()
def check(
    patch: Annotated[Path, typer.Argument(help="A unified diff against HEAD.")],
    precondition: Annotated[str, typer.Option(help="What is new, as it would stand in experiment.yaml.")] = "",
    assume: Assume = None,
    as_json: Json = False,
) -> None:
    """Would this patch be refused? 0: no, 1: yes, with the evidence. Machine code is compared once it is built, by `run`."""
    from expctl import wiring
    from expctl.adapters import user_file
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.errors import Refused
    from expctl.domain.text import one_line
    from expctl.flow.repeats import lapse_text, look_up, refusal

    contents = user_file.contents(patch, "the patch", bytes_max=PATCH_BYTES_MAX)
    git = wiring.reader(place := wiring.here())
    head, book = git.head(), wiring.rulebook(place, git, _assumed(assume or []))
    misfits = book.misfits(head, contents)
    if misfits is None:
        raise Refused(
            "this is no patch that rules could know",
            expected="a unified diff of text: --- and +++ with a name, then hunks that change something",
            found=f"{len(contents)} bytes without one",
            where=str(patch),
            hint="git diff > my.patch makes one",
        )
    found = look_up(book, head, contents)
    closed = [match for match, changed in found if not changed]
    refused = bool(closed) and not precondition.strip()
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
        print_json({"refused": refused, "matches": matched, "misfits": misfits})
        if refused:
            raise typer.Exit(1)
        return
    if refused:
        raise refusal(closed[0], "")
    lines = [
        f"free: {match.record.id} matches ({match.level}), but is open again: {lapse_text(changed[0])}"
        for match, changed in found
        if changed
    ]
    lines += [f"free: {match.record.id} matches ({match.level}), let through for: {one_line(precondition)}" for match in closed]
    lines = lines or ["free: no do-not-repeat rule knows this change; its machine code is compared when it is built"]
    lines += [f"note: it does not fit {one_line(path)} as it is in HEAD; its own lines alone were compared" for path in misfits]
    print_lines(lines)


def _assumed(words: list[str]) -> dict[str, str]:
    """Raises Misused for a word that is no NAME=VALUE, or a name that no condition has."""
    from expctl.domain.conditions import ARCHITECTURE, COMPILERS, EPOCH
    from expctl.domain.errors import Misused

    known = (*COMPILERS, ARCHITECTURE, EPOCH)
    for word in words:
        name, sign, value = word.partition("=")
        if name not in known or not sign or not value:
            raise Misused(
                "this can't be assumed",
                expected=f"NAME=VALUE, where NAME is one of {', '.join(known)}",
                found=word[:80],
                hint="expctl rules --assume ziglang=0.17.0",
            )
    return dict(word.split("=", 1) for word in words)


def _try_probe(experiment: str, arch: str, as_json: bool) -> None:
    from dataclasses import replace

    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.errors import Refused
    from expctl.domain.experiment import check_id
    from expctl.views.rules import probe_lines

    git = wiring.reader(place := wiring.here())
    head = git.head()
    record = wiring.library(git).record(head, check_id(experiment))
    found: Probe | None = record.rule.probe if record is not None and record.rule is not None else None
    if found is None:
        book = wiring.rulebook(place, git)
        held = [each.id for each in book.ruled(head) if each.rule is not None and each.rule.probe is not None]
        raise Refused(
            f"no rule of {experiment} has a probe",
            expected="an experiment whose rule is held by a snippet",
            found=f"those with one: {', '.join(held) or 'none'}",
            hint="expctl rules",
        )
    now = wiring.rulebook(place, git).circumstances(head)
    wanted = dict.fromkeys(each for each in (found.arch, arch) if each)
    answers = [(each, now.probe(replace(found, arch=each))) for each in wanted]
    if as_json:
        print_json({"id": experiment, "probe": found, "answers": dict(answers)})
    else:
        print_lines(probe_lines(experiment, found, answers))
