"""Parse the assembly text that clang -S writes for an AMD GPU: the kernels, their metadata and their code."""

import re
from dataclasses import dataclass
from typing import Any

from expctl.domain.errors import Refused
from expctl.domain.text import one_line
from expctl.gpu.architectures import ModeName
from expctl.inspection.model.instruction_mix import Body, Statement
from expctl.inspection.model.report import Resources
from expctl.inspection.readers import metadata_text
from expctl.inspection.readers.metadata import NUMBERS, arch_of_target, resources_of

_TARGET = re.compile(r'^\s*\.amdgcn_target\s+"([^"]+)"', re.MULTILINE)
_METADATA = re.compile(r"^\s*\.amdgpu_metadata\s*\n(.*?)^\s*\.end_amdgpu_metadata", re.MULTILINE | re.DOTALL)
_DESCRIPTOR = re.compile(r"^\s*\.amdhsa_kernel\s+(\S+)\s*\n(.*?)^\s*\.end_amdhsa_kernel", re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(r"^\s*\.amdhsa_(\w+)\s+(\S+)", re.MULTILINE)
_INFO = re.compile(r"^; Kernel info:\n(.*?)(?=^[^;])", re.MULTILINE | re.DOTALL)
_FIGURE = re.compile(r"^; (\w+)\s*[:=]\s*(\d{1,18})\b", re.MULTILINE | re.ASCII)
_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)
_LABEL = re.compile(r'^(?:"([^"]+)"|([.\w$@]+)):')
_END_OF_BODY = re.compile(r"^\s*\.(?:section|size|text)\b|^\.Lfunc_end")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyText:
    """A parsed assembly text; `bodies[i]` is the code of `kernels[i]`."""

    arch: str
    kernels: tuple[Resources, ...]
    bodies: tuple[Body, ...]


def parse_assembly(text: str, where: str) -> AssemblyText:
    """Parse assembly `text`; `where` names its file in errors. Raises Refused if it is not for an AMD GPU, has no kernel, or
    has bad metadata.
    """
    target = _TARGET.search(text)
    if target is None:
        raise Refused(
            "this is not assembly for an AMD GPU",
            code="not-amd-assembly",
            expected='a line .amdgcn_target "amdgcn-amd-amdhsa--gfx..."',
            found="no such line",
            where=where,
            hint="make the file with clang -x hip --cuda-device-only --offload-arch=gfx... -S",
        )
    arch = arch_of_target(target[1])
    descriptors = list(_DESCRIPTOR.finditer(text))
    if not descriptors:
        raise no_kernel(where)
    recorded = {str(entry.get(".name", "")): entry for entry in metadata_of(text, where)}
    lines = text.splitlines()
    kernels, bodies = [], []
    for index, found in enumerate(descriptors):
        name, directives = found[1].strip('"'), dict(_DIRECTIVE.findall(found[2]))
        end = descriptors[index + 1].start() if index + 1 < len(descriptors) else len(text)
        info = _INFO.search(text, found.end(), end)
        figures = dict(_FIGURE.findall(info[1])) if info else {}
        if name not in recorded:
            raise Refused(
                f"the metadata does not describe kernel {name}",
                code="kernel-without-metadata",
                expected=f"an entry with .name: {name} between .amdgpu_metadata and .end_amdgpu_metadata",
                found="no such entry",
                where=where,
                hint="write the file anew with clang -S",
            )
        kernels.append(
            resources_of(
                recorded[name],
                mode=ModeName.WGP if directives.get("workgroup_processor_mode") == "1" else ModeName.CU,
                code_bytes=_number(figures, "codeLenInByte"),
                printed_occupancy=_number(figures, "Occupancy"),
                where=where,
            )
        )
        bodies.append(_body(lines, name, where))
    return AssemblyText(arch=arch, kernels=tuple(kernels), bodies=tuple(bodies))


def kernel_names(text: str) -> tuple[str, ...]:
    """Return the names of the kernels in an assembly text."""
    return tuple(found[1] for found in _DESCRIPTOR.finditer(text))


def no_kernel(where: str) -> Refused:
    """Return the error, not raised, that the file named `where` contains no kernel."""
    return Refused(
        "there is no GPU kernel in this file",
        code="no-kernel-in-file",
        expected="at least one __global__ function",
        found="none that the compiler kept",
        where=where,
        hint="instantiate a template kernel; give -D NAME=VALUE if an #ifdef left the kernel out",
    )


def metadata_of(text: str, where: str) -> list[dict[str, Any]]:
    """Return the metadata entry of each kernel in an assembly text. Raises Refused if they can't be read."""
    block = _METADATA.search(text)
    try:
        content = metadata_text.load(block[1].removesuffix("...\n")) if block else {}
    except metadata_text.BadMetadata as error:
        raise Refused(
            "the metadata of the assembly can't be read",
            code="assembly-metadata-unreadable",
            expected="the YAML that clang writes between .amdgpu_metadata and .end_amdgpu_metadata",
            found=one_line(str(error), 200),
            where=where,
            hint="write the file anew with clang -S",
        ) from error
    kernels = content.get("amdhsa.kernels", []) if isinstance(content, dict) else []
    return [_numbered(entry) for entry in kernels if isinstance(entry, dict)]


def _numbered(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        key: int(value) if key in NUMBERS and isinstance(value, str) and _NUMBER.fullmatch(value) else value
        for key, value in entry.items()
    }


def _number(figures: dict[str, str], name: str) -> int | None:
    return int(figures[name]) if name in figures else None


def _body(lines: list[str], name: str, where: str) -> Body:
    starts = (f"{name}:", f'"{name}":')
    begin = next((i for i, line in enumerate(lines) if line.startswith(starts)), None)
    if begin is None:
        raise Refused(
            f"the assembly describes kernel {name} but has no code for it",
            code="kernel-without-code",
            expected=f"a label {name}: at the start of a line",
            found="no such label",
            where=where,
            hint="write the file anew with clang -S",
        )
    statements: list[Statement] = []
    labels: dict[str, int] = {}
    for number, line in enumerate(lines[begin + 1 :], begin + 2):
        if _END_OF_BODY.match(line):
            break
        code = line.split(";", 1)[0].split("//", 1)[0].rstrip()
        if label := _LABEL.match(code):
            labels[label[1] or label[2]] = len(statements)
        elif code.strip() and not code.lstrip().startswith("."):
            mnemonic, _, operands = code.strip().replace("\t", " ").partition(" ")
            statements.append(Statement(line=number, mnemonic=mnemonic, operands=operands.strip()))
    return Body(statements=tuple(statements), labels=labels)
