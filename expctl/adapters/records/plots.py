"""Compute the data of plots from samples and protocol, for records and for runs that are not finished."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from expctl.adapters.codec.record_codec import samples_of
from expctl.adapters.journal import FileJournal
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.errors import Refused
from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.proposal import Mode, Proposal
from expctl.domain.experiment.record import OBJECTIVE, Record
from expctl.domain.run.events import Begun, Measured
from expctl.domain.verdict.interference import counted
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.plot_data import Caption, Picture, picture_of
from expctl.domain.verdict.samples import Sample, round_effects
from expctl.domain.verdict.sequential_test import MeasureMore


class Pictures:
    """Computes plot data for the records of one commit; `journals` is the folder with the journals of unfinished runs."""

    def __init__(self, library: GitLibrary, commit: str, journals: Path) -> None:
        self._library, self._commit, self._journals = library, commit, journals

    def of_record(self, record: Record) -> Picture:
        """Return the plot data of an experiment with a record. Raises Refused if it has no samples."""
        caption = Caption(
            id=record.id,
            title=record.title,
            target=record.target,
            outcome=record.verdict,
            reason=record.reasons[0] if record.reasons else "",
        )
        text = self._library.samples(self._commit, record.id) if record.base else None
        samples = samples_of(text or b"", where=f"experiments/{record.id}/samples.jsonl")
        _check_drawable(samples, caption)
        procedure = record.procedure
        plan = self._plan(
            record.base,
            record.target,
            procedure.mode if procedure else Mode.GAIN,
            simplify_used_percent=procedure.simplify_used_percent if procedure else 0.0,
        )
        plan = plan.extend() if procedure and procedure.extended else plan
        objective = next((each for each in record.estimates if each.size == OBJECTIVE), None)
        return picture_of(round_effects(counted(samples)), plan, caption, sequential=procedure is not None, estimate=objective)

    def of_proposal(self, proposal: Proposal) -> Picture:
        """Return the plot data of a proposal's unfinished run. Raises Refused if there is none or it has not measured yet."""
        events = FileJournal(self._journals, heals=False).read(proposal.id)
        samples = tuple(sample for event in events if isinstance(event, Measured) for sample in event.samples)
        begun = next((event for event in events if isinstance(event, Begun)), None)
        target = begun.target if begun else ""
        caption = Caption(id=proposal.id, title=proposal.title, target=target, outcome="measuring", reason="")
        _check_drawable(samples, caption)
        if begun is None:
            raise TypeError("samples without a beginning")
        used = begun.simplify_used_percent
        plan = self._plan(begun.base, target, proposal.mode, simplify_used_percent=used, calibrated=begun.calibrated)
        answer = judge(samples, plan, proposal.kind)
        left = f"{answer.rounds_left} rounds of the {answer.session} to go" if isinstance(answer, MeasureMore) else "measured"
        return picture_of(round_effects(counted(samples)), plan, replace(caption, reason=left), sequential=True, estimate=None)

    def _plan(
        self, base: str, target: str, mode: Mode, *, simplify_used_percent: float, calibrated: Calibrated | None = None
    ) -> Plan:
        protocol = self._library.protocol(base)
        benchmark = protocol.targets[target].benchmark if target in protocol.targets else None
        if benchmark is None:
            raise Refused(
                f"protocol.yaml of the baseline has no benchmark of {target}",
                code="no-benchmark-in-baseline",
                expected=f"targets.{target}.benchmark",
                where=f"commit {base[:10]}",
                hint="git log -- protocol.yaml shows its history; this run can't be drawn",
            )
        return Plan.of(benchmark, protocol.keep, mode, simplify_used_percent=simplify_used_percent, calibrated=calibrated)


def _check_drawable(samples: Sequence[Sample], caption: Caption) -> None:
    if not round_effects(samples):
        raise Refused(
            f"{caption.id} has no rounds to draw",
            code="no-rounds-to-draw",
            expected="an experiment that was measured here",
            found=f"{caption.outcome}: {caption.reason}" if caption.reason else "nothing measured yet",
            hint=f"expctl show {caption.id} prints what is known of it",
        )
