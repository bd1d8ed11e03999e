"""Probes: tried once for each compiler; no compiler is no answer."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.rules.probes import ProbeCache
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Probe, Until

SNIPPET = Probe(source="int probe;\n")


class StepPerformer:
    """A compiler that knows what `known` says, and an interpreter that knows nothing but `s_endpgm`."""

    def __init__(self, folder: Path) -> None:
        self.name = "clang 21"
        self.known = {"gfx1250"}
        self.tried: list[str] = []
        self.probes = ProbeCache(folder, compiler=lambda: self.name, assemble=self.assemble, interpret=self.interpret)

    def assemble(self, source: Path, arch: str) -> str:
        self.tried.append(f"{arch} {source.read_text()}")
        if arch not in self.known:
            raise Refused("this file does not compile", code="does-not-compile", found=f"{source}:1: error: needs more")
        return "s_endpgm"

    def interpret(self, assembly: str) -> None:
        if assembly != "s_endpgm":
            raise Refused("unknown opcode", code="assembly-not-supported", found=assembly)


@pytest.fixture
def bench(tmp_path: Path) -> StepPerformer:
    return StepPerformer(tmp_path / "probes")


def test_a_probe_fails_with_the_compilers_words_and_passes_elsewhere(bench: StepPerformer) -> None:
    answer = bench.probes(SNIPPET)
    assert (answer.passes, answer.said) == (False, "clang 21: this file does not compile probe.hip:1: error: needs more")
    assert bench.probes(Probe(source="x", arch="gfx1250")).passes


def test_an_answer_is_kept_for_the_compiler_that_gave_it(bench: StepPerformer) -> None:
    assert not bench.probes(SNIPPET).passes
    bench.known.add("gfx1151")
    assert not bench.probes(SNIPPET).passes
    assert len(bench.tried) == 1
    bench.name = "clang 22"
    assert bench.probes(SNIPPET).passes
    assert len(bench.tried) == 2


def test_a_damaged_answer_is_asked_for_again(bench: StepPerformer, tmp_path: Path) -> None:
    bench.probes(SNIPPET)
    (file,) = (tmp_path / "probes").iterdir()
    for damage in (b"", b"[]", b"{}"):
        file.write_bytes(damage)
        assert not bench.probes(SNIPPET).passes
    assert len(bench.tried) == 4


def test_without_a_compiler_nothing_is_tried_or_kept(bench: StepPerformer, tmp_path: Path) -> None:
    bench.name = ""
    assert not bench.probes(SNIPPET).passes
    assert not bench.tried
    assert not (tmp_path / "probes").exists()


def test_the_interpreter_has_the_last_word_where_it_is_asked(bench: StepPerformer) -> None:
    wanted = Probe(source="x", arch="gfx1250", until=Until.INTERPRETS)
    assert bench.probes(wanted).passes
    probes = replace(bench.probes, assemble=lambda _source, _arch: "v_new")
    other = probes(Probe(source="y", arch="gfx1250", until=Until.INTERPRETS))
    assert (other.passes, other.said) == (False, "clang 21: unknown opcode v_new")
