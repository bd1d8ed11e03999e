"""The shoot-out: finalists against the current config by the full verdict; many contests share the processes of a round."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.model import Benchmark
from expctl.domain.tuning.benchmark import now, sided
from expctl.domain.tuning.contest import Bucket, Contest, answer_of, plan_for
from expctl.domain.tuning.events import Shot
from expctl.domain.tuning.verdicts import names_of
from expctl.domain.verdict.outlook import Outlook, outlook_of
from expctl.domain.verdict.samples import Sample
from expctl.domain.verdict.samples import Session as Part
from expctl.domain.verdict.sequential_test import Decision, MeasureMore
from expctl.flow.measuring.burn_in import burn_in
from expctl.flow.tuning.session import Session

TOGETHER = 12  # sizes of one pair of workers, at most


def shoot_out(session: Session, buckets: Sequence[Bucket], finalists: Mapping[str, Sequence[str]]) -> dict[Contest, Decision]:
    """Decide the contests of each bucket, one finalist after the other until one is kept; return all decisions."""
    decided: dict[Contest, Decision] = {}
    for place in range(max((len(each) for each in finalists.values()), default=0)):
        won = {contest.bucket.key for contest, decision in decided.items() if decision.verdict is Verdict.KEEP}
        waiting = [each for each in buckets if each.key not in won and len(finalists[each.key]) > place]
        decided |= _decided(session, [Contest(bucket=each, config=finalists[each.key][place]) for each in waiting])
    return decided


def _decided(session: Session, contests: Sequence[Contest]) -> dict[Contest, Decision]:
    while any(_wants(session, each, part) for each in contests for part in Part):
        for part in Part:
            if any(_wants(session, each, part) for each in contests):
                with session.measuring():
                    if part is Part.CONFIRM:
                        setup = session.setup
                        burn_in(setup.context, setup.tools, setup.benchmark, cwd=session.cwd, artifact=session.layouts[0])
                    while waiting := [each for each in contests if _wants(session, each, part)]:
                        for together in _groups(waiting):
                            _measure(session, together, part)
                        _tell_progress(session, contests, part)
    found = {each: answer for each in contests if isinstance(answer := _answer(session, each), Decision)}
    for contest, decision in found.items():
        session.told("contest", f"{contest.bucket.key}: {contest.config} {decision.verdict}, {decision.reasons[0]}")
    return found


def _answer(session: Session, contest: Contest) -> Decision | MeasureMore:
    plan = plan_for(session.setup.benchmark, session.setup.protocol.keep, contest.bucket.shapes)
    return answer_of(session.samples.get(contest.key, ()), plan)


def _wants(session: Session, contest: Contest, part: Part) -> bool:
    answer = _answer(session, contest)
    return not isinstance(answer, Decision) and answer.session is part


def _groups(contests: Sequence[Contest]) -> list[list[Contest]]:
    """Split contests so that each group's sizes fit one pair of workers."""
    groups: list[list[Contest]] = [[]]
    for contest in contests:
        used = sum(len(each.bucket.shapes) for each in groups[-1])
        if groups[-1] and used + len(contest.bucket.shapes) > TOGETHER:
            groups.append([])
        groups[-1].append(contest)
    return groups


def _measure(session: Session, contests: Sequence[Contest], part: Part) -> None:
    """Measure one round of all `contests`, and keep each one's samples under its own number of rounds."""
    of = {f"{shape}@{contest.config}": (contest, shape) for contest in contests for shape in contest.bucket.shapes}
    before = {name: now(shape) for name, (_, shape) in of.items()}
    benchmark: Benchmark = sided(session.setup.benchmark, session.rule, before, {name: name for name in of})
    rounds = {contest.key: session.rounds(contest.key) for contest in contests}
    found: dict[str, list[Sample]] = {contest.key: [] for contest in contests}
    for sample in session.round(benchmark, min(rounds.values())):
        contest, shape = of[sample.size]
        config = names_of(contest)[sample.side]
        found[contest.key].append(replace(sample, size=shape, round=rounds[contest.key], session=part, config=config))
    session.add(Shot(samples={key: tuple(samples) for key, samples in found.items()}))


def _tell_progress(session: Session, contests: Sequence[Contest], part: Part) -> None:
    """Show rounds, contests decided, and the time left until all are: the longest outlook, once for each group that waits."""
    plans = {each: plan_for(session.setup.benchmark, session.setup.protocol.keep, each.bucket.shapes) for each in contests}
    waiting = [each for each in contests if not isinstance(_answer(session, each), Decision)]
    outlooks = [outlook_of(session.samples[each.key], plans[each]) for each in waiting]
    lefts = [each.left_s for each in outlooks]
    session.setup.context.progress.outlook(
        Outlook(
            session=part,
            done=max((each.done for each in outlooks if each.session is part), default=0),
            most=max((each.most for each in outlooks), default=0),
            estimate=f"{len(contests) - len(waiting)} of {len(contests)} contests decided",
            left_s=len(_groups(waiting)) * max(left for left in lefts if left is not None) if any(lefts) else None,
        )
    )
