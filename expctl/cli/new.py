"""The command `expctl new`: queue a proposal."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.adapters.git.reader import Place
    from expctl.domain.experiment.proposal import Proposal
    from expctl.flow.queue.submit import Proposed

KEPT = "NEW_PROPOSAL"  # the text of an attempt that was given up or refused


def new(
    experiment: Annotated[str, typer.Argument(metavar="[ID]", help="Left out: the next free one.")] = "",
    from_diff: Annotated[
        bool, typer.Option("--from-diff", help="Take the local changes of the folders a patch may touch, and undo them.")
    ] = False,
    patch: Annotated[Path | None, typer.Option(help="A unified diff to propose; - reads it.")] = None,
    playbook: Annotated[
        str, typer.Option("--from", metavar="PLAYBOOK", help="Take title, hypothesis, kind and often the change from it.")
    ] = "",
    list_playbooks: Annotated[
        bool, typer.Option("--playbooks", help="List the playbooks for --from, and queue nothing.")
    ] = False,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Set a variable instead of changing code; NAME alone unsets it."),
    ] = None,
    argument: Annotated[list[str] | None, typer.Option(help="Replace the {arguments} in protocol.yaml; '' for none.")] = None,
    interpreter: Annotated[str | None, typer.Option(help="Run on a Python that protocol.yaml names; '' for the usual.")] = None,
    title: Annotated[str | None, typer.Option(help="What changes, in a few words. Left out: your editor asks.")] = None,
    hypothesis: Annotated[str | None, typer.Option(help="Why it should help. Left out: your editor asks.")] = None,
    kind: Annotated[str, typer.Option(help="perf, simplify, config, infra or analysis; config where options are set.")] = "",
    mode: Annotated[str, typer.Option(help="gain, gain-costly (larger, for complex code) or simplify (may lose a bit).")] = "",
    expect: Annotated[str, typer.Option(help="The verdict you predict: KEEP, REJECT, ...")] = "KEEP",
    gain: Annotated[str, typer.Option(metavar="LOW,HIGH", help="The gain of the objective that you predict, in percent.")] = "",
    depends_on: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="P15 (it must be kept first), or P15.build.vgpr <= 128, ... (docs/QUEUE.md)."),
    ] = None,
    precondition: Annotated[str, typer.Option(help="What is new, when a do-not-repeat rule forbids the change.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Queue a proposed experiment: commit its experiment.yaml (hypothesis, options) and change.patch. Measures nothing."""
    import sys
    from functools import partial

    from expctl import wiring
    from expctl.adapters.git.editor import words_from_editor
    from expctl.adapters.playbooks import shelf
    from expctl.adapters.records.proposal_file import proposal_text
    from expctl.cli.output import after, print_result
    from expctl.domain.errors import Misused, Refused
    from expctl.domain.experiment.ids import check_id
    from expctl.domain.patch.unified_diff import PATCH_BYTES_MAX
    from expctl.domain.protocol.same_build import named_to_decide
    from expctl.domain.text import one_line
    from expctl.files import user_file
    from expctl.views.playbooks import playbook_lines

    if list_playbooks:
        known = shelf.playbooks()
        facts = [{"name": name, "playbook": each} for name, each in known.items()]
        print_result({"playbooks": facts}, lambda: playbook_lines(known), as_json, schema="playbooks/1")
        return
    if experiment:
        check_id(experiment)
    sets = bool(env) or argument is not None or interpreter is not None
    contents = None
    if playbook:
        found, contents = shelf.playbook(playbook)
        shelf.check_change(playbook, found, given=from_diff or patch is not None or sets)
        title, hypothesis, kind = title or found.title, hypothesis or found.hypothesis, kind or found.kind
        env, sets = env or list(found.env), sets or bool(found.env)
    if contents is None and [from_diff, patch is not None, sets].count(True) != 1:
        raise Misused(
            "the change must be named exactly once",
            code="no-change-named",
            expected="either --from-diff, or --patch FILE, or options (--env, --argument, --interpreter), or --from PLAYBOOK",
            found="several" if from_diff or sets or patch else "none",
            hint="expctl new --from-diff",
        )
    place = wiring.here()
    if patch is not None:
        contents = user_file.contents(patch, "the patch", bytes_max=PATCH_BYTES_MAX)
    if sets:
        arguments = None if argument is None else [word for word in argument if word]
        contents, said = wiring.options_patch(place, env or (), arguments, interpreter)
        title = title or said
    kept, asks = place.state / KEPT, None in (title, hypothesis) and sys.stdin.isatty() and sys.stdout.isatty()
    if asks:
        title, hypothesis = words_from_editor(kept, title=title or "", hypothesis=hypothesis or "")
    text_of = partial(
        proposal_text,
        title="captured change" if title is None else title,
        hypothesis="not stated" if hypothesis is None else hypothesis,
        kind=kind or ("config" if sets else "perf"),
        mode=mode,
        expect=expect,
        gain=gain,
        depends_on=tuple(depends_on or ()),
        precondition=precondition,
    )
    try:
        made = _propose(place, experiment, text_of, contents)
    except Refused as refusal:
        refusal.hint += f"; your words are kept in {kept}, and the same command goes on with them" if asks else ""
        raise
    if asks:
        kept.unlink(missing_ok=True)
    lines = [f"{made.id}  queued in {made.commit[:7]}: {one_line(made.title)}", f"  changes    {', '.join(made.files)}"]
    lines += [f"  restored   {', '.join(made.restored)}"] if made.restored else []
    lines.append(f"  next       expctl run {made.id}")
    protocol = wiring.library(wiring.reader(place)).protocol(made.commit)
    others = {name: "on its machine, " * (name in wiring.absent_targets(protocol)) for name in named_to_decide(protocol)}
    lines += [
        f"  or         expctl run {made.id} --target {name}  # {where}if {name} is to decide" for name, where in others.items()
    ]
    with after(f"{made.id} is queued in {made.commit[:7]}"):
        print_result(made, lambda: lines, as_json, schema="new/1")


def _propose(place: "Place", experiment: str, text_of: Callable[[str], bytes], contents: bytes | None) -> "Proposed":
    """Queue it under its id, or under the next free one, which somebody else may take meanwhile."""
    import sys

    from expctl import wiring
    from expctl.flow.queue.next_free import propose_next
    from expctl.views.console import ConsoleProgress

    with ConsoleProgress(sys.stderr) as progress:
        return propose_next(
            lambda: wiring.context(place, progress),
            text_of,
            _proposal,
            contents,
            experiment=experiment,
            begun=lambda: [each.experiment for each in wiring.running(place)],
        )


def _proposal(experiment: str, text: bytes) -> "Proposal":
    import re

    from expctl.adapters.records.proposal_file import proposal_of
    from expctl.domain.errors import Misused, Refused

    try:
        return proposal_of(text, f"experiments/{experiment}")
    except Refused as refusal:  # the file is made of the command line, so that is wrong
        raise Misused(
            f"the options do not make a valid experiment.yaml for {experiment}",
            code="proposal-words-unfit",
            expected="values that experiment.yaml accepts",
            found=re.sub(r" \(line \d+\)", "", refusal.found),
            hint="correct these options and run the command again; expctl new --help",
        ) from refusal
