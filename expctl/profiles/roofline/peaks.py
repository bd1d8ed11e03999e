"""Peak rates of GPUs: arithmetic per unit and cycle, and memory bandwidth.

Arithmetic is dense, and a multiply-add counts as two operations. Sources: AMD's white papers and ISA guides of RDNA 3, 3.5 and
4 and CDNA 2, 3 and 4 (matrix and packed instructions per CU and cycle), NVIDIA's A100, Ada, H100 and Blackwell papers (tensor
cores per SM); bandwidths from the makers' product pages.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    """Operations per unit (CU or SM) and cycle, by number type; of matrix and vector instructions the faster ones count."""

    per_cycle: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A GPU on the market; `word` is a lower-case part of its name by which it is recognised. `units` are its CUs or SMs,
    `clock_mhz` its highest compute clock, `bandwidth_gbs` is in 10^9 bytes per second.
    """

    word: str
    arch: str
    units: int
    clock_mhz: int
    bandwidth_gbs: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """Peak rates of one GPU; `flops_per_cycle` is for all its units together, by number type (e.g. `f16`). `clock_mhz` is the
    highest compute clock, `bandwidth_gbs` is in 10^9 bytes per second (None if unknown).
    """

    name: str
    clock_mhz: int
    bandwidth_gbs: float | None
    flops_per_cycle: Mapping[str, int]

    def tflops(self, kind: str, clock_mhz: float | None = None) -> float | None:
        """Return the peak TFLOP/s for the number type `kind` at `clock_mhz` (None: the highest clock). Returns None if the rate
        of this type isn't known.
        """
        per_cycle = self.flops_per_cycle.get(kind)
        return None if per_cycle is None else per_cycle * (clock_mhz or self.clock_mhz) / 1e6


def _arithmetic(f64: int, f32: int, f16: int, f8: int | None, i8: int, tf32: int | None = None) -> Arithmetic:
    found = {"f64": f64, "f32": f32, "f16": f16, "bf16": f16, "i8": i8}
    found |= {"f8": f8} if f8 else {}
    found |= {"tf32": tf32} if tf32 else {}
    return Arithmetic(per_cycle=found)


_RDNA3 = _arithmetic(f64=4, f32=256, f16=512, f8=None, i8=512)
_RDNA4 = _arithmetic(f64=4, f32=256, f16=1024, f8=2048, i8=2048)
ARITHMETIC: Mapping[str, Arithmetic] = {
    "gfx90a": _arithmetic(f64=256, f32=256, f16=1024, f8=None, i8=1024),
    "gfx942": _arithmetic(f64=256, f32=256, f16=2048, f8=4096, i8=4096, tf32=1024),
    "gfx950": _arithmetic(f64=128, f32=256, f16=4096, f8=8192, i8=8192),
    **dict.fromkeys(("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152"), _RDNA3),
    **dict.fromkeys(("gfx1200", "gfx1201"), _RDNA4),
    "sm_80": _arithmetic(f64=128, f32=128, f16=2048, f8=None, i8=4096, tf32=1024),
    "sm_89": _arithmetic(f64=4, f32=256, f16=1024, f8=2048, i8=2048, tf32=256),
    "sm_90": _arithmetic(f64=256, f32=256, f16=4096, f8=8192, i8=8192, tf32=2048),
    "sm_100": _arithmetic(f64=128, f32=256, f16=8192, f8=16384, i8=16384, tf32=4096),
}

# A word that contains another comes first. A GPU of two dies (MI250) appears as two devices; the figures are of one die.
PRODUCTS = (
    Product(word="mi355", arch="gfx950", units=256, clock_mhz=2400, bandwidth_gbs=8000),
    Product(word="mi350", arch="gfx950", units=256, clock_mhz=2200, bandwidth_gbs=8000),
    Product(word="mi325", arch="gfx942", units=304, clock_mhz=2100, bandwidth_gbs=6000),
    Product(word="mi308", arch="gfx942", units=80, clock_mhz=1420, bandwidth_gbs=5300),
    Product(word="mi300a", arch="gfx942", units=228, clock_mhz=2100, bandwidth_gbs=5300),
    Product(word="mi300x", arch="gfx942", units=304, clock_mhz=2100, bandwidth_gbs=5300),
    Product(word="mi250", arch="gfx90a", units=104, clock_mhz=1700, bandwidth_gbs=1638),
    Product(word="mi210", arch="gfx90a", units=104, clock_mhz=1700, bandwidth_gbs=1638),
    Product(word="8060s", arch="gfx1151", units=40, clock_mhz=2900, bandwidth_gbs=256),
    Product(word="8050s", arch="gfx1151", units=32, clock_mhz=2800, bandwidth_gbs=256),
    Product(word="7900 xtx", arch="gfx1100", units=96, clock_mhz=2500, bandwidth_gbs=960),
    Product(word="7900 xt", arch="gfx1100", units=84, clock_mhz=2400, bandwidth_gbs=800),
    Product(word="9070 xt", arch="gfx1201", units=64, clock_mhz=2970, bandwidth_gbs=644.6),
    Product(word="h200", arch="sm_90", units=132, clock_mhz=1980, bandwidth_gbs=4800),
    Product(word="h100 pcie", arch="sm_90", units=114, clock_mhz=1755, bandwidth_gbs=2039),
    Product(word="h100", arch="sm_90", units=132, clock_mhz=1980, bandwidth_gbs=3352),
    Product(word="a100-sxm4-80gb", arch="sm_80", units=108, clock_mhz=1410, bandwidth_gbs=2039),
    Product(word="a100 80gb pcie", arch="sm_80", units=108, clock_mhz=1410, bandwidth_gbs=1935),
    Product(word="a100", arch="sm_80", units=108, clock_mhz=1410, bandwidth_gbs=1555),
    Product(word="rtx 4090", arch="sm_89", units=128, clock_mhz=2520, bandwidth_gbs=1008),
    Product(word="b200", arch="sm_100", units=148, clock_mhz=1965, bandwidth_gbs=8000),
)
# The product assumed where a file names only the architecture: there is just one, or all have the same memory.
_TYPICAL = {"gfx1151": "8060s", "gfx90a": "mi210", "gfx950": "mi350"}


def peak_of(arch: str, product: str, units: int | None, clock_mhz: int | None) -> Peak | None:
    """Return the peak rates of a GPU, which is found by architecture and product name; None when they aren't known. `units` and
    `clock_mhz`, if not None, replace those in the table of products.
    """
    known = _product(arch, product)
    arithmetic = ARITHMETIC.get(arch or (known.arch if known else ""))
    units = units or (known.units if known else None)
    clock_mhz = clock_mhz or (known.clock_mhz if known else None)
    if arithmetic is None or not units or not clock_mhz:
        return None
    return Peak(
        name=product or arch,
        clock_mhz=clock_mhz,
        bandwidth_gbs=known.bandwidth_gbs if known else None,
        flops_per_cycle={kind: per_unit * units for kind, per_unit in arithmetic.per_cycle.items()},
    )


def arch_of(product: str) -> str:
    """Return the architecture, e.g. gfx942, of the GPU with the product name `product`; "" when it isn't known."""
    found = _product("", product)
    return found.arch if found else ""


def _product(arch: str, product: str) -> Product | None:
    text = product.lower()
    for each in PRODUCTS:
        if each.word in text and arch in ("", each.arch):
            return each
    return next((each for each in PRODUCTS if each.word == _TYPICAL.get(arch)), None)
