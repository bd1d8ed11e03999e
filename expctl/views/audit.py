"""An audit on a terminal."""

from collections.abc import Iterator

from expctl.domain.audit import Audit, Bisection, Contest, LeftOut
from expctl.domain.experiment import Verdict
from expctl.domain.text import one_line
from expctl.views.report import estimate_line


def audit_lines(audit: Audit) -> list[str]:
    """The whole stack, then what was asked for beyond it."""
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


def _estimates(contest: Contest) -> list[str]:
    if contest.note:
        return [f"  {'measured':<10} {one_line(contest.note)}"]
    return [f"  {'measured' if not index else '':<10} {estimate_line(each)}" for index, each in enumerate(contest.estimates)]


def _conclusion(audit: Audit) -> str:
    if audit.whole.objective is None:
        return "nothing can be said of the stack"
    if not audit.falls_short:
        return "the stack gives what the records promise, within their intervals"
    found = audit.bisection is not None
    return f"the stack gives less than the records promise{'' if found else '; expctl audit --bisect finds where it was lost'}"


def _left_out(left: LeftOut) -> str:
    promised = f", promised {left.promise.words}" if left.promise else ", promised nothing here"
    effect = left.contest.objective
    if effect is None:
        return f"{left.name}: {one_line(left.contest.note)}"
    measured = f"{effect.effect_percent:+.2f} % [{effect.low_percent:+.2f}, {effect.high_percent:+.2f}]"
    return f"{left.name}: it gives {measured}{promised}: {_worth(left.contest)}"


def _worth(contest: Contest) -> str:
    """The verdict of HEAD against HEAD without it, in words."""
    return {
        Verdict.KEEP: "still a gain",
        Verdict.REJECT: "no gain any more",
        Verdict.INVALID: "the machine was not fit",
    }.get(contest.verdict or Verdict.INCONCLUSIVE, "undecided")


def _bisection(found: Bisection) -> Iterator[str]:
    for probe in found.probes:
        what = "the promise is broken" if probe.lost else "the promise is kept, or no loss is shown"
        yield f"  {'bisect':<10} after {probe.layers} changes, promised {probe.promise.words}: {what}{_note(probe.contest)}"
    if not found.culprit:
        yield f"  {'bisect':<10} nothing was lost"
        return
    effect = found.own.objective if found.own else None
    own = (
        f"; alone it gives {effect.effect_percent:+.2f} % [{effect.low_percent:+.2f}, {effect.high_percent:+.2f}]"
        if effect
        else ""
    )
    title = f" ({one_line(found.title, 60)})" if found.title else ""
    yield f"  {'lost at':<10} {found.culprit}{title}, {found.commit[:10]}: promised {found.promise.words}{own}"


def _note(contest: Contest) -> str:
    return f" ({one_line(contest.note)})" if contest.note else ""
