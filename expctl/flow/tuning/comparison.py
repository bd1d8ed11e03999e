"""The whole list before and after a proposed table, by the full verdict: what decides whether the table lands."""

from collections.abc import Mapping

from msgspec.structs import replace

from expctl.domain.tuning.benchmark import now, sided
from expctl.domain.tuning.contest import answer_of, plan_for
from expctl.domain.tuning.events import Shot
from expctl.domain.verdict.outlook import outlook_of
from expctl.domain.verdict.samples import Sample
from expctl.domain.verdict.samples import Session as Part
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.measuring.burn_in import burn_in
from expctl.flow.tuning.session import Session


def compared(session: Session, key: str, changed: Mapping[str, str]) -> tuple[Decision, tuple[Sample, ...]]:
    """Time all shapes that a table changes, with what they have now and with the config that it gives them; decide.

    The other shapes keep file, bucket and config, so that there is nothing to compare. `key` names the proposed table.
    """
    setup = session.setup
    plan = plan_for(setup.benchmark, setup.protocol.keep, list(changed))
    benchmark = sided(
        setup.benchmark,
        session.rule,
        {shape: now(shape) for shape in changed},
        {shape: f"{shape}@{config}" for shape, config in changed.items()},
    )
    answer = answer_of(session.samples.get(key, []), plan)
    while not isinstance(answer, Decision):  # a launch that a later one shows as disturbed can send a confirmation back
        part = answer.session
        with session.measuring():
            if part is Part.CONFIRM:
                burn_in(setup.context, setup.tools, setup.benchmark, cwd=session.cwd, artifact=session.layouts[0])
            while not isinstance(answer, Decision) and answer.session is part:
                number = session.rounds(key)
                found = session.round(benchmark, number)
                names = {"baseline": "tables now", "candidate": "tables proposed"}
                samples = tuple(replace(each, session=part, config=names[each.side.value]) for each in found)
                session.add(Shot(samples={key: samples}))
                setup.context.progress.outlook(outlook_of(session.samples[key], plan))
                answer = answer_of(session.samples[key], plan)
    return answer, tuple(session.samples[key])
