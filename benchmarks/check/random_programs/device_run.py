"""Compiles random programs for gfx1151 and interprets them, by what `expctl check` is made of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.check.random_programs.program import Program
from expctl.check.case import Case, case_of
from expctl.check.case_file import Description
from expctl.check.examine import Plan, examine
from expctl.check.kernel_file import KernelFile, read_kernels
from expctl.inspection.device_compiler import Options


def compiled(kernels: Path, level: str) -> KernelFile:
    """Compile a file of programs at a level such as -O2. Raises Refused if it doesn't compile."""
    return read_kernels(kernels, Options(arch="", level=level))


def interpreted(file: KernelFile, program: Program, values: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Interpret one program of a file on `values` and return its outputs by name, and what the check finds fault with, "" if
    nothing. Raises Refused for code that the interpreter doesn't know.
    """
    description = Description(case=_case(program, values), where=program.name)
    result, trial = examine(file, description, Plan(orders=1, seed=program.seed), program.name)
    faults = (f"{each.kind} by {each.instruction}: {each.what}" for each in result.findings[:2])
    return trial.outputs, "; ".join(faults)


def _case(program: Program, values: Mapping[str, Any]) -> Case:
    arguments: list[dict[str, Any]] = []
    for each in program.parameters:
        given = values[each.name]
        argument: dict[str, Any] = {"name": each.name, "dtype": each.type.element_name}
        if each.count:
            argument |= {"shape": [given.size], "values": given, "role": "inout" if each.is_output else "in"}
        else:
            argument["value"] = given[0].item()
        arguments.append(argument)
    return case_of({"grid": [program.groups], "block": list(program.block), "arguments": arguments}, program.name)
