"""Builds of each side in several layouts, whole: what a run records of them, which rounds take which, and that it replays."""

import json
from typing import Any

import pytest

from tests.e2e.foreign import Foreign

BY_COMMAND = """      toolchain: command
      argv: ["{python}", -m, ziglang, cc, -shared, -fPIC, -O2, -g, -nostdlib, src/total.c, -o, "{artifact}"]
"""
TOLD = BY_COMMAND.replace("-nostdlib,", '-nostdlib, "-DLAYOUT={layout}",')
BY_ZIG = """      toolchain: zig-cpu
      source: src/total.c
      flags: [-O2, -nostdlib]
"""
SKIPS = '__asm__(".text\\n.skip 16 * (" LAYOUT_TEXT(LAYOUT) ")");\n'
MACROS = "#define TEXT_OF(x) #x\n#define LAYOUT_TEXT(x) TEXT_OF(x)\n"
SLOW = "        for (volatile int j = 0; j < 60; j++) result += j ? 0 : values[i] * values[i];"
LINE = "        result += values[i] * values[i];"


def queue_a_slower_kernel(repository: Foreign, build: str, head: str) -> None:
    """Commit a protocol with three layouts and a kernel with `head` in front, and queue a slower kernel as P1."""
    kernel = head + (repository.root / "src/total.c").read_text()
    repository.write("src/total.c", kernel)
    repository.edit_protocol(BY_COMMAND, build)
    repository.edit_protocol("      style: launch\n", "      style: launch\n      layouts: 3\n")
    repository.queue("P1", kernel.replace(LINE, SLOW), file="src/total.c")


def samples(repository: Foreign) -> list[dict[str, Any]]:
    return [json.loads(line) for line in repository.git("show", "HEAD:experiments/P1/samples.jsonl").splitlines()]


BUILDS = {"command": (TOLD, MACROS + SKIPS), "zig-cpu": (BY_ZIG, "")}


@pytest.mark.parametrize("toolchain", BUILDS)
def test_a_run_takes_the_layouts_in_turn_and_records_them(c_repository: Foreign, toolchain: str) -> None:
    pytest.importorskip("elftools", reason="pyelftools (extra `cpu`) is not installed")
    build, head = BUILDS[toolchain]
    queue_a_slower_kernel(c_repository, build, head or 'extern "C" long total(const long *values, long count);\n')
    c_repository.concluded("run", "P1")
    record = c_repository.record("P1")
    assert record["verdict"] == "REJECT"
    hashes = [
        [artifact["sha256"], *artifact["layouts"]]
        for by_target in record["artifacts"].values()
        for artifact in by_target.values()
    ]
    assert [len(set(each)) for each in hashes] == [3, 3]
    assert len({*hashes[0], *hashes[1]}) == 6
    found = samples(c_repository)
    assert {(each["round"], each.get("layout", 0)) for each in found} == {
        (number, number % 3) for number in range(record["procedure"]["search_rounds"])
    }
    assert ", 3 layouts, wall_time" in record["yardstick"]["kpi"]
    assert c_repository.concluded("replay", "P1").out.startswith("P1       same     ")
    assert ", 3 layouts" in c_repository.concluded("show", "P1").out
    c_repository.check_nothing_is_left()


def test_a_comment_is_a_no_op_with_layouts_too(c_repository: Foreign) -> None:
    queue_a_slower_kernel(c_repository, TOLD, MACROS + SKIPS)
    kernel = (c_repository.root / "src/total.c").read_text()
    c_repository.queue("P2", f"/* Nothing. */\n{kernel}", file="src/total.c")
    c_repository.concluded("run", "P2")
    assert c_repository.record("P2")["verdict"] == "NO-OP"


def test_a_calibration_takes_them_too(c_repository: Foreign) -> None:
    queue_a_slower_kernel(c_repository, TOLD, MACROS + SKIPS)
    facts = c_repository.concluded("calibrate", "--rounds", "5", "--json").json()
    assert facts["calibration"]["rounds"] == 5


def test_a_command_that_is_not_told_the_layout_is_refused(c_repository: Foreign) -> None:
    c_repository.queue("P1", (c_repository.root / "src/total.c").read_text().replace(LINE, SLOW), file="src/total.c")
    c_repository.edit_protocol("      style: launch\n", "      style: launch\n      layouts: 3\n")
    answer = c_repository.expctl("run", "P1")
    assert answer.status != 0
    assert "targets.here.benchmark.layouts: expected 1, or {layout} in build.argv" in answer.err
