"""The tools that commit: propose, and with a grant finding_add."""

import re
import sys
from functools import partial

from expctl import wiring
from expctl.adapters.git.reader import Place
from expctl.agents import answers, arguments
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.text import one_line

BY = "agent"
WAITING_MAX = 500


def propose(place: Place, taken: arguments.ProposeArguments) -> answers.ProposeAnswer:
    """Queue a proposal, by the checks of a proposer's. Raises Refused with nothing changed."""
    from expctl.adapters.records.proposal_file import proposal_text
    from expctl.flow.queue.next_free import propose_next
    from expctl.views.console import ConsoleProgress

    _check_room(place)
    text_of = partial(
        proposal_text,
        title=taken.title,
        hypothesis=taken.hypothesis,
        kind=taken.kind,
        mode=taken.mode,
        expect=taken.expect,
        gain=taken.gain,
        depends_on=tuple(taken.depends_on),
        precondition=taken.precondition,
    )
    made = propose_next(
        lambda: wiring.context(place, ConsoleProgress(sys.stderr)),
        text_of,
        _proposal,
        taken.patch.encode(),
        begun=lambda: [each.experiment for each in wiring.running(place)],
        by=BY,
    )
    return answers.ProposeAnswer(id=made.id, title=made.title, commit=made.commit, files=list(made.files))


def finding_add(place: Place, taken: arguments.FindingArguments) -> answers.FindingAnswer:
    """Commit a lesson with its evidence. Raises Refused with nothing changed."""
    from expctl.domain.experiment.finding import EvidenceKind
    from expctl.flow.audit.edit_findings import add
    from expctl.views.console import ConsoleProgress

    if taken.kind not in list(EvidenceKind):
        raise Refused(
            "kind names no kind of evidence",
            code="kind-of-evidence-unknown",
            expected=", ".join(EvidenceKind),
            found=one_line(taken.kind, 40),
            hint="measured, where an experiment of expctl showed it",
        )
    context = wiring.context(place, ConsoleProgress(sys.stderr))
    kind, evidence = EvidenceKind(taken.kind), tuple(taken.evidence)
    noted = add(context, wiring.findings_editor(), text=taken.text, kind=kind, evidence=evidence)
    return answers.FindingAnswer(id=noted.finding.id, text=noted.finding.text, commit=noted.commit)


def _check_room(place: Place) -> None:
    git = wiring.reader(place)
    waiting = len(wiring.library(git).waiting(git.found_head()))
    if waiting >= WAITING_MAX:
        raise Refused(
            "the queue is full",
            code="queue-full",
            expected=f"fewer than {WAITING_MAX} proposals that wait",
            found=str(waiting),
            hint="ask a person to run or withdraw some: expctl run --all, expctl withdraw ID --why TEXT",
        )


def _proposal(experiment: str, text: bytes) -> Proposal:
    from expctl.adapters.records.proposal_file import proposal_of

    try:
        return proposal_of(text, f"experiments/{experiment}")
    except Refused as refusal:
        raise Refused(
            f"the arguments do not make a valid experiment.yaml for {experiment}",
            code="arguments-not-a-proposal",
            expected="values that experiment.yaml accepts",
            found=re.sub(r" \(line \d+\)", "", refusal.found),
            hint="correct these arguments and call the tool again",
        ) from refusal
