"""Layouts of target `cpu`: the same code at other addresses, built by the builder with the wheel's own clang."""

import ctypes
import random
import re
from pathlib import Path

import pytest

from expctl.adapters.steps.builder import Builder
from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.model import Benchmark, Build, Environment, Size, Target, Toolchain
from expctl.domain.run.step_result import Failed
from expctl.targets.cpu import ZigCpuRecipe
from expctl.targets.linker_script import place_sections, text_sections

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
pytest.importorskip("elftools", reason="pyelftools (extra `cpu`) is not installed")

LAYOUTS = 8
FUNCTIONS = [f"part_{i}" for i in range(6)]
PART = """__attribute__((noinline)) extern "C" long part_N(const long *v, long n) {
    long sum = N;
    for (long i = 0; i < n; ++i) sum = (sum ^ v[i]) * (2 * N + 3);
    return sum;
}
"""
SOURCE = "".join(PART.replace("N", str(i)) for i in range(6)) + (
    'extern "C" long all(const long *v, long n) { return ' + " + ".join(f"{name}(v, n)" for name in FUNCTIONS) + "; }\n"
)
FLAGS = ("-O2", "-nostdlib", "-ffunction-sections", "-falign-functions=64")


class Bench:
    """Builds SOURCE, or another, in the folder `tree`."""

    def __init__(self, tree: Path, state: Path) -> None:
        self.tree = tree
        recipes = {Toolchain.ZIG_CPU: ZigCpuRecipe()}
        self.builder = Builder(recipes, state=state, environment=Environment(), mark="m", machine="m")

    def target(self, layouts: int, *flags: str) -> Target:
        build = Build(toolchain=Toolchain.ZIG_CPU, source="k.cpp", flags=(*FLAGS, *flags), artifact="k.so")
        benchmark = Benchmark(argv=("-",), timeout_s=1, sizes=(Size(name="n", weight=1),), layouts=layouts)
        return Target(build=build, benchmark=benchmark)

    def build(self, layouts: int, *flags: str, source: str = SOURCE) -> Artifact | Failed:
        (self.tree / "k.cpp").write_text(source)
        return self.builder.build("cpu", self.target(layouts, *flags), tree=self.tree, sources=str(hash(source)))

    def files(self, made: Artifact | Failed, layouts: int = LAYOUTS) -> tuple[Path, ...]:
        assert isinstance(made, Artifact), made
        found = self.builder.layouts(self.target(layouts), made)
        assert found is not None
        return found


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="module")
def made(bench: Bench) -> Artifact | Failed:
    return bench.build(LAYOUTS)


def functions(file: Path) -> dict[str, tuple[int, bytes]]:
    """Address and code of each function."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    with open(file, "rb") as opened:
        elf = ELFFile(opened)
        text, symbols = elf.get_section_by_name(".text"), elf.get_section_by_name(".symtab")
        assert text is not None
        assert isinstance(symbols, SymbolTableSection)
        code, start = text.data(), text["sh_addr"]
        found = {}
        for symbol in symbols.iter_symbols():
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]:
                at = symbol["st_value"] - start
                found[symbol.name] = (symbol["st_value"], code[at : at + symbol["st_size"]])
    return found


def test_the_first_layout_is_the_build_as_it_is_without_layouts(bench: Bench, made: Artifact | Failed) -> None:
    alone = bench.build(1)
    assert isinstance(alone, Artifact)
    assert isinstance(made, Artifact)
    assert (alone.sha256, alone.code, alone.facts, alone.layouts) == (made.sha256, made.code, made.facts, ())
    assert len({made.sha256, *made.layouts}) == LAYOUTS


def test_all_layouts_compute_the_same(bench: Bench, made: Artifact | Failed) -> None:
    values = (ctypes.c_long * 50)(*range(1, 51))
    answers = set()
    for file in bench.files(made):
        library = ctypes.CDLL(str(file))
        library.all.restype = ctypes.c_long
        answers.add(library.all(values, ctypes.c_long(50)))
    assert len(answers) == 1
    assert answers != {0}


def test_they_differ_in_addresses_alone(bench: Bench, made: Artifact | Failed) -> None:
    found = [functions(file) for file in bench.files(made)]
    assert {*FUNCTIONS, "all"} <= set(found[0])
    assert len({frozenset(each) for each in found}) == 1
    for name in FUNCTIONS:  # they call nothing, so no byte depends on an address
        assert len({each[name][1] for each in found}) == 1
    assert len({len(each["all"][1]) for each in found}) == 1


def test_every_function_comes_to_every_quarter_of_a_cache_line_equally_often(bench: Bench, made: Artifact | Failed) -> None:
    found = [functions(file) for file in bench.files(made)]
    for name in FUNCTIONS:
        assert sorted(each[name][0] % 64 for each in found) == [0, 0, 16, 16, 32, 32, 48, 48]


def test_their_order_changes(bench: Bench, made: Artifact | Failed) -> None:
    orders = {tuple(sorted(FUNCTIONS, key=lambda name: each[name][0])) for each in map(functions, bench.files(made))}
    assert len(orders) > LAYOUTS // 2


def test_building_again_gives_the_same_bytes(bench: Bench, made: Artifact | Failed, tmp_path: Path) -> None:
    assert Bench(bench.tree, tmp_path).build(LAYOUTS) == made


def test_what_is_missing_or_was_changed_is_built_again(bench: Bench) -> None:
    made = bench.build(2)
    files = bench.files(made, 2)
    files[1].write_bytes(b"something else")
    assert isinstance(made, Artifact)
    assert bench.builder.layouts(bench.target(2), made) is None
    assert bench.build(2) == made
    assert bench.files(made, 2) == files


def test_a_source_that_does_not_compile_is_told_once(bench: Bench) -> None:
    failed = bench.build(3, source="extern long nothing() { return missing; }\n")
    assert isinstance(failed, Failed)
    assert "use of undeclared identifier 'missing'" in failed.reason
    assert "layout" not in failed.reason


def test_code_without_unwind_tables_has_layouts_too(bench: Bench) -> None:
    made = bench.build(2, "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
    assert isinstance(made, Artifact), made
    assert made.layouts


def test_a_section_with_a_name_that_would_end_a_quote_stays_out_of_the_script(bench: Bench) -> None:
    odd = '__attribute__((section(".text.odd\\") *(.text.b"))) extern "C" long odd(long x) { return x * x; }\n'
    made = bench.build(2, source=SOURCE + odd)
    for file in bench.files(made, 2):
        assert {"odd", *FUNCTIONS} <= set(functions(file))
    script = (bench.files(made, 2)[1].parent / "layout.ld").read_text()
    assert "part_3" in script
    assert ".text.odd" not in script


def test_an_object_that_is_not_elf_has_no_known_sections(tmp_path: Path) -> None:
    (tmp_path / "bitcode.o").write_bytes(b"BC\xc0\xde" * 20)
    assert text_sections(tmp_path / "bitcode.o") == ()
    assert "*(.text .text.*)" in place_sections((), 1)


def test_a_script_places_each_section_once() -> None:
    names = [f".text.{i}" for i in range(20)]
    random.Random(1).shuffle(names)
    scripts = [place_sections(names, layout) for layout in range(1, 9)]
    assert len(set(scripts)) == len(scripts)
    for layout, script in enumerate(scripts, 1):
        assert sorted(re.findall(r'\*\("(.*)"\)', script)) == sorted(names)
        assert set(re.findall(r"ALIGN\(64\) \+ (\d+);", script)) == {str(16 * layout % 64)}
    assert place_sections(names, 3) == scripts[2]
