"""The static gate of a tuning: which configs are worth a launch, seen from builds of each alone."""

from msgspec.structs import replace

from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.alone import with_macro
from expctl.domain.protocol.model import Target
from expctl.domain.run.resource_limits import exceeded
from expctl.domain.run.step_result import Available, Failed
from expctl.domain.tuning.events import Gated
from expctl.flow.measuring.setup import Setup
from expctl.flow.tuning.session import Session
from expctl.tables.operations import TILE, settings_of


def gate(session: Session) -> tuple[str, ...]:
    """Return the configs that build, keep the limits of the target and of the guards that stand for it, and differ in code."""
    known = next(session.all(Gated), None)
    if known is None:
        session.add(known := _gated(session))
    for config, why in known.dropped.items():
        session.told("static", f"{config} is left out: {why}")
    session.told("static", f"{len(known.configs)} of {len(session.rule.configs)} configs go on")
    return known.configs


def _gated(session: Session) -> Gated:
    kept: list[str] = []
    dropped: dict[str, str] = {}
    codes: dict[tuple[str, ...], str] = {}
    for config in session.rule.configs:
        fault = TILE.fault(settings_of(config))
        built = (
            []
            if fault or not session.rule.define
            else [_alone(session.setup, session, name, config) for name in _targets(session.setup)]
        )
        failed = next((each for each in built if isinstance(each, str)), fault)
        code = tuple(each.code for each in built if isinstance(each, Artifact))
        if failed:
            dropped[config] = failed
        elif code and code in codes:
            dropped[config] = f"the machine code of {codes[code]}"
        else:
            kept.append(config)
            codes[code] = config
    return Gated(configs=tuple(kept), dropped=dropped)


def _targets(setup: Setup) -> list[str]:
    """Return the timed target and the guards that stand for it, where they can be built here."""
    names = [setup.name, *(name for name, each in setup.protocol.targets.items() if each.stands_for == setup.name)]
    answers = {name: setup.tools.toolchains.availability(name, setup.protocol.targets[name]) for name in names}
    return [name for name in names if isinstance(answers[name], Available)]


def _alone(setup: Setup, session: Session, name: str, config: str) -> Artifact | str:
    """Build a config alone for one target; return the artifact, or why the config is left out."""
    setup.context.progress.working("static", f"{config} for {name}")
    target = _with_macro(setup.protocol.targets[name], session.rule.define, config)
    sources = setup.context.workspace.source_identity(setup.head)
    with setup.tools.gate.working():
        made = setup.tools.toolchains.build(name, target, tree=session.cwd, sources=sources)
    if isinstance(made, Failed):
        return f"does not build for {name}: {made.reason}"
    broken = exceeded(target.limits, None, made) if target.limits else ()
    return f"{name}: {broken[0]}" if broken else made


def _with_macro(target: Target, macro: str, config: str) -> Target:
    benchmark = replace(target.benchmark, layouts=1) if target.benchmark else None
    return replace(target, build=with_macro(target.build, macro, config), benchmark=benchmark)
