"""Files of tuned products as their tools write them, and how they are compared with this machine."""

import pytest
from msgspec.structs import replace

from expctl.domain.environment.snapshot import AiterProduct, AiterTable, TunableOpFile, TunedProduct
from expctl.domain.environment.tuned_files import mismatches, read_aiter, read_tunableop

# torch 2.9 on an MI300X.
RESULTS = """Validator,PT_VERSION,2.9.1
Validator,HIP_VERSION,702
Validator,HIPBLASLT_VERSION,100202-dabb6df2b9
Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-
Validator,ROCBLAS_VERSION,5.2.0.dabb6df2b9
GemmTunableOp_BFloat16_NN,nn_1024_1024_1024_ld_1024_1024_1024,Gemm_Rocblas_-621294427,0.0105563
GemmTunableOp_float_TN,tn_200_100_20,Gemm_Hipblaslt_1219,1.262
"""
TABLE = """gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,bw
gfx950,256,64,256,5120,False,torch.bfloat16,torch.float32,False,False,asm,5,13,7.9,_ZN5aiter39bf16gemm,0.0,21.19,417.92
gfx942,304,80,256,5120,False,torch.bfloat16,torch.float32,False,False,asm,7,13,7.9,_ZN5aiter39bf16gemm,0.0,26.32,436.97
gfx942,304,96,256,5120,False,torch.bfloat16,torch.float32,False,False,asm,7,13,7.9,_ZN5aiter39bf16gemm,0.0,26.32,436.97
"""
OLD_TABLE = "cu_num,M,N,K,kernelId,splitK,us,kernelName\n80,1,1280,8192,11,0,5.6,a8w8\n304,16,1280,8192,11,0,5.6,a8w8\n"


def test_results_of_tunableop() -> None:
    found = read_tunableop("tunableop_results0.csv", RESULTS)
    assert (found.rows, found.validators["GCN_ARCH_NAME"]) == (2, "gfx942:sramecc+:xnack-")
    assert list(found.validators) == ["PT_VERSION", "HIP_VERSION", "HIPBLASLT_VERSION", "GCN_ARCH_NAME", "ROCBLAS_VERSION"]
    assert read_tunableop("empty.csv", "") == TunableOpFile(path="empty.csv")
    assert read_tunableop("x", "Validator\ngarbage") == TunableOpFile(path="x", rows=1)


@pytest.mark.parametrize(
    ("text", "machines"),
    [
        (TABLE, {("gfx950", 256): 1, ("gfx942", 304): 2}),
        (OLD_TABLE, {("", 80): 1, ("", 304): 1}),
        (TABLE.splitlines()[0] + "\n", {}),
        ("", {}),
        ("M,N,K\n1,2,3\n", {}),
        ("gfx,cu_num\ngfx942\ngfx942,many\n", {}),
    ],
    ids=["today's", "without the architecture", "empty, as it is shipped", "no header", "other columns", "torn"],
)
def test_tables_of_aiter(text: str, machines: dict[tuple[str, int], int]) -> None:
    found = read_aiter("t.csv", text)
    assert replace(found, products=()) == AiterTable(path="t.csv", machines=machines)
    assert len(found.products) == sum(machines.values())


def test_products_of_tables() -> None:
    product, *_ = read_aiter("t.csv", TABLE).products
    assert product == AiterProduct(
        machine=("gfx950", 256), m=64, n=256, k=5120, dtype="bfloat16", library="asm", kernel="_ZN5aiter39bf16gemm", split=13
    )
    assert [(each.machine, each.library, each.split) for each in read_aiter("t.csv", OLD_TABLE).products] == [
        (("", 80), "", 1),
        (("", 304), "", 1),
    ]
    torn = read_aiter("t.csv", "gfx,cu_num,M,N,K\ngfx942,304,many,1,1\ngfx942,304,1\n")
    assert (torn.machines, torn.products) == ({("gfx942", 304): 2}, ())


def test_products_of_tunableop() -> None:
    assert read_tunableop("x", RESULTS).products == (
        TunedProduct(kind="BFloat16", shape="nn_1024_1024_1024", strides=(1024, 1024, 1024), ms=0.0105563),
        TunedProduct(kind="float", shape="tn_200_100_20", ms=1.262),
    )
    batched = "GemmStridedBatchedTunableOp_Half_TN,tn_128_128_64_B_96_ld_64_64_128,Gemm_Rocblas_1,nan"
    assert read_tunableop("x", batched).products == (
        TunedProduct(kind="Half", shape="tn_128_128_64_B_96", strides=(64, 64, 128)),
    )
    for odd in ("GemmTunableOp_Half_TN,tn_1_2,x,1", "GemmTunableOp_Half_TN,tn_1_2_3", "Other_Half_TN,tn_1_2_3,x,1"):
        assert read_tunableop("x", odd).products == ()


@pytest.mark.parametrize(
    ("theirs", "here", "differs"),
    [
        ("gfx942:sramecc+:xnack-", "gfx942", False),
        ("gfx90a:sramecc+:xnack-", "gfx90", True),
        ("gfx942:sramecc+:xnack-", "gfx942:sramecc-:xnack-", True),
        ("6.2.0.0-66-abc", "6.2", False),
        ("6.2.0.0-66-abc", "6.20", True),
        ("6.1.0.0-82-5fabb4c", "6.2", True),
        ("702", "702", False),
        ("702", "70", True),
        ("2.9.1", "2.9.1", False),
        ("anything", "", False),
    ],
)
def test_a_validator_differs(theirs: str, here: str, differs: bool) -> None:
    assert bool(list(mismatches({"NAME": theirs}, {"NAME": here}))) is differs
