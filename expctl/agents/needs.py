"""What a tool needs of this machine and repository."""

from functools import cached_property
from importlib.util import find_spec

from expctl import wiring
from expctl.adapters.git.reader import Place
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Protocol, Toolchain

MODULES = {Toolchain.ZIG_CPU: "ziglang", Toolchain.ZIG_GFX: "ziglang"}
PROGRAMS = {Toolchain.HIPCC: "hipcc", Toolchain.NVCC: "nvcc"}


class Needs:
    """Looks, once for each, whether something is here. It starts nothing but git."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @cached_property
    def _protocol(self) -> Protocol | None:
        try:
            git = wiring.reader(self._place)
            return wiring.library(git).protocol(git.found_head())
        except Refused:
            return None

    def repository(self) -> bool:
        """Is there a repository? There is, or nothing could be asked."""
        return True

    def protocol(self) -> bool:
        """Is a readable protocol.yaml committed?"""
        return self._protocol is not None

    def build(self) -> bool:
        """Can a target be built and run here that could decide?"""
        from shutil import which

        from expctl.adapters.steps.requirements import unmet

        if self._protocol is None:
            return False
        for target in (self._protocol.targets[name] for name in self._protocol.decides):
            tool = target.build.toolchain
            missing = (tool in MODULES and not find_spec(MODULES[tool])) or (tool in PROGRAMS and not which(PROGRAMS[tool]))
            if not missing and unmet(target.requires) is None:
                return True
        return False

    def interpreter(self) -> bool:
        """Is numpy here, with which the interpreter computes?"""
        return find_spec("numpy") is not None
