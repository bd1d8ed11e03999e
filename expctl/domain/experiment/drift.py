"""Autotune drift: what a code change gains with each side's own best config, beside what it gained with the pinned one."""

from collections.abc import Mapping

from expctl.domain.experiment.record import OBJECTIVE, Drift, Estimate


def explained(pinned: tuple[Estimate, ...], own: Drift, named: Mapping[str, Mapping[str, str]]) -> str:
    """Say how the gain with own configs differs from the pinned one, and by which configs. `named` are those of each side by
    size, "" for the pinned one.
    """
    before, after = (next((each for each in some if each.size == OBJECTIVE), None) for some in (pinned, own.estimates))
    moved = [f"{side} {size} with {config}" for side, configs in named.items() for size, config in configs.items() if config]
    which = f"their own best are {', '.join(moved)}" if moved else "the pinned config is the best of both sides at every size"
    if before is None or after is None:
        return which
    if before.low_percent <= after.high_percent and after.low_percent <= before.high_percent:
        return f"as with the pinned config ({_text(before)}), within both intervals; {which}"
    larger = "more" if after.effect_percent > before.effect_percent else "less"
    return f"{larger} than with the pinned config ({_text(before)}): {which}"


def _text(estimate: Estimate) -> str:
    return f"{estimate.effect_percent:+.2f} % [{estimate.low_percent:+.2f}, {estimate.high_percent:+.2f}]"
