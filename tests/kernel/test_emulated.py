"""The script that runs gfx1151 code without the card: what passes, what is blamed, and what it can't judge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.interpreter.compiler import Compiler
from benchmarks.interpreter.guard_mutants import FOLDER, broken, load
from kernel.harness import emulated
from kernel.harness.drawn_products import drawn_products
from kernel.harness.emulate_scaled_mm import outcome
from kernel.harness.emulated import Product
from kernel.harness.emulated_products import products
from kernel.runtime import build
from kernel.runtime.formats import Fp8
from kernel.runtime.library import Config

SCRIPT = Path(emulated.__file__).with_name("emulate_scaled_mm.py")
CONFIG = (1, 2, 4, 2, 2, 2)


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    return build.assembly(CONFIG, tmp_path_factory.mktemp("gfx1151")).read_text()


def judged(tmp_path: Path, text: str, *words: str) -> tuple[int, dict[str, object]]:
    artifact = tmp_path / "scaled_mm.s"
    artifact.write_text(text)
    read, write = os.pipe()
    argv = [sys.executable, str(SCRIPT), "--artifact", str(artifact), "--config", ",".join(map(str, CONFIG)), *words]
    with os.fdopen(read) as results:
        status = subprocess.run(
            argv, pass_fds=(write,), env={**os.environ, "EXPCTL_RESULT_FD": str(write)}, capture_output=True
        ).returncode
        os.close(write)
        return status, json.loads(results.read().splitlines()[-1])


def test_the_kernel_passes(tmp_path: Path, assembly: str, long: bool) -> None:
    assert judged(tmp_path, assembly, *([] if long else ["--orders", "1"])) == (0, {"event": "end", "ok": True})


def test_a_wrong_result_is_blamed_on_the_build(tmp_path: Path, assembly: str) -> None:
    status, end = judged(tmp_path, assembly.replace("0x50c040c", "0x40c050c"))
    assert (status, end["ok"], "fault" in end) == (1, False, False)
    assert "expected" in str(end["reason"])


def test_an_instruction_that_is_not_known_says_nothing_about_the_build(tmp_path: Path, assembly: str) -> None:
    status, end = judged(tmp_path, assembly.replace("\ts_barrier", "\ts_getreg_b32 s0, hwreg(1)\n\ts_barrier", 1))
    assert (status, end["fault"]) == (2, True)
    assert "can't be judged" in str(end["reason"])
    assert "s_getreg_b32" in str(end["reason"])


def test_an_endless_loop_ends_within_seconds(tmp_path: Path, assembly: str) -> None:
    at = assembly.index("\ts_barrier")
    text = f"{assembly[:at]}.Lforever:\n\tv_nop\n\ts_branch .Lforever\n{assembly[at:]}"
    status, end = judged(tmp_path, text)
    assert status == 1
    assert "without an end" in str(end["reason"])


def test_text_that_the_assembler_reads_otherwise_is_blamed(tmp_path: Path, assembly: str) -> None:
    macro = "\t.macro s_barrier\n\ts_nop 0\n\t.endm\n"
    at = assembly.index("\t.text")
    status, end = judged(tmp_path, assembly[:at] + macro + assembly[at:])
    assert status == 1
    assert "is not what its text says" in str(end["reason"])


def test_products_reach_what_a_launch_can_get_wrong() -> None:
    """Of the KPI's config: see the mistakes that `products` names."""
    found = products((1, 8, 2, 2, 8, 2))
    assert {each.fp8 for each in found} == set(Fp8)
    assert any(each.m > 128 and each.n > 256 and each.k // 32 >= 3 and each.k % 32 for each in found)
    assert any(each.m > 128 and each.n > 256 and each.k >= 96 and each.k % 32 == 0 for each in found)
    assert any(each.k % 8 for each in found)
    assert any(each.n * 16 > 1 << 16 and each.m * each.n > 1 << 16 for each in found)
    assert len({each.scale for each in found}) > 2
    assert {each.bias for each in found} == {True, False}
    assert any(each.shifted % 16 for each in found)


def mutated(name: str, config: Config, folder: Path) -> str:
    """The assembly of a kernel that somebody broke."""
    compiler = Compiler.installed()
    if compiler is None:
        pytest.skip("the ziglang wheel (extra `cpu`) is not installed")
    (mutant,) = (each for each in load(FOLDER) if each.name == name)
    return compiler.kernel(config, "-O3", broken(mutant, folder))


def test_drawn_products_show_what_the_fixed_ones_hide(tmp_path: Path) -> None:
    text, chunk = mutated("01_loop_counter_u8", CONFIG, tmp_path), 16 * CONFIG[2]
    assert not [found for each in products(CONFIG) if isinstance(found := outcome(text, (CONFIG, each), 1), str)]
    for seed in range(3):
        (long,) = (each for each in drawn_products(CONFIG, seed, 1) if each.k > 256 * chunk)
        assert "expected" in str(outcome(text, (CONFIG, long), 1))


def test_an_input_that_is_overwritten_is_a_failure(tmp_path: Path) -> None:
    config, product = (1, 1, 4, 2, 1, 1), Product(fp8=Fp8.E5M2, m=5, n=7, k=3)
    text = mutated("59_dump_into_bias", config, tmp_path)
    assert outcome(text, (config, product), 1) == "wave order 0: the launch changed its input bias"


@pytest.mark.parametrize("fp8", Fp8)
def test_every_code_is_converted_as_the_reference_does(assembly: str, fp8: Fp8) -> None:
    product = Product(fp8=fp8, m=3, n=256, k=128, bias=False, every_code=True)
    found, judgement = emulated.run(assembly, CONFIG, product, seed=1, order_seed=0)
    assert judgement.failure is None
    assert not found.faults
