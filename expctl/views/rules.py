"""Do-not-repeat rules as text for a terminal. All untrusted text is made one printable line."""

from collections.abc import Iterable

from expctl.domain.experiment.proposal import Probe
from expctl.domain.rules.current_facts import ProbeAnswer
from expctl.domain.rules.states import RuleState, State
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


def _rule_lines(rule: RuleState) -> list[str]:
    lines = [f"  {rule.id:<6} {one_line(rule.text, 160)}"]
    lines += _row("known by", ", ".join(rule.known_by) or "readers alone: nothing was kept that expctl could compare")
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
