"""Says with which config of the kernel each side was timed, and notices when that has changed while code was judged."""

from collections.abc import Sequence

from expctl.domain.verdict.samples import Sample, Side


def config_notes(samples: Sequence[Sample]) -> tuple[str, ...]:
    """Return one sentence that names the config, or the config of each side if they differ; () where no harness named one."""
    of = {side: _configs(samples, side) for side in Side}
    if not any(of.values()):
        return ()
    if of[Side.BASELINE] == of[Side.CANDIDATE]:
        return (f"config {', then '.join(of[Side.BASELINE])}",)
    return ("; ".join(f"config of the {side} {', then '.join(found) or 'unknown'}" for side, found in of.items()),)


def changed_config(samples: Sequence[Sample]) -> str:
    """Return a sentence about the first side whose config was not the same in all its launches; else empty."""
    for side in Side:
        found = _configs(samples, side)
        if len(found) > 1:
            return f"the harness timed the {side} with config {', then '.join(found)}: a config is frozen while code is judged"
    return ""


def _configs(samples: Sequence[Sample], side: Side) -> list[str]:
    return list(dict.fromkeys(each.config for each in samples if each.side is side and each.config))
