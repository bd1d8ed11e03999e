"""hipcc's builds: what makes two of them equal, and the figures of the kernels in one."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from expctl.domain.protocol.model import Build, Toolchain
from expctl.inspection.device_compiler import wheel_flags
from expctl.inspection.readers.offload_bundle import COMPRESSED, MAGIC
from expctl.targets.gfx1151 import ZigGfxRecipe, compiler_facts
from expctl.targets.rocm import HIPCC, device_facts
from tests.targets.test_gfx1151 import KERNEL, build

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")

ZIG = (sys.executable, "-m", "ziglang")


def bundle(**contents: bytes) -> bytes:
    """An offload bundle as hipcc writes it: an empty entry for the host, then the code of each GPU, at pages of its own."""
    entries = {
        "host-x86_64-unknown-linux-gnu-": b"",
        **{f"hipv4-amdgcn-amd-amdhsa--{arch}": code for arch, code in contents.items()},
    }
    head, body, at = MAGIC + struct.pack("<Q", len(entries)), b"", 4096
    for name, code in entries.items():
        head += struct.pack("<QQQ", at + len(body), len(code), len(name)) + name.encode()
        body += code + bytes(-len(code) % 4096)
    return head.ljust(at, b"\0") + body


def library(folder: Path, fat: bytes, section: str = ".hip_fatbin") -> Path:
    """A host library with these bytes in the section where the vendor's compiler puts the GPU's code."""
    folder.mkdir(exist_ok=True)
    (folder / "fat").write_bytes(fat)
    assembly = f'.section {section},"a",@progbits\n.p2align 12\n.globl __hip_fatbin\n__hip_fatbin:\n.incbin "fat"\n'
    (folder / "fat.s").write_text(assembly)
    argv = [*ZIG, "cc", "-shared", "-nostdlib", "fat.s", "-o", "kernel.so"]
    caches = dict.fromkeys(
        ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(folder / "cache")
    )  # it can't see the file `fat`
    subprocess.run(argv, cwd=folder, env=os.environ | caches, check=True, capture_output=True)
    return folder / "kernel.so"


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code object of the static target, with its assembly beside it."""
    cache = tmp_path_factory.mktemp("zig")
    return build(tmp_path_factory.mktemp("rocm") / "static", cache, KERNEL)


def test_the_command() -> None:
    wanted = Build(toolchain=Toolchain.HIPCC, arch="gfx1151", source="k.hip", artifact="k.so", flags=("-O3",))
    (argv,) = HIPCC.commands(wanted, out=Path("out"))
    fixed = ("-shared", "-fPIC", "--no-offload-compress", "-cuid=expctl")
    assert argv == ("hipcc", "--offload-arch=gfx1151", *fixed, "-O3", "k.hip", "-o", "out/k.so")


@pytest.mark.parametrize(("option", "equal"), [("-cuid=expctl", True), ("-fuse-cuid=hash", False)])
def test_equal_sources_in_two_folders_are_equal_code_by_our_id_alone(tmp_path: Path, option: str, equal: bool) -> None:
    flags = [word for word in wheel_flags("gfx1151") if word != "-fuse-cuid=none"]
    texts = set()
    for name in ("baseline", "candidate"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.hip").write_text(KERNEL)
        argv = [*ZIG, "clang", *flags, "--no-offload-compress", option, "-S", f"{name}/kernel.hip", "-o", f"{name}/kernel.s"]
        subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True)
        texts.add((tmp_path / name / "kernel.s").read_bytes().replace(name.encode(), b""))
    assert (len(texts) == 1) is equal


def test_figures_are_those_of_the_static_target(tmp_path: Path, static: Path) -> None:
    made = library(tmp_path, bundle(gfx1151=static.read_bytes()))
    code, facts = HIPCC.describe(made)
    assert {fact.name: fact.value for fact in facts} == {
        fact.name: fact.value for fact in compiler_facts((static.parent / "kernel.s").read_text())
    }
    assert [fact.unit for fact in facts] == [fact.unit for fact in ZigGfxRecipe().describe(static)[1]]
    assert HIPCC.describe(library(tmp_path / "again", bundle(gfx1151=static.read_bytes())))[0] == code


@pytest.mark.parametrize(
    "damage", ["no GPU", "two GPUs", "compressed", "cut off", "garbage", "no ELF", "cut ELF", "not one of AMD"]
)
def test_what_cant_be_read_has_no_figures_and_a_hash_all_the_same(tmp_path: Path, static: Path, damage: str) -> None:
    code = static.read_bytes()
    fat = {
        "no GPU": bundle(),
        "two GPUs": bundle(gfx1151=code, gfx1100=code),
        "compressed": COMPRESSED + code,
        "cut off": bundle(gfx1151=code)[:4500],
        "garbage": bundle(gfx1151=bytes(range(256)) * 20),
        "not one of AMD": b"\x50\xed\x55\xba" + code,
    }
    made = library(tmp_path, fat.get(damage, bundle(gfx1151=code)))
    if damage == "no ELF":
        made.write_bytes(b"def total(): ...")
    if damage == "cut ELF":
        made.write_bytes(made.read_bytes()[:300])
    assert device_facts(made) == ()
    if damage != "cut ELF":
        assert len(HIPCC.describe(made)[0]) == 64
