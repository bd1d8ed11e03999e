"""Notes which backends inductor may tune a product with, and which of them it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch._inductor.kernel.mm as lowering
from torch._functorch import config as functorch_config
from torch._inductor import config, select_algorithm

ASKED = {
    "ATEN": "use_aten_gemm_kernels",
    "TRITON": "use_triton_template",
    "CUTLASS": "use_cutlass_template",
    "CK": "use_ck_gemm_template",
    "CKTILE": "use_ck_tile_gemm_template",
    "NVGEMM": "use_nv_universal_gemm_template",
    "CPP": "use_cpp_gemm_template",
}
"""Backend -> the function by which inductor's lowering of a product asks whether it may be tried."""
CALLERS = {
    "ExternKernelCaller": "ATEN",
    "TritonTemplateCaller": "TRITON",
    "CUTLASSTemplateCaller": "CUTLASS",
    "ROCmTemplateCaller": "CK",
    "NVUniversalGemmCaller": "NVGEMM",
    "CppTemplateCaller": "CPP",
}


@dataclass(frozen=True, slots=True)
class Backend:
    """One backend: was it eligible, and if not, why."""

    name: str
    eligible: bool
    why: str = ""


@dataclass(slots=True)
class Tuning:
    """What was noted while one formulation was compiled."""

    answers: dict[str, bool] = field(default_factory=dict)
    tried_us: dict[str, float] = field(default_factory=dict)
    chosen: str = ""

    def backends(self) -> list[Backend]:
        """Return every backend that this torch knows, the eligible first."""
        wanted = {word.strip() for word in config.max_autotune_gemm_backends.upper().split(",")}
        known = [name for name, function in ASKED.items() if hasattr(lowering, function)]
        found = [Backend(name, self.answers.get(name, False), self._why(name, wanted)) for name in known]
        return sorted(found, key=lambda each: not each.eligible)

    def _why(self, name: str, wanted: set[str]) -> str:
        if self.answers.get(name):
            return ""
        if name not in wanted:
            for_chips = f"; it knows {', '.join(config.rocm.ck_supported_arch)}" if name.startswith("CK") else ""
            return f"not in max_autotune_gemm_backends ({config.max_autotune_gemm_backends}){for_chips}"
        return "inductor's own checks of device, dtype and size refuse it" if name in self.answers else "never asked for"

    def _tuned(self, timings: Mapping[Any, float], *_: object) -> None:
        """Note what was tried, and take the quickest."""
        finite = {choice: seconds for choice, seconds in timings.items() if 0 < seconds < float("inf")}
        self.tried_us = {_name(choice): round(ms * 1e3, 2) for choice, ms in sorted(finite.items(), key=lambda each: each[1])}
        self.chosen = next(iter(self.tried_us), "")


def _name(choice: object) -> str:
    kind = type(choice).__name__
    return f"{CALLERS.get(kind, kind)} {getattr(choice, 'name', '')}".strip()


@contextmanager
def noted(tunes: bool) -> Iterator[Tuning]:
    """Note what inductor asks and finds while it compiles; `tunes`: may it autotune."""
    tuning = Tuning()
    with ExitStack() as stack:  # a graph from a cache asks nothing
        stack.enter_context(config.patch(fx_graph_cache=False))
        stack.enter_context(functorch_config.patch(enable_autograd_cache=False))
        for name, function in ASKED.items():
            if hasattr(lowering, function):
                stack.enter_context(patch.object(lowering, function, _asking(tuning, name, getattr(lowering, function))))
        select_algorithm.add_feedback_saver(tuning._tuned)
        stack.callback(select_algorithm.clear_feedback_savers)
        yield tuning
    if not tuning.chosen:
        eligible = [name for name, answer in tuning.answers.items() if answer]
        tuning.chosen = f"{', '.join(eligible)}: {'nothing else may be tried' if tunes else 'nothing is tuned in this mode'}"


def _asking(tuning: Tuning, name: str, ask: Callable[..., bool]) -> Callable[..., bool]:
    def asked(*words: Any, **named: Any) -> bool:
        answer = bool(ask(*words, **named))
        tuning.answers[name] = tuning.answers.get(name, False) or answer
        return answer

    return asked
