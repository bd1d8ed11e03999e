"""Faults in LDS name the variable and the element, where the file was compiled here."""

from pathlib import Path

import pytest

from expctl import check
from expctl.check.kernel_file import lds_variables, named, read_kernels
from expctl.inspection.device_compiler import Options
from expctl.inspection.readers.lds_layout import lds_variables as read_from

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
SOURCE = """\
#include <hip/hip_runtime.h>
struct Pair { float x; short y; };
namespace all { __shared__ float theirs[32]; }
__device__ __attribute__((noinline)) float helper(int i) {
    all::theirs[i & 31] = i;
    __syncthreads();
    return all::theirs[31 - (i & 31)];
}
template <int N> __global__ void many(const float *x, float *out, int n) {
    __shared__ float tile[2][16][N + 1];
    __shared__ Pair pairs[10];
    __shared__ int one;
    int i = threadIdx.x;
    tile[i & 1][i & 15][i % N] = x[i];
    pairs[i % 10].y = i;
    if (i == 3) one = n;
    __syncthreads();
    out[i] = tile[1 - (i & 1)][i & 15][i % 3] + pairs[n].x + pairs[n].y + one + helper(i) + tile[1][2][3];
}
template __global__ void many<16>(const float *, float *, int);
extern "C" __global__ void racing(const float *x, float *out) {
    __shared__ float sums[8];
    __shared__ float tile[2][128];
    int t = threadIdx.x;
    if (t < 8) sums[t] = 0;
    __syncthreads();
    tile[t / 128][t % 128] = x[t];
    out[t] = tile[1 - t / 128][t % 128] + sums[t % 8];
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lds") / "k.hip"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_each_variable_has_its_place(source: Path, level: str) -> None:
    file = read_kernels(source, Options(arch="gfx1151", level=level))
    found = {each.name: each for each in lds_variables(file, named(file, "many<16>"))}
    shapes = {name: (each.size, each.extents, each.element) for name, each in found.items()}
    assert shapes == {
        "tile": (2 * 16 * 17 * 4, (2, 16, 17), 4),
        "theirs": (128, (32,), 4),
        "pairs": (80, (10,), 8),
        "one": (4, (), 4),
    }
    places = [(each.begin, each.begin + each.size) for each in found.values()]
    assert all(one == other or one[1] <= other[0] or other[1] <= one[0] for one in places for other in places)
    tile = found["tile"]
    assert tile.at(tile.begin + 4 * (1 * 16 * 17 + 2 * 17 + 3) + 1) == "tile[1][2][3]"
    assert found["one"].at(found["one"].begin) == "one"


def test_a_race_names_the_element(source: Path) -> None:
    out, x = {"name": "out", "dtype": "f32", "shape": [256], "role": "out"}, {"name": "x", "dtype": "f32", "shape": [256]}
    case = {"kernel": "racing", "grid": [1], "block": [256], "arguments": [x, out]}
    with pytest.raises(check.FaultsFound) as caught:
        check.launch(source, case, orders=2)
    (race,) = [each for each in caught.value.findings if each.kind == "race"]
    name, _, byte = race.what.split(") that wave")[0].partition(" (LDS byte ")
    row, column = (int(each.rstrip("]")) for each in name.removeprefix("tile[").split("["))
    file = read_kernels(source, Options(arch="gfx1151"))
    (tile,) = [each for each in lds_variables(file, named(file, "racing")) if each.name == "tile"]
    assert int(byte) == tile.begin + 4 * (128 * row + column)


def test_texts_that_do_not_tell_give_nothing() -> None:
    assert read_from("", "k") == ()
    assert read_from("*** IR Dump Before\n*** IR Dump After\n", "k") == ()
