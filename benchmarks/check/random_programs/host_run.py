"""Compiles random programs for the host with the clang of the ziglang wheel, and runs them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.check.random_programs.program import HEADER, Parameter, Program, offsets

HEADERS = tuple(Path(__file__).with_name(name) for name in ("operations.h", "host.h"))
COMPILER = (sys.executable, "-m", "ziglang", "c++")
FLAGS = (
    "-std=c++17", "-O0", "-ffp-contract=off", "-fno-math-errno", "-Xclang", "-ffloat16-excess-precision=none",
    "-fno-exceptions", "-fno-rtti", "-nostdinc++", "-nostdlib++", "-fsanitize=undefined,float-cast-overflow",
    "-fsanitize-trap=all", "-w",
)  # fmt: skip
"""Not optimised, so that it is no translation by the same passes; undefined behaviour ends the program."""
TIMEOUT_S = 60


class HostFailed(Exception):
    """A program doesn't compile for the host, or doesn't end there as it should: it is no valid program."""


@dataclass(frozen=True, slots=True)
class HostPrograms:
    """An executable of several programs."""

    executable: Path
    programs: tuple[Program, ...]

    def run(self, number: int, values: Mapping[str, Any]) -> dict[str, Any]:
        """Run one program on `values` and return its outputs by name. Raises HostFailed."""
        program = self.programs[number]
        places, size = offsets(program)
        memory = bytearray(size)
        for name, value in values.items():
            memory[places[name] : places[name] + value.nbytes] = value.tobytes()
        try:
            ended = subprocess.run(
                [self.executable, str(number)], input=memory, capture_output=True, check=False, timeout=TIMEOUT_S
            )
        except subprocess.TimeoutExpired as error:
            raise HostFailed(f"no end within {TIMEOUT_S} s") from error
        if ended.returncode or len(ended.stdout) != size:
            raise HostFailed(f"ended with status {ended.returncode}")
        outputs = {each.name: values[each.name] for each in program.parameters if each.is_output}
        return {name: np.frombuffer(ended.stdout, each.dtype, each.size, places[name]) for name, each in outputs.items()}


def write_sources(programs: Sequence[Program], folder: Path) -> Path:
    """Write the programs, and all that compiling them takes, to `folder`; return the file of the kernels."""
    for header in HEADERS:
        shutil.copy(header, folder)
    kernels = folder / "kernels.hip"
    kernels.write_text(HEADER + "\n".join(each.text for each in programs))
    (folder / "main.cpp").write_text(_main(programs))
    return kernels


def compiled(programs: Sequence[Program], folder: Path) -> HostPrograms:
    """Compile the programs in `folder`. Raises HostFailed with the first error of clang."""
    write_sources(programs, folder)
    executable = folder / "host"
    ended = subprocess.run(
        [*COMPILER, *FLAGS, "main.cpp", "-o", str(executable)], cwd=folder, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise HostFailed(next((line for line in ended.stderr.splitlines() if "error:" in line), ended.stderr[-400:]))
    return HostPrograms(executable, tuple(programs))


def _main(programs: Sequence[Program]) -> str:
    launches = "\n".join(f"    {_launch(each)}," for each in programs)
    return (
        '#include "host.h"\n#include "kernels.hip"\n\n'
        f"static const Launch LAUNCHES[] = {{\n{launches}\n}};\n\n"
        "int main(int, char **words) { return run_launch(LAUNCHES[atoi(words[1])]); }\n"
    )


def _launch(program: Program) -> str:
    places, size = offsets(program)
    arguments = ", ".join(_argument(each, places[each.name]) for each in program.parameters)
    return f"{{[](u8 *m) {{ {program.name}({arguments}); }}, {size}, {program.groups}, {program.block[0]}, {program.block[1]}}}"


def _argument(parameter: Parameter, place: int) -> str:
    return f"({parameter.type} *)(m + {place})" if parameter.count else f"read<{parameter.type}>(m + {place})"
