"""Which card is a run's own: by the variables that its steps see, nvidia-smi's answer and the kernel's files."""

from pathlib import Path

import pytest

from expctl.adapters.machine.own_cards import CUDA, HIP, ROCR, OwnCards, amd, nvidia
from expctl.domain.environment.snapshot import Vendor
from expctl.domain.protocol.model import Build, NumberKind, Requires, Target, Toolchain
from tests.refusals import refuses

ZERO, ONE = "GPU-aaaa0000-1111-2222-3333-444455556666", "GPU-bbbb0000-1111-2222-3333-444455556666"
FF = "GPU-00000000000000ff"
NVIDIA = Target(build=Build(toolchain=Toolchain.NVCC), number_kind=NumberKind.DEVICE_TIME)
AMD = Target(build=Build(toolchain=Toolchain.HIPCC), number_kind=NumberKind.DEVICE_TIME)
CPU = Target(build=Build(toolchain=Toolchain.COMMAND))


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with two cards of NVIDIA's, as a stand-in for nvidia-smi says."""
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\necho {ZERO}\necho {ONE}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    return tmp_path / "machine"


@pytest.mark.parametrize(
    ("names", "card"), [("0", ZERO), ("1", ONE), (ONE, ONE), ("GPU-bbbb", ONE), (" 1 ", ONE), ("1,GPU-bbbb", ONE)]
)
def test_the_card_is_the_one_that_the_variable_lists(two: Path, names: str, card: str) -> None:
    cards = OwnCards({CUDA: names}, two)
    found = cards.of(NVIDIA)
    assert found is not None
    assert (found.name, found.index) == (card, int(card == ONE))
    assert cards.shown() == {CUDA: card}
    assert cards.of(CPU) is None


@pytest.mark.parametrize("names", [None, "0,1", "", "-1", "MIG-7", "2", "GPU-cccc", "0,-1"])
def test_more_than_one_card_or_none_is_refused(two: Path, names: str | None) -> None:
    cards = OwnCards({} if names is None else {CUDA: names}, two)
    with refuses("not-one-card") as caught:
        cards.of(NVIDIA)
    assert caught.value.found.startswith(f"0 ({ZERO}), 1 ({ONE})" if names in (None, "0,1") else "none")
    assert caught.value.where == CUDA
    assert cards.shown() == {}
    assert cards.of(CPU) is None


def test_the_kernels_files_spare_the_tool(two: Path) -> None:
    for address, uuid in (("0000:9b:00.0", ONE), ("0000:1a:00.0", ZERO)):
        file = two / "proc/driver/nvidia/gpus" / address / "information"
        file.parent.mkdir(parents=True)
        file.write_text(f"Model: \t\t NVIDIA H200\nGPU UUID: \t {uuid.replace('0000', '9999')}\nDevice Minor: \t 0\n")
    assert [card.uuid for card in nvidia(two)] == [ZERO.replace("0000", "9999"), ONE.replace("0000", "9999")]
    file.write_text("GPU UUID: \t GPU-????????-????-????-????-????????????\n")
    assert [card.uuid for card in nvidia(two)] == [ZERO, ONE]


def test_cards_of_amd_by_rocr_and_then_hip(tmp_path: Path) -> None:
    for node, target, own in ((0, 0, 0), (2, 90402, 255), (10, 110501, 0)):
        file = tmp_path / "sys/class/kfd/kfd/topology/nodes" / str(node) / "properties"
        file.parent.mkdir(parents=True)
        file.write_text(f"gfx_target_version {target}\nunique_id {own}\n")
    assert [(card.index, card.name, card.kind) for card in amd(tmp_path)] == [
        (0, FF, "gfx942"),
        (1, "amd-node-10", "gfx1151"),
    ]
    for variables, name in (({HIP: "0"}, FF), ({ROCR: "1", HIP: "0"}, "amd-node-10"), ({ROCR: FF.upper()}, FF)):
        cards = OwnCards(variables, tmp_path)
        found = cards.of(AMD)
        assert found is not None
        assert found.name == name
    assert OwnCards({ROCR: "1"}, tmp_path).shown() == {ROCR: "1", HIP: "0"}
    assert OwnCards({HIP: "0"}, tmp_path).shown() == {ROCR: FF, HIP: "0"}
    assert OwnCards({HIP: "1"}, tmp_path).indices() == {HIP: "1"}
    with refuses("not-one-card"):
        OwnCards({ROCR: "1", HIP: "1"}, tmp_path).of(AMD)


def test_a_target_of_either_maker_needs_one_card_in_all(two: Path) -> None:
    assert OwnCards({CUDA: "0"}, two).seen(Vendor.AMD) == ()
    either = Target(build=Build(toolchain=Toolchain.COMMAND), number_kind=NumberKind.DEVICE_TIME)
    named = Target(build=Build(toolchain=Toolchain.COMMAND), requires=Requires(devices=("/dev/nvidia0",)))
    for target in (either, named):
        found = OwnCards({CUDA: "1"}, two).of(target)
        assert found is not None
        assert found.name == ONE
