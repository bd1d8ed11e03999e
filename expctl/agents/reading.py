"""The tools and resources that only read: brief, status, show, rules_check; ledger, records, protocol."""

import json

from expctl import wiring
from expctl.adapters.codec.decode import encode
from expctl.adapters.git.reader import GitReader, Place
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.agents import answers, arguments
from expctl.domain.errors import Refused
from expctl.domain.experiment.ids import check_id, id_order
from expctl.domain.text import written_reason

RESOURCES = {
    "ledger": ("text/markdown", "ledger.md as it is committed: every experiment with its verdict and reason."),
    "records": ("application/json", "The ids of all experiments with their verdicts, null while one is queued."),
    "protocol": ("application/yaml", "protocol.yaml as it is committed: what may be changed, and how it is judged."),
}
SCHEME = "expctl://"


def brief(place: Place, taken: arguments.BriefArguments) -> answers.BriefAnswer:
    """Return what a proposer must know."""
    from expctl.domain.brief.text import brief_text
    from expctl.domain.experiment.ids import next_number
    from expctl.flow.brief import brief_here

    git, library, head = _committed(place)
    machine = wiring.machine()
    found = brief_here(
        library,
        wiring.calibrations(machine),
        wiring.rulebook(place, git, tries=False),
        head=head,
        machine=machine,
        words_max=taken.words,
        loops=wiring.hot_loops(place),
        about=wiring.about(git, head, taken.about) if taken.about else None,
        absent=wiring.absent_targets(library.protocol(head)),
    )
    return answers.BriefAnswer(
        head=head,
        text=brief_text(found),
        verdicts={str(verdict): count for verdict, count in found.verdicts.items()},
        next_id=f"P{next_number(library.experiments(head))}",
    )


def status(place: Place, taken: arguments.Arguments) -> answers.StatusAnswer:  # noqa: ARG001  a tool takes its arguments
    """Return the facts of `expctl status`."""
    from expctl.flow.repository.beside import unmerged
    from expctl.flow.status import read_status

    git, library, head = _committed(place)
    found = read_status(
        library,
        head=head,
        branch=git.branch(),
        running=wiring.running(place),
        machine=wiring.machine(),
        absent=wiring.absent_targets,
        beside=unmerged(git),
        gate=lambda protocol: wiring.gate_now(place, protocol),
        edited=git.is_edited(head, "protocol.yaml"),
    )
    return answers.StatusAnswer(
        name=found.name,
        branch=found.branch,
        head=found.head,
        baselines=encode(found.baselines),
        running=encode(found.running),
        queue=encode(found.queue),
        last=encode(found.last),
        debts=list(found.debts),
        blocking=encode(found.blocking),
        target=found.gate_target,
    )


def show(place: Place, taken: arguments.ShowArguments) -> answers.ShowAnswer:
    """Return one experiment. Raises Refused if there is none of this id."""
    from expctl.flow.repository.standing_records import with_times
    from expctl.views.report import proposal_lines, record_lines

    name = check_id(taken.experiment)
    _, library, head = _committed(place)
    references = library.protocol(head).references
    record = library.record(head, name)
    if record is not None:
        return answers.ShowAnswer(
            id=name,
            title=record.title,
            state="concluded",
            verdict=record.verdict.value,
            text="\n".join(record_lines(record, references)),
            facts=encode(with_times(library, head, record)),
        )
    for malformed in library.malformed(head, [name]):
        raise malformed.refusal()
    found = next(iter(library.some_proposals(head, [name])), None)
    if found is None:
        raise unknown(name, head)
    return answers.ShowAnswer(
        id=name,
        title=found.title,
        state="queued",
        verdict="",
        text="\n".join(proposal_lines(found, references)),
        facts=encode(found),
    )


def rules_check(place: Place, taken: arguments.RulesCheckArguments) -> answers.RulesAnswer:
    """Say whether a do-not-repeat rule refuses a patch. Raises Refused if it is none."""
    from expctl.flow.rules.repeat_check import matching_rules

    git, _, head = _committed(place)
    book, patch = wiring.rulebook(place, git), taken.patch.encode()
    misfits = book.misfits(head, patch)
    if misfits is None:
        raise Refused(
            "the text is no patch, so no rule can be compared with it",
            code="text-not-a-patch",
            expected="a unified diff of text: --- and +++ with a name, then hunks that change something",
            found=f"{len(patch)} bytes without one",
            hint="git diff makes such a text",
        )
    found, near = matching_rules(book, head, patch)
    return answers.RulesAnswer(
        refused=any(not changed for _, changed in found) and not written_reason(taken.precondition),
        matches=[
            {
                "rule": match.record.id,
                "level": str(match.level),
                "likeness": encode(match.likeness),
                "reasons": list(match.record.reasons),
                "changed": encode(changed),
            }
            for match, changed in found
        ],
        near=[{"rule": each.record.id, "percent": each.percent} for each in near],
        misfits=list(misfits),
    )


def resource(place: Place, uri: str) -> tuple[str, str]:
    """Return kind and text of a resource: expctl://ledger, records, protocol, records/ID. Raises Refused for another."""
    name = uri.removeprefix(SCHEME)
    _, library, head = _committed(place)
    if name == "records":
        found = library.experiments(head)
        verdicts = {each: str(found[each]) if found[each] else None for each in sorted(found, key=id_order)}
        return RESOURCES[name][0], json.dumps(verdicts, indent=1)
    if uri.startswith(SCHEME) and name in RESOURCES:
        path = {"ledger": "ledger.md", "protocol": "protocol.yaml"}[name]
        return RESOURCES[name][0], answers.spelled_whole(library.file(head, path).decode(errors="replace"))
    if uri.startswith(f"{SCHEME}records/"):
        text = library.record_text(head, experiment := check_id(name.removeprefix("records/")))
        if not text:
            raise unknown(experiment, head)
        return "application/json", answers.spelled_whole(text.decode(errors="replace"))
    raise Refused(
        "there is no such resource",
        code="no-such-resource",
        expected=", ".join(SCHEME + each for each in (*RESOURCES, "records/P1")),
        found=uri[:80],
        hint="list the resources",
    )


def unknown(experiment: str, head: str) -> Refused:
    """Return the refusal of an id that nothing has."""
    return Refused(
        f"there is no experiment {experiment}",
        code="experiment-unknown",
        expected="an experiment that is committed",
        found=f"no experiments/{experiment} in {head[:10]}",
        hint="the tool status lists what waits, the resource expctl://records everything",
    )


def _committed(place: Place) -> tuple[GitReader, GitLibrary, str]:
    git = wiring.reader(place)
    library, head = wiring.library(git), git.found_head()
    library.read_ahead(head)
    return git, library, head
