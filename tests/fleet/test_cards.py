"""Which GPU of a machine a worker offers, and that its steps see no other one."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.fleet import devices
from expctl.adapters.machine.own_cards import CUDA, HIP, ROCR
from expctl.domain.protocol.cards import Cards
from expctl.domain.protocol.model import Environment, Gate
from expctl.wiring import own_cards
from tests.refusals import refuses


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an H200 and an H100, as a stand-in for nvidia-smi says, and a card of AMD's without an id."""
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\ncase $1 in *cap*) a=', 9.0' b=', 10.0';; esac\necho \"GPU-a0$a\"\necho \"GPU-b1$b\"\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    node = tmp_path / "sys/class/kfd/kfd/topology/nodes/1/properties"
    node.parent.mkdir(parents=True)
    node.write_text("gfx_target_version 110501\nunique_id 0\n")
    return tmp_path


@pytest.mark.parametrize(
    ("gpu", "uuid", "kind", "variables"),
    [
        ("", "GPU-a0", "sm_90", {CUDA: "GPU-a0"}),
        ("0", "GPU-a0", "sm_90", {CUDA: "GPU-a0"}),
        ("1", "GPU-b1", "sm_100", {CUDA: "GPU-b1"}),
        ("gpu-B1", "GPU-b1", "sm_100", {CUDA: "GPU-b1"}),
        ("2", "gfx1151-", "gfx1151", {ROCR: "0", HIP: "0"}),
    ],
)
def test_a_worker_offers_one_card(two: Path, gpu: str, uuid: str, kind: str, variables: dict[str, str]) -> None:
    device, card, more = devices.device_here(two / "worker", gpu, two, variables={})
    assert card is not None
    assert (device.uuid[: len(uuid)], device.kind, card.variables, more) == (uuid, kind, variables, 2)


@pytest.mark.parametrize(
    ("variables", "uuid"),
    [
        ({}, "GPU-a0"),
        ({CUDA: "1"}, "GPU-b1"),
        ({CUDA: "GPU-b1,GPU-a0"}, "GPU-b1"),
        ({CUDA: ""}, "gfx1151-"),
        ({CUDA: "", ROCR: "0", HIP: "0"}, "gfx1151-"),
        ({CUDA: "", ROCR: "1"}, "cpu-"),
        ({CUDA: "NoDevFiles", HIP: ""}, "cpu-"),
    ],
)
def test_of_several_cards_the_first_visible_one_is_offered(two: Path, variables: dict[str, str], uuid: str) -> None:
    """A scheduler of jobs gives cards by these variables; the others are somebody else's."""
    device, _, _ = devices.device_here(two / "worker", machine=two, variables=variables)
    assert device.uuid.startswith(uuid)
    chosen, _, _ = devices.device_here(two / "worker", "0", two, variables=variables)
    assert chosen.uuid == "GPU-a0"


@pytest.mark.parametrize("gpu", ["3", "GPU-", "GPU-c2"])
def test_a_card_that_is_not_there_is_refused(two: Path, gpu: str) -> None:
    with refuses("fleet-no-such-gpu") as caught:
        devices.device_here(two / "worker", gpu, two, variables={})
    assert "0 (GPU-a0), 1 (GPU-b1), 2 (amd-node-1)" in caught.value.expected


def test_a_machine_without_a_gpu_offers_its_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    device, card, more = devices.device_here(tmp_path / "worker", machine=tmp_path, variables={})
    assert (device.kind, card, more) == ("cpu", None, 0)
    with refuses("fleet-no-such-gpu"):
        devices.device_here(tmp_path / "worker", "0", tmp_path, variables={})


@pytest.mark.usefixtures("two")
def test_the_workers_card_comes_before_the_shell_and_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CUDA, "0")
    set_ = Environment(set={CUDA: "0"})
    rule = Gate(cards=Cards.OWN)
    for shows, card in (({}, "GPU-a0"), (json.loads(f'{{"{CUDA}": "GPU-b1"}}'), "GPU-b1")):
        cards = own_cards(rule, set_, shows, on_gpu=True)
        assert cards is not None
        assert cards.shown()[CUDA] == card
    assert own_cards(replace(rule, cards=Cards.ALL), set_, on_gpu=True) is None
    assert own_cards(rule, set_, on_gpu=False) is None


@pytest.mark.usefixtures("two")
def test_sensors_look_at_the_workers_card_though_it_keeps_the_whole_machine() -> None:
    """Of AMD's cards the steps see number 0 of those that ROCR_VISIBLE_DEVICES leaves: that is not the sensors' number 0."""
    cards = own_cards(Gate(), Environment(), {CUDA: "GPU-b1"}, on_gpu=True)
    assert cards is not None
    assert cards.indices()[CUDA] == "1"
