"""Builds random programs for both sides, runs them on the same values, and says where the outputs differ."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.check.random_programs import device_run, host_run
from benchmarks.check.random_programs.host_run import HostFailed, HostPrograms
from benchmarks.check.random_programs.program import Program, inputs
from expctl.check.kernel_file import KernelFile
from expctl.domain.errors import Refused

_OPERANDS = re.compile(r"(: [a-z]+_\w+) .*")

_PRODUCT_PLUS_ZERO = re.compile(r"v_fma_mix(lo|hi)_f16 [^;\n]*, 0(\s|$)", re.MULTILINE)


class Answer(StrEnum):
    """What became of a build."""

    EQUAL = "equal"
    VALUE = "different"
    FAULT = "false alarm"
    CRASH = "crash"
    REFUSED = "refused"
    INVALID = "invalid program"
    COMPILER = "compiler's"
    """Both sides are right: clang writes a product that is rounded to a half as a * b + 0, which loses the sign of a zero."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A program at a level, and what became of it; `cause` says it in words, "" if both sides are equal."""

    program: Program
    level: str
    answer: Answer
    cause: str = ""

    @property
    def is_wrong(self) -> bool:
        """Return whether the interpreter took the program, and did it wrong."""
        return self.answer in (Answer.VALUE, Answer.FAULT, Answer.CRASH)


def outcomes(programs: Sequence[Program], level: str, host_programs: Sequence[Program] = ()) -> list[Outcome]:
    """Run each program on both sides, built at `level` for the device; the host runs `host_programs`, if there are any."""
    with tempfile.TemporaryDirectory(prefix="random-kernels.") as name:
        folder = Path(name)
        try:
            host = host_run.compiled(host_programs or programs, folder)
            file = device_run.compiled(host_run.write_sources(programs, folder), level)
        except (HostFailed, Refused) as error:
            if len(programs) > 1:
                return [found for i, each in enumerate(programs) for found in outcomes([each], level, host_programs[i : i + 1])]
            answer = Answer.INVALID if isinstance(error, HostFailed) else Answer.REFUSED
            return [Outcome(programs[0], level, answer, _words(error))]
        return [_outcome(program, level, file, host, i) for i, program in enumerate(programs)]


def _outcome(program: Program, level: str, file: KernelFile, host: HostPrograms, number: int) -> Outcome:
    values = inputs(program)
    try:
        wanted = host.run(number, values)
    except HostFailed as error:
        return Outcome(program, level, Answer.INVALID, _words(error))
    try:
        found, fault = device_run.interpreted(file, program, values)
    except Refused as error:
        return Outcome(program, level, Answer.REFUSED, _words(error))
    except Exception as error:  # noqa: BLE001  a defect of the interpreter is what is looked for
        return Outcome(program, level, Answer.CRASH, f"{type(error).__name__}: {error}")
    if cause := difference(found, wanted) if found else "no outputs":
        is_clang = _PRODUCT_PLUS_ZERO.search(file.assembly) and "0.0 (0x0), host -0.0" in cause
        return Outcome(program, level, Answer.COMPILER if is_clang else Answer.VALUE, cause)
    return Outcome(program, level, Answer.FAULT if fault else Answer.EQUAL, fault)


def difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return which element of the outputs is the first to have other bits; "" if there is none. A NaN equals any other."""
    for name, expected in wanted.items():
        got = np.asarray(found[name], dtype=expected.dtype)
        differs = _bits(got) != _bits(expected)
        if expected.dtype.kind == "f":
            differs &= ~(np.isnan(got) & np.isnan(expected))
        if differs.any():
            i = int(differs.argmax())
            count = f"{int(differs.sum())} of {differs.size} elements"
            return f"{name}[{i}]: interpreter {_shown(got[i])}, host {_shown(expected[i])}; {count}"
    return ""


def _bits(array: Any) -> Any:
    return array.view(f"u{array.itemsize}")


def _shown(value: Any) -> str:
    return f"{value} ({int(_bits(np.atleast_1d(value))[0]):#x})"


def _words(error: HostFailed | Refused) -> str:
    """Return the cause of a refusal without an instruction's operands, so that causes can be counted."""
    if isinstance(error, HostFailed):
        return str(error)
    return _OPERANDS.sub(r"\1", " ".join(f"{error.message}: {error.found}".split()))
