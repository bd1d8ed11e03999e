"""The result of an audit as text for a terminal."""

from collections.abc import Iterator

from expctl.domain.experiment.figures import interval_text
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Estimate
from expctl.domain.history.audit import Audit, Bisection, CommitComparison, LeftOut
from expctl.domain.text import one_line
from expctl.views.report import estimate_line


def audit_lines(audit: Audit) -> list[str]:
    """Return the result of an audit as lines of text. They show the effect of all kept changes together, the effect of leaving
    each one out, and the bisection if there was one.
    """
    lines = [
        f"audit of {audit.target}, epoch {audit.epoch}: {audit.head[:10]} against {audit.first[:10]}, its first baseline",
        f"  {'stack':<10} {', '.join(audit.layers)}",
        *_estimates(audit.whole),
        f"  {'promised':<10} {audit.promise.words} by the records together",
        f"  {'so':<10} {_conclusion(audit)}",
    ]
    lines += [f"  {'without':<10} {_left_out(each)}" for each in audit.left_out]
    lines += _bisection(audit.bisection) if audit.bisection else []
    return [*lines, f"  {'recorded':<10} as finding {audit.finding}" if audit.finding else "  nothing was committed"]


def _estimates(contest: CommitComparison) -> list[str]:
    if contest.fault:
        return [f"  {'measured':<10} nothing: {one_line(contest.fault)}"]
    return [f"  {'measured' if not index else '':<10} {estimate_line(each)}" for index, each in enumerate(contest.estimates)]


def _conclusion(audit: Audit) -> str:
    if audit.whole.same_code:
        return "HEAD has the machine code of the first baseline, so the stack gives nothing"
    if audit.whole.objective is None:
        return "nothing can be said of the stack"
    less, as_promised = "the stack gives less than the records promise", "the stack gives what the records promise"
    answer = audit.bisection.whole if audit.bisection else None
    if answer is None:
        return (
            f"{less}; expctl audit --bisect measures it again, and looks for where it was lost"
            if audit.falls_short
            else f"{as_promised}, within their intervals"
        )
    if answer.contest.undecided:
        return "no loss is shown, nor that there is none: measured again against the promise, it stays undecided"
    return f"{less if audit.falls_short else as_promised}: measured again against the promise"


def _left_out(left: LeftOut) -> str:
    promised = f", promised {left.promise.words}" if left.promise else ", promised nothing here"
    effect = left.contest.objective
    if effect is None or left.contest.fault:
        return f"{left.name}: {one_line(left.contest.fault)}"
    return f"{left.name}: it gives {_interval(effect)}{promised}: {_verdict_words(left.contest)}"


def _interval(effect: Estimate) -> str:
    return interval_text(effect.effect_percent, effect.low_percent, effect.high_percent)


def _verdict_words(contest: CommitComparison) -> str:
    if contest.verdict is Verdict.REJECT:
        costs = contest.objective is not None and contest.objective.high_percent < 0
        return "it costs now" if costs else "no gain any more"
    return "still a gain" if contest.verdict is Verdict.KEEP else "undecided"


def _bisection(found: Bisection) -> Iterator[str]:
    for probe in found.probes:
        kept = "undecided, so no loss is shown" if probe.contest.undecided else "the promise is kept"
        what = "the promise is broken" if probe.lost else kept
        result = f"nothing: {one_line(probe.contest.fault)}" if probe.contest.fault else what
        yield f"  {'bisect':<10} HEAD since change {probe.layers}, promised {probe.promise.words}: {result}"
    if found.stopped:
        yield f"  {'bisect':<10} stopped without an answer"
        return
    if not found.culprit:
        undecided = any(probe.contest.undecided for probe in found.probes)
        yield f"  {'bisect':<10} {'no loss is shown' if undecided else 'nothing was lost'}"
        return
    effect = found.own.objective if found.own else None
    own = f"; alone it gives {_interval(effect)}" if effect else ""
    title = f" ({one_line(found.title, 60)})" if found.title else ""
    yield f"  {'lost at':<10} {found.culprit}{title}, {found.commit[:10]}: promised {found.promise.words}{own}"
