"""A repository whose configs have known times, and a harness that a tuning asks."""

from pathlib import Path

import pytest

from tests.e2e.foreign import Foreign

TABLES = "src/configs/cpu/hip/gemm/scaled_mm_a16w8_e5m2"
SPECIAL = "SCALED_MM-A16W8-E5M2-N=128-K=512.json"
WIDE = {"WARPS_M": 2, "WARPS_N": 2, "UNROLL_K": 2, "STAGES": 2, "REPEAT_M": 4, "REPEAT_N": 4}
ROWS = (16, 32, 64, 128, 256)
SHAPES = [f"{m}x{n}x{k}" for n, k in ((128, 512), (512, 128)) for m in ROWS]
RULE = f"""    tune:
      tables: {TABLES}
      configs: ["2,2,2,2,4,4", "1,2,4,2,2,2"]
      shapes: [{", ".join(SHAPES)}]
      quads: 2
    benchmark:
"""


@pytest.fixture
def tuned(repository: Foreign) -> Foreign:
    """A repository whose configs are known, and the harness of a tuning."""
    repository.write("bench/benchmark.py", Path(__file__).with_name("benchmark.py").read_text())
    repository.edit_protocol("    benchmark:\n", RULE)
    return repository
