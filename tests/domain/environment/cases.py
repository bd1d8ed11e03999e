"""For each item of the audit: environments in which it fires, with words that it says, and one in which it finds nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from expctl.domain.environment.snapshot import (
    AiterProduct,
    AiterTable,
    Card,
    CompiledStep,
    GraphBreak,
    Linux,
    Snapshot,
    TorchFacts,
    TritonKernel,
    TunableOpFile,
    TunedProduct,
    Vendor,
)
from expctl.domain.environment.torch_settings import STOCK

ROCM = {
    "GPU_MAX_HW_QUEUES": "2",
    "HIP_FORCE_DEV_KERNARG": "1",
    "HSA_NO_SCRATCH_RECLAIM": "1",
    "AMD_LOG_LEVEL": "0",
    "PYTORCH_TUNABLEOP_ENABLED": "1",
    "PYTORCH_TUNABLEOP_TUNING": "0",
    "TORCH_BLAS_PREFER_HIPBLASLT": "1",
}
STRIX = Card(
    name="amdgpu card0",
    vendor=Vendor.AMD,
    arch="gfx1151",
    compute_units=40,
    level="auto",
    profile="COMPUTE",
    profiles=("BOOTUP_DEFAULT", "COMPUTE"),
    power_w=120.0,
    default_power_w=120.0,
    display=False,
)
MI300 = replace(STRIX, name="amdgpu card1", arch="gfx942", compute_units=304, partition="SPX")
HOPPER = Card(
    name="nvidia 0",
    vendor=Vendor.NVIDIA,
    arch="9.0",
    clock_mhz=1980.0,
    default_clock_mhz=1980.0,
    power_w=700.0,
    default_power_w=700.0,
    persistence=True,
    mig=False,
    ecc=True,
    ecc_pending=True,
    display=False,
)
VALIDATORS = {"PT_VERSION": "2.9.1", "HIP_VERSION": "702", "GCN_ARCH_NAME": "gfx1151"}
SHIPPED = AiterTable(path="bf16_tuned_gemm.csv", machines={("gfx1151", 40): 3})
NAMED = replace(SHIPPED, path="/tuned/mine.csv", variable="AITER_CONFIG_GEMM_BF16")
TUNED = TunableOpFile(path="tunableop_results0.csv", validators=VALIDATORS, rows=2)
TORCH = TorchFacts(precision="high", inductor=STOCK, ck_archs=("gfx90a", "gfx942"), script="run.py", breaks=())
STEP = CompiledStep(target="here", step="benchmark", script="bench/run.py", timeout_s=600.0)

AMD = Snapshot(
    variables=ROCM,
    pinned=frozenset(ROCM),
    vendors=frozenset((Vendor.AMD,)),
    cards=(STRIX, MI300),
    linux=Linux(numa_balancing="0", governors=("performance",), platform_profile="performance"),
    packages={"torch": "2.9.1+rocm7.2", "aiter": "0.1.7"},
    compiled=(STEP,),
    tunable=(TUNED,),
    aiter=(SHIPPED, NAMED),
    validators=VALIDATORS,
    torch=TORCH,
)
NVIDIA = Snapshot(
    vendors=frozenset((Vendor.NVIDIA,)),
    cards=(HOPPER,),
    packages={"torch": "2.9.1"},
    torch=TORCH,
    linux=Linux(numa_balancing="0"),
)
CPU = Snapshot(linux=Linux(numa_balancing="1"))
HERE = ("gfx942", 304)
TILED = "Cijk_Alik_Bljk_BBS_BH_MT256x256x64_MI16x16x1_WGM{}_WGMXCC1"
TRITON = TritonKernel(
    name="matmul", arch="gfx942", warps=4, vgpr=128, lds=32768, vgpr_total=512, vgpr_granule=8, waves_most=8, lds_unit=65536
)
BROKEN = replace(TORCH, breaks=tuple(GraphBreak(place=f"run.py:{line}", reason="a print") for line in range(7)))


@dataclass(frozen=True)
class Case:
    """`fires` maps words that are said to the environment in which they are; `silent` is an environment in which the item
    applies and finds nothing (`looks` is False for one that applies only where it fires)."""

    fires: Mapping[str, Snapshot]
    silent: Snapshot = field(default_factory=lambda: AMD)
    looks: bool = True


def having(snapshot: Snapshot = AMD, **variables: str) -> Snapshot:
    """`snapshot` with these variables, which protocol.yaml sets."""
    names = snapshot.pinned | set(variables)
    return replace(snapshot, variables={**snapshot.variables, **variables}, pinned=names)


def without(name: str) -> Snapshot:
    return replace(AMD, variables={key: value for key, value in ROCM.items() if key != name})


def card(base: Card, **changes: Any) -> Snapshot:
    """A machine with one card that differs from a well set one in `changes`."""
    return replace(AMD if base.vendor is Vendor.AMD else NVIDIA, cards=(replace(base, **changes),))


def linux(**changes: Any) -> Snapshot:
    return replace(AMD, linux=replace(AMD.linux, **changes))


def torch(snapshot: Snapshot = AMD, **changes: Any) -> Snapshot:
    return replace(snapshot, torch=replace(snapshot.torch, **changes))


def tuned(*rows: tuple[str, tuple[int, ...], float]) -> Snapshot:
    """A machine with MI300 and a results file that has the same shape once for each (type, strides, ms)."""
    products = tuple(TunedProduct(kind=kind, shape="tn_512_64_4000", strides=strides, ms=ms) for kind, strides, ms in rows)
    return replace(AMD, cards=(MI300,), tunable=(replace(TUNED, products=products),))


def tabled(*products: AiterProduct, base: Card = MI300) -> Snapshot:
    """A machine with one card and a table of aiter with these rows."""
    return replace(AMD, cards=(base,), aiter=(replace(SHIPPED, products=products),))


def row(m: int, n: int = 8192, *, library: str = "hipblaslt", mapping: int = 8, **more: Any) -> AiterProduct:
    return AiterProduct(
        machine=HERE, m=m, n=n, k=8192, dtype="bfloat16", library=library, **{"kernel": TILED.format(mapping), **more}
    )


CASES: Mapping[str, Case] = {
    "GPU_MAX_HW_QUEUES": Case({"not set": without("GPU_MAX_HW_QUEUES"), "is 4, not 2": having(GPU_MAX_HW_QUEUES="4")}),
    "HIP_FORCE_DEV_KERNARG": Case({"not set": without("HIP_FORCE_DEV_KERNARG"), "is 0": having(HIP_FORCE_DEV_KERNARG="0")}),
    "HSA_NO_SCRATCH_RECLAIM": Case({"not set": without("HSA_NO_SCRATCH_RECLAIM")}),
    "AMD_LOG_LEVEL": Case({"is 4, not 0": having(AMD_LOG_LEVEL="4")}, silent=without("AMD_LOG_LEVEL")),
    "HSA_OVERRIDE_GFX_VERSION": Case(
        {
            "code of gfx1100; this is gfx1151, gfx942": having(HSA_OVERRIDE_GFX_VERSION="11.0.0"),
            "code of another GPU": having(HSA_OVERRIDE_GFX_VERSION="eleven"),
        },
        silent=having(HSA_OVERRIDE_GFX_VERSION="11.5.1"),
    ),
    "CU masks": Case(
        {
            "0:0-19 leaves 20 of 304": replace(having(HSA_CU_MASK="0:0-19"), cards=(MI300,)),
            "HSA_CU_MASK=0:0-19": having(HSA_CU_MASK="0:0-19"),
            "ROC_GLOBAL_": having(ROC_GLOBAL_CU_MASK="0x1"),
        }
    ),
    "debugging variables": Case(
        {"AMD_SERIALIZE_KERNEL=3": having(AMD_SERIALIZE_KERNEL="3"), "CUDA_LAUNCH": having(NVIDIA, CUDA_LAUNCH_BLOCKING="1")},
        silent=having(AMD_SERIALIZE_KERNEL="0"),
    ),
    "NUMA balancing": Case(
        {"on, and this machine has 2 nodes": linux(numa_balancing="1", numa_nodes=2)},
        silent=linux(numa_balancing="1", numa_nodes=1),
    ),
    "clock policy of the CPU": Case(
        {"powersave, prefers balance_power": linux(governors=("powersave",), preferences=("balance_power",))},
        silent=linux(governors=("powersave",), preferences=("performance",)),
    ),
    "power profile of the platform": Case({"balanced, not performance": linux(platform_profile="balanced")}),
    "clock policy of the GPU": Case(
        {
            "performance level low": card(STRIX, level="low"),
            "1410 MHz, the default is 1980 MHz": card(HOPPER, clock_mhz=1410.0),
        },
        silent=card(STRIX, level="high"),
    ),
    "power limit": Case({"limit 55 W, the default is 120 W": card(STRIX, power_w=55.0), "500 W": card(HOPPER, power_w=500.0)}),
    "power profile": Case({"BOOTUP_DEFAULT, not COMPUTE": card(STRIX, profile="BOOTUP_DEFAULT")}),
    "display on the card": Case(
        {"amdgpu card0 drives": card(STRIX, display=True), "nvidia 0 drives": card(HOPPER, display=True)}
    ),
    "ECC": Case(
        {
            "nvidia 0: off": card(HOPPER, ecc=False, ecc_pending=False),
            "on, and off after the next reset": card(HOPPER, ecc_pending=False),
            "2 errors of memory": card(MI300, uncorrected=2),
        },
        silent=NVIDIA,
    ),
    "MIG and partitions": Case({"MIG is on": card(HOPPER, mig=True), "compute partition CPX": card(MI300, partition="CPX")}),
    "persistence": Case({"nvidia 0: off": card(HOPPER, persistence=False)}, silent=NVIDIA),
    "PYTORCH_TUNABLEOP_ENABLED": Case(
        {"not set": without("PYTORCH_TUNABLEOP_ENABLED"), "is 0": having(PYTORCH_TUNABLEOP_ENABLED="0")}
    ),
    "TORCH_BLAS_PREFER_HIPBLASLT": Case({"not set": without("TORCH_BLAS_PREFER_HIPBLASLT")}),
    "PYTORCH_TUNABLEOP_TUNING": Case(
        {"not set, so on": without("PYTORCH_TUNABLEOP_TUNING"), "on, though": having(PYTORCH_TUNABLEOP_TUNING="1")}
    ),
    "stray TORCHINDUCTOR_*": Case(
        {
            "reaches the steps from the shell": replace(NVIDIA, variables={"TORCHINDUCTOR_FREEZING": "1"}),
            "is not stable on ROCm": having(TORCHINDUCTOR_MAX_AUTOTUNE="1"),
            "what you start by hand does": replace(AMD, shell={"TORCHINDUCTOR_CUDAGRAPHS": "1"}),
        },
        silent=having(NVIDIA, TORCHINDUCTOR_MAX_AUTOTUNE="1"),
    ),
    "hidden inductor defaults": Case(
        {"freezing is True, torch ships False": torch(inductor={**STOCK, "freezing": "True"})},
        silent=having(torch(inductor={**STOCK, "triton.cudagraphs": "True"}), TORCHINDUCTOR_CUDAGRAPHS="1"),
    ),
    "inductor's backends for products": Case(
        {
            "CK is asked for, but serves gfx90a, gfx942, not gfx1151": replace(
                torch(inductor={**STOCK, "max_autotune_gemm_backends": "ATEN,CK"}), cards=(STRIX,)
            )
        },
        silent=replace(AMD, cards=(STRIX,)),
    ),
    "float32 matmul precision": Case(
        {"highest, and no script": torch(NVIDIA, precision="highest")},
        silent=replace(torch(precision="highest"), sets_precision=True),
    ),
    "graph breaks": Case({"run.py:0: a print": replace(AMD, torch=BROKEN), "and 2 more": replace(CPU, torch=BROKEN)}),
    "first compilation": Case(
        {"here.benchmark ends after 120 s": replace(CPU, compiled=(replace(STEP, timeout_s=120.0),))},
        silent=replace(CPU, compiled=(STEP,)),
    ),
    "torch's own answers": Case({"no such file": torch(trouble="run.py ended with status 2: no such file")}, looks=False),
    "results of TunableOp": Case(
        {
            "is refused as stale: GCN_ARCH_NAME gfx942:sramecc+:xnack-, here gfx1151": replace(
                AMD, tunable=(replace(TUNED, validators={**VALIDATORS, "GCN_ARCH_NAME": "gfx942:sramecc+:xnack-"}),)
            ),
            "HIPBLASLT_VERSION 800-bf2c3184, here 1000-b4e5042b": replace(
                torch(validators={"HIPBLASLT_VERSION": "1000-b4e5042b"}),
                tunable=(replace(TUNED, validators={**VALIDATORS, "HIPBLASLT_VERSION": "800-bf2c3184"}),),
            ),
            "it has no Validator line": replace(AMD, tunable=(replace(TUNED, validators={}),)),
        }
    ),
    "tables that AITER_CONFIG_* names": Case(
        {
            "refused as stale: tuned for gfx942 with 304 CUs, here gfx1151 with 40 CUs": replace(
                AMD, cards=(STRIX,), aiter=(replace(NAMED, machines={("gfx942", 304): 9}),)
            ),
            "tuned for nothing": replace(AMD, aiter=(replace(NAMED, machines={}),)),
        },
        silent=replace(AMD, aiter=(replace(NAMED, machines={("", 40): 1}),)),  # an older table, without the architecture
    ),
    "tuned shapes of aiter": Case(
        {
            "aiter 0.1.7 has no tuned shape for gfx1151 with 40 CUs, of 0 in 1 tables": replace(
                AMD, cards=(STRIX,), aiter=(replace(SHIPPED, machines={}),)
            ),
            "of 7 in 1 tables": replace(AMD, aiter=(replace(SHIPPED, machines={("gfx950", 256): 7}),)),
        }
    ),
    "strides of products": Case(
        {
            "in 1 of 2 tuned products": tuned(("Half", (4096, 4000, 512), 0.1), ("Half", (4000, 4000, 512), 0.1)),
            "float tn_512_64_4000 has 128 elements, 512 bytes": tuned(("float", (4000, 128, 512), 0.1)),
        },
        silent=tuned(("Half", (4000, 4000, 4096), 0.1), ("Half", (128, 1, 4096), 0.1)),
    ),
    "workgroups of products": Case(
        {
            "1 of 2 tuned products start fewer than 1024: 16x8192x8192 starts 32": tabled(row(16), row(8192)),
            "starts 64, for 304": tabled(row(16, kernel="Cijk_MT256x256x64_GSU2")),
        },
        silent=tabled(row(8192), row(16, split=32), row(16, kernel="Cijk_MT256x256x64_SK3")),
    ),
    "mapping of workgroups to XCDs": Case(
        {
            "1 of 2 tuned products map workgroups by no multiple of the 8 XCDs: 16x8192x8192 by 5": tabled(
                row(16, mapping=5), row(16, mapping=16)
            ),
        },
        silent=tabled(row(16), row(16, kernel="Cijk_MT256x256x64_WGM5_WGMXCC8")),
    ),
    "bf16 against f16": Case(
        {
            "1 shapes were tuned in both types: 0.2 ms in f16, 0.16 ms in bf16, 25.0 % faster": tuned(
                ("Half", (4000,) * 3, 0.2), ("BFloat16", (4000,) * 3, 0.16), ("Half", (8,) * 3, 9.0)
            )
        },
        silent=tuned(("Half", (4000,) * 3, 0.2), ("BFloat16", (4000,) * 3, 0.199)),
    ),
    "thresholds of M": Case(
        {
            "in 1 of 2 layers a tuned product wins for some M and torch for others: N=8192 K=8192 bfloat16: tuned at M=16, 64, "
            "torch at M=4096": tabled(row(4096, library="torch"), row(64), row(16), row(16, 512)),
        },
        silent=tabled(row(16), row(64), row(16, 512, library="torch")),
    ),
    "occupancy of Triton's kernels": Case(
        {
            "matmul fills 0.5 waves of a SIMD of gfx942: 2 warps, 40000 bytes of LDS": replace(
                AMD, triton=(replace(TRITON, warps=2, lds=40000),)
            ),
            "matmul fills 0 waves of a SIMD of gfx942: 8 warps, 300 VGPRs": replace(
                AMD, triton=(replace(TRITON, warps=8, vgpr=300, lds=0), TRITON)
            ),
            "and 1 more": replace(AMD, triton=(replace(TRITON, warps=1, lds=65536),) * 4),
        },
        silent=replace(AMD, triton=(TRITON, replace(TRITON, vgpr=512, lds=65536))),
    ),
}
