"""What part of a target can be compiled alone: a config, by the macro that `tune: define` names, or a kernel of each kind."""

from msgspec.structs import replace

from expctl.domain.protocol.model import Build, Target, Toolchain


def with_macro(build: Build, macro: str, config: str) -> Build:
    """Return how a config is built alone."""
    flags = [flag for flag in build.flags if not flag.startswith(f"-D{macro}=")]
    return replace(build, flags=(*flags, f"-D{macro}={config}"))


def first_alone(target: Target) -> Build | None:
    """Return how the first of a target's configs is built alone; None if it can't be, or a config is built alone anyway."""
    tune = target.tune
    if tune is None or not tune.define or not tune.configs:
        return None
    is_alone = any(flag.startswith(f"-D{tune.define}=") for flag in target.build.flags)
    return None if is_alone else with_macro(target.build, tune.define, tune.configs[0])


def compiles_in_part(target: Target) -> bool:
    """Can a part of a target be compiled alone: a config, or, of CUDA's device code, a few kernels?"""
    return first_alone(target) is not None or target.build.toolchain is Toolchain.NVCC
