"""What a rule of the vocabulary of kernel names is, and words that follow a pattern."""

from dataclasses import dataclass
from itertools import combinations, product

from expctl.profiles.model.kernel_profile import KernelClass


@dataclass(frozen=True, slots=True)
class Rule:
    """Words (separated by spaces) and parts of words that tell a class."""

    kind: KernelClass
    words: str
    parts: str = ""


def changes(forms: str, others: str = "") -> str:
    """Words for every change between two of the forms, or between one of them and one of the `others`: `csr2coo csr_to_coo`."""
    pairs = product(forms.split(), others.split()) if others else combinations(forms.split(), 2)
    return "".join(f" {one}{link}{other} {other}{link}{one}" for one, other in pairs for link in ("2", "to"))


def pairs(firsts: str, seconds: str) -> str:
    """Words made of one of the `firsts` and one of the `seconds`: `init_array reset_buffer`."""
    return "".join(f" {first}_{second}" for first, second in product(firsts.split(), seconds.split()))


LAYOUTS = "nchw nhwc ncdhw ndhwc cnhw chwn hwc chw"
FORMATS = "csr csc coo bsr gebsr ell hyb dia dense sparse jagged padded packed striped blocked indices multihot image buffer"
WIDE_TYPES = "float double half bfloat bfloat16 float16 float32 fp16 fp32 fp64 f16 f32 f64 bf16 int uint int32 int64 char bit"
NARROW_TYPES = "fp8 fp4 int8 int4 e4m3 e5m2 e8m0 e2m1 mxfp8 mxfp4 nvfp4"
"""Number types that values are scaled for; a change into another type is plain."""
ARRAYS = pairs("vec vector array mat matrix", "add sub mul div scale exp sqrt")
"""Arithmetic that says what it works on."""
