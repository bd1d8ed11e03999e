"""The functions of a C file, as a harness would call them."""

import pytest

from expctl.adapters.init.c_functions import has_main, sketches

TEXT = """
#include <stddef.h>
static int helper(const int *x) { return x[0]; }
/* void old(double *x) { } */
void blur(const float *restrict in, float *out, size_t n, float weight)
{
    if (n) { out[0] = in[0] * weight; }
}
struct shape { int n; };
int area(struct shape *of) { return of->n; }
unsigned int checksum(const uint8_t *data, size_t n) { return n ? data[0] : 0; }
int plain(int n) { return n; }
"""


def test_exported_functions_of_numbers_and_arrays_are_sketched() -> None:
    blur, checksum = sketches(TEXT)
    assert blur.signature == "void(const float *in_, float *out, size_t n, float weight)"
    assert blur.parameters == ("in_", "weight", "out")
    assert blur.inputs == 'rng.standard_normal(n, "float32"), 1.5'
    assert blur.outputs == 'np.empty(n, "float32"),'
    assert blur.call == "build.blur(in_, out, in_.size, weight)"
    assert checksum.signature == "unsigned int(const uint8_t *data, size_t n)"
    assert checksum.outputs == ""


@pytest.mark.parametrize(("text", "expected"), [("int main(void) {}", True), ("int domain(int x) {}", False)])
def test_a_program_is_no_library(text: str, expected: bool) -> None:
    assert has_main(text) is expected


def test_void_is_taken_for_bytes_and_a_name_may_begin_with_a_capital() -> None:
    (hash_,) = sketches("uint64_t XXH3_64bits(const void *data, size_t len) {")
    assert hash_.inputs == 'rng.integers(0, 256, n, "uint8"),'
    assert hash_.call == "build.XXH3_64bits(data, data.size)"
