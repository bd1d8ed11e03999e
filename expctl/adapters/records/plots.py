"""Compute the data of plots from samples and protocol, for records and for runs that are not finished."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from expctl.adapters.codec.record_codec import samples_of
from expctl.adapters.journal import FileJournal
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.errors import Refused
from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.proposal import Mode, Proposal
from expctl.domain.experiment.record import OBJECTIVE, Record
from expctl.domain.run.costs import costs_of
from expctl.domain.run.events import Begun, Measured
from expctl.domain.tuning.benchmark import with_shapes
from expctl.domain.verdict.interference import counted
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.outlook import outlook_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.plot_data import Caption, Picture, picture_of
from expctl.domain.verdict.samples import Sample, round_effects
from expctl.domain.verdict.sequential_test import MeasureMore
from expctl.domain.verdict.under_way import UnderWay


class Pictures:
    """Computes plot data for the records of one commit; `journals` is the folder with the journals of unfinished runs.
    `profile_s` says how many seconds the profile step of a target took the last time.
    """

    def __init__(
        self, library: GitLibrary, commit: str, journals: Path, profile_s: Callable[[str], float] = lambda _: 0.0
    ) -> None:
        self._library, self._commit, self._journals, self._profile_s = library, commit, journals, profile_s

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
            shapes=tuple(dict.fromkeys(each.size for each in samples)) if record.buckets else (),
        )
        plan = plan.extend() if procedure and procedure.extended else plan
        objective = next((each for each in record.estimates if each.size == OBJECTIVE), None)
        return picture_of(round_effects(counted(samples)), plan, caption, sequential=procedure is not None, estimate=objective)

    def of_proposal(self, proposal: Proposal) -> Picture:
        """Return the plot data of a proposal's unfinished run. Raises Refused if there is none or it has not measured yet."""
        begun, samples = self._journal(proposal.id)
        caption = Caption(
            id=proposal.id, title=proposal.title, target=begun.target if begun else "", outcome="measuring", reason=""
        )
        _check_drawable(samples, caption)
        if begun is None:
            raise TypeError("samples without a beginning")
        return self._unfinished(samples, self._plan_of_run(begun, proposal), caption, proposal)

    def under_way(self, experiment: str) -> UnderWay | None:
        """Return how far an experiment's unfinished run is; None if it has none."""
        begun, samples = self._journal(experiment)
        proposals = self._library.some_proposals(self._commit, [experiment]) if begun is not None else ()
        if begun is None or not proposals:
            return None
        proposal = proposals[0]
        found = UnderWay(id=experiment, title=proposal.title, target=begun.target, since=begun.date)
        if not round_effects(samples):
            return found
        caption = Caption(id=experiment, title=proposal.title, target=begun.target, outcome="measuring", reason="")
        plan = self._plan_of_run(begun, proposal)
        return replace(
            found,
            outlook=outlook_of(samples, plan, costs_of(self._library.protocol(begun.base), begun, self._profile_s)),
            picture=self._unfinished(samples, plan, caption, proposal),
        )

    def _journal(self, experiment: str) -> tuple[Begun | None, tuple[Sample, ...]]:
        """Return how an unfinished run began, and its samples so far, after those of the experiment that it extends, if any."""
        events = FileJournal(self._journals, heals=False).read(experiment)
        begun = next((event for event in events if isinstance(event, Begun)), None)
        before = self._library.read_samples(begun.extends, experiment) if begun is not None and begun.extends else ()
        return begun, (*before, *(each for event in events if isinstance(event, Measured) for each in event.samples))

    def _unfinished(self, samples: Sequence[Sample], plan: Plan, caption: Caption, proposal: Proposal) -> Picture:
        answer = judge(samples, plan, proposal.kind)
        left = f"{answer.rounds_left} rounds of the {answer.session} to go" if isinstance(answer, MeasureMore) else "measured"
        return picture_of(round_effects(counted(samples)), plan, replace(caption, reason=left), sequential=True, estimate=None)

    def _plan_of_run(self, begun: Begun, proposal: Proposal) -> Plan:
        used = begun.simplify_used_percent
        plan = self._plan(begun.base, begun.target, proposal.mode, simplify_used_percent=used, calibrated=begun.calibrated)
        plan = replace(plan, kept_by=begun.kept_by)
        return plan.extend() if begun.extends else plan

    def _plan(
        self,
        base: str,
        target: str,
        mode: Mode,
        *,
        simplify_used_percent: float,
        calibrated: Calibrated | None = None,
        shapes: Sequence[str] = (),
    ) -> Plan:
        """Return the plan by which samples are drawn: of the KPI's sizes, or of `shapes`, which a tuning compares."""
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
        benchmark = with_shapes(benchmark, shapes) if shapes else benchmark
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
