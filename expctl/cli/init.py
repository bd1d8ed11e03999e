"""The command `expctl init`: write a first protocol.yaml for a repository with a kernel of your own."""

from typing import Annotated

import typer


def init(
    scope: Annotated[str, typer.Option(help="The folder that patches may touch.")] = "src",
    harness: Annotated[
        str, typer.Option(help="The folder with test.py and benchmark.py, which patches may not touch.")
    ] = "bench",
    build: Annotated[str, typer.Option(help="The command that writes {artifact}.")] = "make ARTIFACT={artifact}",
    artifact: Annotated[str, typer.Option(help="The file name of what is built.")] = "kernel.so",
) -> None:
    """Write a first protocol.yaml, to be edited and committed together with your test.py and benchmark.py."""
    import shlex

    from expctl import wiring
    from expctl.adapters.codec import strict_yaml
    from expctl.cli.output import print_lines
    from expctl.domain.errors import Refused
    from expctl.domain.protocol.inconsistencies import inconsistencies
    from expctl.domain.protocol.model import Protocol
    from expctl.files import atomic_write
    from expctl.views.scaffold import protocol_text

    root = wiring.here().root
    file = root / "protocol.yaml"
    if file.exists():
        raise Refused(
            "there is a protocol.yaml already",
            code="protocol-exists",
            expected="a repository without protocol.yaml",
            found=str(file),
            hint="edit it, or move it aside",
        )
    words = tuple(shlex.split(build))
    text = protocol_text(name=root.name, scope=scope, harness=harness, build=words, artifact=artifact)
    faults = inconsistencies(strict_yaml.load(text.encode(), Protocol, where="protocol.yaml"))
    if faults:
        raise Refused(
            "these options make a protocol.yaml that contradicts itself",
            code="protocol-words-unfit",
            expected="separate folders inside the repository, and a build command that writes {artifact}",
            found="\n".join(faults),
            hint="change the options that these lines name; expctl init --help",
        )
    atomic_write.replace(file, text.encode())
    print_lines(
        [
            "protocol.yaml written",
            f"  1  write {harness}/test.py and {harness}/benchmark.py as docs/HARNESS.md of expctl says",
            "  2  name your sizes in protocol.yaml",
            "  3  git add protocol.yaml && git commit",
            f"  4  edit {scope}, then: expctl new P1 --from-diff && expctl run P1",
        ]
    )
