"""Hashes of a build that is damaged: an answer or DamagedFile, whatever the bytes are."""

import contextlib
import random
from pathlib import Path

import pytest

from expctl.domain.run.step_result import DamagedFile
from expctl.inspection.readers.code_identity import code_hash, image_hash
from expctl.inspection.readers.host_library import device_code

CUBIN = Path(__file__).parent / "specimens" / "tile_sm_90.cubin"


@pytest.mark.parametrize("seed", range(200))
def test_any_damage_is_named(tmp_path: Path, seed: int) -> None:
    draw, data = random.Random(seed), bytearray(CUBIN.read_bytes())
    for _ in range(draw.randrange(1, 40)):
        data[draw.randrange(4, draw.choice((64, len(data))))] = draw.randrange(256)
    file = tmp_path / "build.so"
    file.write_bytes(data[: draw.randrange(5, len(data))] if seed % 3 == 0 else data)
    with contextlib.suppress(DamagedFile):
        assert len(code_hash(file)) == len(image_hash(file)) == 64
    assert device_code(file) == b""


def test_the_message_says_why(tmp_path: Path) -> None:
    (tmp_path / "k.so").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40)
    with pytest.raises(DamagedFile, match=r"Reading section 0 at offset .* past EOF"):
        code_hash(tmp_path / "k.so")
