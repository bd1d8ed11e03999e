"""Which preprocessed sources say that machine code is the same, and which guards of this repository a patch builds."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.records.repository_contents import _protocol_of
from expctl.adapters.steps.builder import Builder
from expctl.adapters.steps.preprocessed import flags_tell_all, source_hash
from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.protocol.model import Build, Environment, Protocol, Toolchain
from expctl.targets.gfx1151 import ZigGfxRecipe

ROOT = Path(__file__).parents[3]
COMMAND = ("clang", "-O3")
PLAIN = b'#pragma unroll\nint f() { return g("a  b"); }\n'


def test_indents_and_blank_lines_are_no_tokens_and_everything_else_is() -> None:
    known = source_hash(COMMAND, PLAIN)
    assert len(known) == 64
    assert source_hash(COMMAND, b"\n  " + PLAIN.replace(b"\n", b" \n\n")) == known
    for other in (b'int f() { return g("a b"); }\n', b"#pragma unroll 2\nint f()", PLAIN.replace(b"f()", b"f( )")):
        assert source_hash(COMMAND, other) != known
    assert source_hash((*COMMAND, "-DX"), PLAIN) != known


def test_lines_of_a_raw_string_are_kept() -> None:
    raw = b'auto s = R"(a\n  b\n\n)";\n'
    assert source_hash(COMMAND, raw) != source_hash(COMMAND, raw.replace(b"\n  b", b"\nb"))


SURE = {
    "empty assembly": b'asm volatile("" : "+v"(offset));',
    "an instruction": b'__asm__ __volatile__ ("s_waitcnt 0\\n\\t" "s_nop 1" ::: "memory");',
    "another name": b'char *basename(char *) noexcept(true) __asm ("basename");',
    "a number with a point": b'asm("v_mov_b32 %0, 0.5" : "=v"(x));',
}
UNSURE = {
    "embedded": b"#embed <table>",
    "asked whether it embeds": b"__has_embed",
    "another file": b'asm(".incbin \\"table\\"");',
    "another file in two parts": b'asm("." "include \\"table\\"");',
    "a directive with its name in an operand": b'asm(".in%c0 \\"table\\"" :: "i"(cbin));',
    "a letter by its number": b'asm("\\x2eincbin \\"table\\"");',
    "a raw string": b'asm(R"(.incbin "table")");',
    "a raw string after another": b'asm("" R"(.incbin "table")");',
    "computed": b"asm((text()));",
    "a block": b"__asm { nop }",
    "a line": b"int f(int line = __builtin_LINE());",
    "a place": b"auto here = __builtin_source_location();",
    "a name with a place": b"log(__PRETTY_FUNCTION__);",
    "a name with a place, by the compiler": b"log(__builtin_FUNCSIG());",
    "an error of a warning": b'#pragma GCC diagnostic error "-Wmisleading-indentation"',
}


@pytest.mark.parametrize("name", SURE)
def test_a_text_that_tells_all(name: str) -> None:
    assert source_hash(COMMAND, PLAIN + SURE[name])


@pytest.mark.parametrize("name", UNSURE)
def test_a_text_that_may_not_tell_all_has_no_hash(name: str) -> None:
    assert source_hash(COMMAND, PLAIN + UNSURE[name]) == ""


def test_no_text_has_no_hash() -> None:
    assert source_hash(COMMAND, b"") == ""


@pytest.mark.parametrize(
    ("flag", "sure"),
    [
        *((flag, True) for flag in ("-O3", "-DX=table", "-std=c++17", "-march=native", "-fno-rtti", "-g1", "-Wall", "-Iinc")),
        *((flag, False) for flag in ("-Wl,-T,x", "-mllvm", "@table", "table", "-include", "-fprofile-use", "-fsanitize=all")),
        *((flag, False) for flag in ("-fsome-list=table", "-Lx", "-lx", "-fcs-profile-use", "-Xclang", "-C", "-fopenmp")),
        *((flag, False) for flag in ("-Werror", "-Werror=misleading-indentation", "-O0", "-Og", "-O")),
    ],
)
def test_which_options_read_nothing_else(tmp_path: Path, flag: str, sure: bool) -> None:
    (tmp_path / "table").touch()
    assert flags_tell_all(("-O3", flag), tmp_path) is sure


def test_a_build_without_optimisation_has_a_sanitizer(tmp_path: Path) -> None:
    assert not flags_tell_all(("-march=native",), tmp_path)
    assert flags_tell_all(("-O0", "-O2"), tmp_path)


# ------------------------------------------------------------------ the guards of this repository

GUARDS = ("gfx1151-static", "gfx1151-configs")


class CheapRecipe(ZigGfxRecipe):
    """Preprocesses as the recipe does; a build is a file, and is counted."""

    def __init__(self) -> None:
        self.built: list[str] = []

    def commands(self, build: Build, *, out: Path, **_: object) -> tuple[tuple[str, ...], ...]:
        self.built.append(build.source)
        return (("{python}", "-c", "import sys; open(sys.argv[1], 'w')", str(out / build.artifact)),)

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        return artifact.name, ()


@pytest.fixture
def protocol() -> Protocol:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    return _protocol_of("protocol.yaml", (ROOT / "protocol.yaml").read_bytes())


@pytest.fixture
def built_for(tmp_path: Path, protocol: Protocol) -> Callable[[str, str, str], list[str]]:
    """A function that patches a file of the kernel and returns the sources compiled for the guards of the candidate."""
    recipe = CheapRecipe()
    builder = Builder({Toolchain.ZIG_GFX: recipe}, state=tmp_path / "state", environment=Environment(), mark="m", machine="m")

    def build(tree: Path, sources: str, like: dict[str, Artifact]) -> dict[str, Artifact]:
        made = {
            name: builder.build(name, protocol.targets[name], tree=tree, sources=sources, like=like.get(name))
            for name in GUARDS
        }
        return {name: each for name, each in made.items() if isinstance(each, Artifact)}

    def built(file: str, old: str, new: str) -> list[str]:
        for side in ("b", "c"):
            shutil.copytree(ROOT / "kernel/hip", tmp_path / side / "kernel/hip")
        baseline = build(tmp_path / "b", "1", {})
        assert all(each.source for each in baseline.values())
        assert len(recipe.built) == len(baseline) == len(GUARDS)
        recipe.built.clear()
        patched = tmp_path / "c" / file
        text = patched.read_text()
        assert old in text
        patched.write_text(text.replace(old, new, 1))
        candidate = build(tmp_path / "c", "2", baseline)
        assert len(candidate) == len(GUARDS)
        assert (candidate == baseline) is (not recipe.built)
        return list(recipe.built)

    return built


@pytest.mark.parametrize(
    ("file", "old", "new", "builds"),
    [
        ("kernel/hip/vector_cpu.h", "#pragma once", "#pragma once\nstatic const int another = 1;", False),
        ("kernel/hip/host_cpu.cpp", "#include", "static int another;\n#include", False),
        ("kernel/hip/ring_gfx11.h", "// ", "// a word more: ", False),
        ("kernel/hip/ring_gfx11.h", "#pragma once", "#pragma once\nstatic const int another = 1;", True),
        ("kernel/hip/phases.h", "#pragma once", "#pragma once\n#pragma clang optimize on", True),
    ],
)
def test_a_guard_is_built_where_its_preprocessed_source_changed(
    built_for: Callable[[str, str, str], list[str]], file: str, old: str, new: str, builds: bool
) -> None:
    assert built_for(file, old, new) == (["kernel/hip/scaled_mm.hip", "kernel/hip/host_hip.hip"] if builds else [])


def test_what_does_not_preprocess_is_built_and_fails_there(
    built_for: Callable[[str, str, str], list[str]],
) -> None:
    assert len(built_for("kernel/hip/phases.h", "#pragma once", "#pragma once\n#error stop")) == len(GUARDS)
