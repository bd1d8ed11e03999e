"""Do-not-repeat rules as text for a terminal. All untrusted text is made one printable line."""

from collections.abc import Iterable, Sequence

from expctl.domain.experiment.figures import effect_text
from expctl.domain.experiment.proposal import Probe
from expctl.domain.experiment.record import Record
from expctl.domain.rules.current_facts import ProbeAnswer
from expctl.domain.rules.states import RuleState, State
from expctl.domain.rules.trial import Trial
from expctl.domain.text import one_line

HEADS = {
    State.ACTIVE: "active: a repeat is refused, unless its proposal names a new precondition",
    State.REOPENED: "open again: a condition under which it failed has changed",
    State.WAIVED: "waived: in force, but once let through for a written reason",
}


def rules_lines(states: Iterable[RuleState]) -> list[str]:
    """Return do-not-repeat rules as lines, grouped by state. Each is shown with how a repeat is recognised and on which
    conditions the rule depends.
    """
    by_state: dict[State, list[RuleState]] = {state: [] for state in State}
    for each in states:
        by_state[each.state].append(each)
    lines: list[str] = []
    for state, rules in by_state.items():
        if rules:
            lines += [f"{HEADS[state]} ({len(rules)})"]
            lines += [line for rule in rules for line in _rule_lines(rule)]
    return lines or ["no rule yet: a REJECT leaves one"]


def probe_lines(experiment: str, probe: Probe, answers: Iterable[tuple[str, ProbeAnswer]]) -> list[str]:
    """Return lines on the probe of an experiment's rule, with the answer for each architecture. A probe is a snippet that is
    compiled; the rule holds for as long as that fails.
    """
    lines = [f"{experiment}  its rule holds for as long as this fails: {probe.until} for {probe.arch}"]
    for arch, answer in answers:
        lines.append(f"  {arch:<10} {'passes' if answer.passes else 'fails'}: {one_line(answer.said)}")
    return lines


def why_lines(record: Record, state: RuleState, files: Sequence[str]) -> list[str]:
    """Return the chain of evidence of a rule as lines: from the verdict and its figures to what would open the rule."""
    day = f", {record.date[:10]}" if record.date else ""
    lines = [f"{record.id}  {one_line(record.title, 120)}"]
    lines += _row("verdict", f"{record.verdict} on {record.target}{day}, {record.origin}: {'; '.join(record.reasons)}")
    lines += [line for each in record.estimates for line in _row("measured", f"{each.size} {effect_text(each)}")]
    if record.history is not None:
        lines += _row("ledger", "; ".join((record.history.change, record.history.result, record.history.why)))
        lines += [line for each in record.history.corrections for line in _row("corrected", each)]
    lines += _row("commits", f"{record.base[:7]} -> {record.candidate[:7]}" if record.candidate else "")
    lines += _row("files", ", ".join(files))
    lines += _row("state", state.state)
    return lines + _rule_lines(state)


def trial_lines(tried: Trial) -> list[str]:
    """Return what a rule can do on HEAD as lines."""
    fits = {None: "there is none: the rule was kept in words", True: "fits HEAD", False: "no longer fits HEAD"}
    patch = f"{fits[tried.fits]}{', but a merge carries it there' if tried.carried else ''}"
    lines = [f"{tried.id}  {'can refuse a repeat' if tried.refuses else 'refuses nobody'}", *_row("patch", patch)]
    lines += [line for name, said in tried.compiled for line in _row("compiled", f"for {name}: {said}")]
    lines += _row("checked", f"of its words {tried.words}" if tried.words else "")
    lines += _row("known by", ", ".join(tried.levels) or "readers alone")
    lines += [line for pattern, why in tried.void for line in _row("void", f"{pattern}: {why}")]
    return lines + [line for each in tried.lapses for line in _row("changed", f"{each.condition}: {each.was} -> {each.now}")]


def _rule_lines(rule: RuleState) -> list[str]:
    lines = [f"  {rule.id:<6} {one_line(rule.text, 160)}"]
    lines += _row("known by", ", ".join(rule.known_by) or "readers alone: nothing was kept that expctl could compare")
    lines += _row("checked", rule.checked and f"of its words {rule.checked}, in compiled code")
    lines += _row("depends on", "; ".join(f"{name} {value}" for name, value in rule.verified))
    lines += _row("told", "; ".join(f"{name}: {value}" for name, value in rule.told))
    for pattern, why in rule.void:
        lines += _row("void", f"the pattern {pattern} refuses nobody: {why}")
    for lapse in rule.lapses:
        lines += _row(
            "changed", f"{lapse.condition}: {lapse.was} -> {lapse.now}" + (f" ({lapse.evidence})" if lapse.evidence else "")
        )
    for each in rule.passes:
        kind = "written" if each.written else "verified"
        lines += _row("let pass", f"{each.id} ({each.verdict}), {kind}: {each.reason}")
    return lines


def _row(label: str, text: str) -> list[str]:
    return [f"    {label:<11}{one_line(text, 260)}"] if text else []
