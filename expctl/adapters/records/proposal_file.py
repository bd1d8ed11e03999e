"""Write experiment.yaml, and read it strictly."""

import json
from pathlib import PurePosixPath

from expctl.adapters.codec.decode import DECIMAL
from expctl.adapters.codec.strict_yaml import contradiction, load
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.patch.patterns import pattern_fault
from expctl.domain.patch.regions import REGION
from expctl.domain.queue.depends_on import Unparsable, parse
from expctl.domain.text import plain_text, written_reason


def proposal_text(
    experiment: str,
    *,
    title: str,
    hypothesis: str,
    kind: str,
    mode: str,
    expect: str,
    gain: str,
    depends_on: tuple[str, ...],
    precondition: str,
) -> bytes:
    """Return the bytes of experiment.yaml with all strings quoted as JSON, which is valid YAML.

    `expect` is the predicted verdict, `gain` the predicted range "LOW,HIGH" in percent or "". Values are not checked here;
    `proposal_of` checks them when it reads the file.
    """
    words = {
        "title": title,
        "kind": kind,
        "mode": mode or ("simplify" if kind == "simplify" else "gain"),
        "hypothesis": hypothesis,
    }
    lines = [f"id: {experiment}", *(f"{key}: {_quoted(value)}" for key, value in words.items())]
    lines += ["prediction:", f"  verdict: {_quoted(expect)}"]
    lines += [f"  gain_percent: [{', '.join(_number(part) for part in gain.split(','))}]"] if gain else []
    lines += [f"depends_on: [{', '.join(_quoted(other) for other in depends_on)}]"] if depends_on else []
    lines += [f"precondition: {_quoted(precondition)}"] if precondition else []
    return ("\n".join(lines) + "\n").encode(errors="surrogateescape")


def proposal_bytes(proposal: Proposal) -> bytes:
    """Return the bytes of experiment.yaml for a proposal made by expctl; `proposal_of` reads an equal proposal from them."""
    gain = proposal.prediction.gain_percent
    return proposal_text(
        proposal.id,
        title=proposal.title,
        hypothesis=proposal.hypothesis,
        kind=proposal.kind,
        mode=proposal.mode,
        expect=proposal.prediction.verdict,
        gain=",".join(f"{end:g}" for end in gain) if gain else "",
        depends_on=proposal.depends_on,
        precondition=proposal.precondition,
    )


def proposal_of(text: bytes, folder: str) -> Proposal:
    """Parse experiments/ID/experiment.yaml, `folder` being experiments/ID. Raises Refused with every problem in it."""
    where = f"{folder}/experiment.yaml"
    proposal = load(text, Proposal, where=where)
    name = PurePosixPath(folder).name
    faults = [f"id: expected {name}, the name of its folder, found {proposal.id!r}"] if proposal.id != name else []
    for condition in proposal.depends_on:
        try:
            parse(condition)
        except Unparsable as error:
            faults.append(f"depends_on: {condition[:60]!r}: {error}")
    faults += [f"{key}: expected some words" for key in ("title", "hypothesis") if not plain_text(getattr(proposal, key))]
    if proposal.precondition and not written_reason(proposal.precondition):
        faults.append("precondition: expected a reason in words, found no letters that can be seen")
    gain = proposal.prediction.gain_percent
    if gain is not None and gain[0] > gain[1]:
        faults.append(f"prediction.gain_percent: expected the lower end first, found {list(gain)}")
    faults += [f"forbids: {fault}" for pattern in proposal.forbids if (fault := pattern_fault(pattern))]
    if proposal.within and not (proposal.forbids and REGION.match(proposal.within)):
        faults.append(f"within: expected a function, `loop` or `NAME loop`, beside `forbids`, found {proposal.within[:60]!r}")
    if faults:
        raise contradiction(where, faults)
    return proposal


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(text: str) -> str:
    return text.strip() if DECIMAL.fullmatch(text.strip()) else _quoted(text.strip())
