"""The committed evidence about the gfx1151 interpreter: is it of this kernel, does a sample come out the same again."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.interpreter import builds, configs, mutants
from benchmarks.interpreter.compiler import Compiler
from benchmarks.interpreter.launches import scaled_mm
from benchmarks.interpreter.mutants import Builds, is_caught, judged
from benchmarks.interpreter.mutations import BASES, Check, of_assembly
from benchmarks.interpreter.source_mutations import of_source
from kernel.runtime.formats import Fp8

DOCS = (Path(__file__).parents[2] / "docs/GFX11.md").read_text()
CLASSES = {
    "barrier removed", "wait weakened", "permute bytes swapped", "index off by one", "wrong lane layout",
    "one workgroup too many", "epilogue off by a row", "double use of an LDS stage",
    "LDS store not waited for before a barrier", "uninitialised register",
}  # fmt: skip
TINY = "1,2,4,2,2,2"
SAMPLE = (
    "small whole barrier 2",
    "small whole wait 10 lgkmcnt",
    "small whole wait 2 vmcnt",
    "small edge permute 0x70c060c first",
    "small register: sum",
    "small row beyond",
    "small upper lanes differ",
    "small one workgroup too many in rows",
    "small barrier of all waves but one",
)


@pytest.fixture(scope="module")
def clang() -> Compiler:
    """The pinned one, if the rows are of what it compiles today."""
    compiler = Compiler.installed()
    if compiler is None:
        pytest.skip("the ziglang wheel (extra `cpu`) is not installed")
    if {row.kernel for row in mutants.load()} != {compiler.kernel_hash()}:
        pytest.skip(
            "the kernel has changed: run benchmarks/interpreter/mutants.py and builds.py FOLDER again, see docs/GFX11.md"
        )
    return compiler


@pytest.fixture(scope="module")
def bench(clang: Compiler) -> Builds:
    return Builds(clang)


def test_no_mutant_is_missed_and_all_classes_are_there() -> None:
    rows = mutants.load()
    assert len({row.kernel for row in rows}) == len({row.kernel for row in builds.load(builds.RESULTS)}) == 1
    assert len({row.id for row in rows}) == len(rows) >= 40
    assert {row.family for row in rows} >= CLASSES
    for row in rows:
        assert len(row.caught) == mutants.ORDERS, row.id
        assert bool(row.argument) == (row.outcome == "equivalent"), row.id
        assert row.outcome == "equivalent" or all(row.expected in fired for fired in row.caught), row.id
        assert row.outcome == "caught" or not any(row.caught), row.id


def test_the_rows_are_those_of_the_list(bench: Builds) -> None:
    """The KPI's mutants of the assembly are left out: finding its paths takes seconds."""
    base = BASES[0]
    listed = [*of_assembly(bench.texts[base.name], base), *of_source()]
    rows = {row.id: row for row in mutants.load()}
    assert {mutant.id for mutant in listed} <= rows.keys()
    assert {id for id in rows if id.startswith(base.name)} <= {mutant.id for mutant in listed}
    for mutant in listed:
        assert (rows[mutant.id].edit, rows[mutant.id].argument) == (mutant.edit, mutant.argument)


def test_a_sample_of_mutants_again(bench: Builds) -> None:
    base = BASES[0]
    listed = {mutant.id: mutant for mutant in [*of_assembly(bench.texts[base.name], base), *of_source()]}
    rows = {row.id: row for row in mutants.load()}
    for id in SAMPLE:
        mutant = listed[id]
        again = judged(mutant, bench.text(mutant), kernel="", ziglang="", orders=1)
        assert (again.caught[0], again.outcome, again.product) == (rows[id].caught[0], rows[id].outcome, rows[id].product), id


def test_another_check_does_not_count() -> None:
    mutant = next(each for each in of_source() if each.expected is Check.RACE and Check.WRONG in each.also)
    assert is_caught(mutant, ["race"])
    assert is_caught(mutant, ["race", "wrong result"])
    assert not is_caught(mutant, ["wrong result"])
    assert not is_caught(mutant, ["lanes differ", "race"])
    assert not is_caught(mutant, [])


def test_a_mutant_that_does_nothing_is_missed(bench: Builds) -> None:
    harmless = replace(next(of_source()), old="", new="", file="")
    assert judged(harmless, bench.texts["small"], kernel="", ziglang="", orders=1).outcome == "MISSED"
    said_to_be_harmless = replace(harmless, more_blocks=(0, 1), argument="none")
    assert judged(said_to_be_harmless, bench.texts["small"], kernel="", ziglang="", orders=1).outcome == "MISSED"


def test_every_build_of_the_matrix_is_right() -> None:
    rows = builds.load(builds.RESULTS)
    assert [row for row in rows if row.outcome != builds.RIGHT] == []
    whole = [row for row in rows if row.shape == "whole"]
    assert all(row.matrix == row.matrix_expected == row.m * row.n * row.k // 4096 for row in whole)
    words = {",".join(map(str, config)) for config in configs.sample()}
    found = {(row.config, row.level, row.ziglang, row.shape) for row in rows if row.orders == builds.ORDERS}
    levels, versions = ("-O1", "-O3"), (builds.PINNED, builds.OTHER)
    wanted = {(c, level, v, s) for c in words for level in levels for v in versions for s in ("whole", "rest", "odd")}
    assert found == wanted
    assert len(words) == configs.SAMPLE
    assert {",".join(map(str, config)) for config in configs.usual()} <= {row.config for row in rows if row.level == "-O3"}


def test_a_build_again_in_every_count(clang: Compiler) -> None:
    rows = [row for row in builds.load(builds.RESULTS) if (row.config, row.level, row.ziglang) == (TINY, "-O3", clang.version)]
    build = builds.Build(part=2, ziglang=clang.version, level="-O3", config=configs.parse(TINY))
    whole, _ = builds.run(build, clang, rows[0].kernel)
    assert replace(whole, orders=builds.ORDERS) in rows


def test_a_wrong_result_is_not_right(clang: Compiler) -> None:
    text = clang.kernel(configs.parse(TINY), "-O3").replace("0x50c040c", "0x40c050c")
    run = scaled_mm(text, configs.parse(TINY), Fp8.E5M2, 32, 64, 64)
    row = next(row for row in builds.load(builds.RESULTS) if row.config == TINY and row.shape == "whole")
    assert builds.judged(row, [run]).outcome.startswith("order 0: C[")


def test_the_figures_in_the_docs_are_the_committed_ones() -> None:
    for line in [*mutants.table(mutants.load()).splitlines(), *builds.table(builds.load(builds.RESULTS)).splitlines()]:
        assert inspect.cleandoc(line) in DOCS
