"""The command `expctl init`: write protocol.yaml, a harness and, where there is no kernel yet, a sample."""

from typing import TYPE_CHECKING, Annotated

import typer

from expctl.domain.protocol.first_protocol import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from expctl.domain.errors import Refused
    from expctl.domain.protocol.first_protocol import FirstProtocol


def init(
    kind: Annotated[Kind | None, typer.Option(help="What the kernel is written in; found where there are sources.")] = None,
    source: Annotated[str, typer.Option(metavar="FILE", help="The kernel's file, where several could be it.")] = "",
    function: Annotated[
        str, typer.Option(metavar="NAME", help="The function to measure; or its declaration in C, where a macro makes it.")
    ] = "",
    scope: Annotated[str, typer.Option(metavar="FOLDER", help="What patches may touch; the folder of the sources.")] = "",
    harness: Annotated[
        str, typer.Option(metavar="FOLDER", help="Where harness.py lies, which patches may not touch.")
    ] = "bench",
    build: Annotated[
        str, typer.Option(metavar="COMMAND", help="The command that writes {artifact}; a Makefile or compiler is found.")
    ] = "",
    artifact: Annotated[str, typer.Option(metavar="NAME", help="The file name of what is built.")] = "",
) -> None:
    """Write protocol.yaml and a harness for a kernel of your own, or with a sample kernel. Overwrites nothing."""
    import shlex

    from expctl import wiring
    from expctl.adapters.codec import strict_yaml
    from expctl.adapters.init.repository import Wishes, first_protocol, look
    from expctl.cli.output import after, print_lines
    from expctl.domain.errors import Misused, Refused
    from expctl.domain.protocol.inconsistencies import inconsistencies
    from expctl.domain.protocol.model import Protocol
    from expctl.views.scaffold import harness_text, protocol_text, sample_text

    root = wiring.here().root
    try:
        words = tuple(shlex.split(build))
    except ValueError as error:
        raise Misused(
            "--build is no command",
            code="build-no-command",
            expected="words as in a shell, with every quote closed",
            found=f"{build} ({error})",
            hint='expctl init --build "make kernel.so"',
        ) from error
    wishes = Wishes(kind=kind, source=source, function=function, scope=scope, harness=harness, build=words, artifact=artifact)
    try:
        first = first_protocol(look(root), wishes, sample=sample_text)
    except Misused:
        if (root / "protocol.yaml").exists():
            raise _there_already(root) from None
        raise
    files = {"protocol.yaml": protocol_text(first), first.script: harness_text(first)}
    if first.is_sample:
        files[first.source] = sample_text(first.kind)
    faults = inconsistencies(strict_yaml.load(files["protocol.yaml"].encode(), Protocol, where="protocol.yaml"))
    if faults:
        raise Refused(
            "these options make a protocol.yaml that contradicts itself",
            code="protocol-words-unfit",
            expected="separate folders inside the repository, and a build command that writes {artifact}",
            found="\n".join(faults),
            hint="change the options that these lines name; expctl init --help",
        )
    if (root / "protocol.yaml").exists() and not _are_from_the_same_command(root, files):
        raise _there_already(root)
    written = _write(root, files)
    kept = [name for name in files if name not in written]
    with after("the files are written"):
        print_lines([*(f"written  {name}" for name in written), *(f"kept     {name}" for name in kept), *_next(first, written)])


def _there_already(root: "Path") -> "Refused":
    from expctl.domain.errors import Refused

    return Refused(
        "there is a protocol.yaml already",
        code="protocol-exists",
        expected="a repository without protocol.yaml",
        found=str(root / "protocol.yaml"),
        hint="edit it, or move it aside; expctl harness check says whether it works",
    )


def _are_from_the_same_command(root: "Path", files: dict[str, str]) -> bool:
    """Return whether each of `files` is missing or as it would be written, as a call leaves them that was killed."""
    there = [name for name in files if (root / name).exists()]
    return all((root / name).is_file() and (root / name).read_bytes() == files[name].encode() for name in there)


def _write(root: "Path", files: dict[str, str]) -> list[str]:
    """Write those of `files` that do not exist, each whole or not at all, and return their names. protocol.yaml is the last:
    a repository that has one has the rest.
    """
    import os

    from expctl.files import atomic_write

    written = [name for name in files if not os.path.lexists(root / name)]
    for name in sorted(written, key="protocol.yaml".__eq__):
        atomic_write.replace_for_user(root / name, files[name].encode())
    return written


def _next(first: "FirstProtocol", written: list[str]) -> list[str]:
    line = next((n for n, text in enumerate(_harness_lines(first), 1) if "NotImplementedError" in text), 0)
    edit = [f"write the reference in {first.script}, line {line}, and the sizes and inputs that you mean"] if line else []
    from shlex import quote

    add = " ".join(map(quote, dict.fromkeys(["protocol.yaml", first.script, *first.scope])))
    steps = [
        *(edit if first.script in written else []),
        "expctl harness check",
        f"git add {add} && git commit -m 'Measure {first.sketch.function} by expctl'",
        f"edit {first.source}, then: expctl new --from-diff && expctl run P1",
    ]
    return ["next", *(f"  {number}  {step}" for number, step in enumerate(steps, 1))]


def _harness_lines(first: "FirstProtocol") -> list[str]:
    from expctl.views.scaffold import harness_text

    return harness_text(first).splitlines()
