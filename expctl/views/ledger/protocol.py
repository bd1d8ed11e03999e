"""Render the last part of the ledger: scope and KPI, protocol, and explained words. It depends only on protocol.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from expctl.domain.protocol import boundaries
from expctl.views.escape import Markdown, code_text, shown

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Benchmark, KeepRule, Protocol, ResourceLimits, Target

WORDS = """
- target: where code runs. Of those that decide, the first that is here does; a guard only must build, stay within its limits and pass.
- KPI: the sizes that are timed, with weights; objective: their weighted mean; rescuer: a size, declared beforehand, whose gain may carry a KEEP when the objective is neutral.
- mode: gain (has to pay), gain-costly (has to pay for complex code), simplify (may cost a little: the budget).
- round: one turn of baseline and candidate, in alternation; look: a round count, planned beforehand, at which a search may end; confirmation: a second session with new check-outs and rounds.
- "lies above", "slower beyond noise", "ruled out": said of the bounds of the sequential test at that look, never of the estimate alone.
- epoch: as long as nothing changes that figures depend on; the numbers of two are never subtracted.
- id: the name that a proposal was queued under, and no order of time: a later one may have run before.
- protocol, with four letters: a hash of protocol.yaml and of all that judges; version 1, of a bound or a rule: how it is computed, so that an old verdict can be worked out again as it was.
- conditions of a rule: baseline, the commit that it failed on; touched, the files where its patch goes; ziglang, hipcc, nvcc, cc, elftools, the versions of tools that built it.
- imported: written down by hand before expctl; external: known from outside these experiments.
"""  # noqa: E501  lines of Markdown


def protocol_sections(protocol: Protocol) -> Iterator[str]:
    """Yield the ledger's sections about protocol.yaml, line by line."""
    yield from _scope(protocol)
    yield from ("", "## Protocol", "")
    yield from _procedure(protocol)
    yield from _keep_rule(protocol.keep)
    yield f"- Limits of a patch: {shown(protocol.patch.files)} files, {shown(protocol.patch.bytes)} bytes."
    yield from ("", "## Words", WORDS.rstrip("\n"))


def _scope(protocol: Protocol) -> Iterator[str]:
    yield from ("## Scope and KPI", "")
    yield f"- A patch may touch only: {_code(protocol.scope)}."
    yield f"- Protected, it judges the patch: {_code((*protocol.harness, 'protocol.yaml'))}."
    for name, target in protocol.targets.items():
        if target.benchmark:
            yield f"- KPI on {shown(name)}: time of one iteration at {shown(_kpi(target.benchmark))}."
    yield (
        "- The objective is the weighted mean over the sizes of ln(baseline time / candidate time); a positive effect is"
        " faster."
    )
    if protocol.references:
        yield f"- References: {shown('; '.join(protocol.references))}."


def _procedure(protocol: Protocol) -> Iterator[str]:
    gate = protocol.gate
    yield (
        f"- Gate: no process matching {_code(gate.patterns)} for {shown(f'{gate.quiet_s:g}')} s; a run waits at most"
        f" {shown(f'{gate.wait_s:g}')} s, then exits 75."
    )
    yield (
        "- Order for every target: build everywhere, identity (the same code is a NO-OP), limits, test (of the guards too),"
        " benchmark, profile. The profile explains and never decides."
    )
    yield "- Targets:"
    deciding = [name for name in protocol.decides if name in protocol.targets]
    for number, name in enumerate(deciding, start=1):
        target = protocol.targets[name]
        yield f"  - {shown(name)}, decides ({number} of {len(deciding)}): builds with {_build(target)}"
        yield from _steps(target, "test", "benchmark", "profile")
    for name in sorted(protocol.targets, key=str.lower):
        if name not in protocol.decides:
            target = protocol.targets[name]
            stands_for = f" (stands for {shown(target.stands_for)})" if target.stands_for else ""
            yield f"  - {shown(name)}, guard{stands_for}: must build with {_build(target)}"
            if target.limits:
                yield f"    - limits, or the baseline's figure where that is worse: {_limits(target.limits)}"
            yield from _steps(target, "test", "profile")


def _steps(target: Target, *steps: str) -> Iterator[str]:
    for step in steps:
        found = getattr(target, step)
        if found:
            yield f"    - {step}: {_code([' '.join(found.argv)])}"


def _limits(limits: ResourceLimits) -> str:
    most = [f"{shown(name)} at most {shown(f'{figure:g}')}" for name, figure in limits.most.items()]
    fall = [f"{shown(name)} at most {shown(f'{figure:g}')} below the baseline" for name, figure in limits.may_fall.items()]
    return ", ".join((*most, *fall))


def _keep_rule(keep: KeepRule) -> Iterator[str]:
    worthwhile, costly = shown(keep.worthwhile_percent), shown(keep.costly_percent)
    both = shown(f"{keep.costly_percent + keep.worthwhile_percent:g}")
    looks = shown(", ".join(map(str, boundaries.LOOKS)))
    yield (
        f"- Keep rule, in percent, by sequential bounds (version {shown(boundaries.VERSION)}) at {looks} rounds; the first line"
        " that holds decides:"
    )
    yield "  1. INVALID when machine or harness is sick: more than a quarter of the rounds was disturbed from outside."
    yield (
        f"  2. REJECT when a size is slower beyond noise by more than {shown(keep.regression_percent)} % (mode simplify: by"
        " more than the budget, if that is larger)."
    )
    yield (
        f"  3. CONFIRM when the objective lies above 0 (mode gain-costly: above {costly} %; simplify: above"
        f" -{shown(keep.simplify_percent)} %, less what simplifications of this epoch have cost) and every guard holds."
    )
    yield (
        f"  4. CONFIRM when a size declared as rescuer lies above 0, the objective is within {worthwhile} % of 0, and every"
        " guard holds."
    )
    yield (
        f"  5. REJECT when a gain of {worthwhile} % is ruled out (gain-costly: {both} %; simplify: no loss is ruled out), for"
        " every rescuer too."
    )
    yield "  6. INCONCLUSIVE after the last look: reverted; the reason says about how many rounds would decide."
    yield (
        f"- CONFIRM measures half as many rounds again, {shown(boundaries.CONFIRM_LEAST)} at least, in a new session, and"
        " judges pairs of rounds: KEEP when its one-sided 95 % bound and the guards hold again, REJECT by line 2, else"
        " INCONCLUSIVE. Only these rounds are shown."
    )
    yield ("- Experiments whose record names no looks were decided by the rule before: ten rounds, 95 % intervals.")
    yield (
        f"- Guards: every size stays above -{shown(keep.guard_percent)} %; every guard target builds, within its limits; tests"
        " pass, the guards' too. A failed test is a REJECT without a benchmark."
    )


def _code(parts: Iterable[str]) -> Markdown:
    """Return each of `parts` as a code span, comma-separated."""
    return Markdown(", ".join(code_text(part) for part in parts))


def _build(target: Target) -> Markdown:
    """Return toolchain, architecture and source of a target's build."""
    build = target.build
    return _code(part for part in (build.toolchain, build.arch, build.source or " ".join(build.argv)) if part)


def _kpi(benchmark: Benchmark) -> str:
    """Return a benchmark's sizes with weights, its most rounds, and its style of measurement."""
    sizes = ", ".join(f"{size.name} (weight {size.weight:g})" for size in benchmark.sizes)
    return f"{sizes}; at most {benchmark.rounds} rounds, style {benchmark.style}"
