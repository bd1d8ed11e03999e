"""What an attack on `gate: cards: own` has found: who passes for a stranger, and what is told of a card of AMD's."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from expctl.adapters.machine.device_lock import MachineLock
from expctl.adapters.machine.neighbours import Neighbours
from expctl.adapters.machine.own_cards import HIP, ROCR, OwnCards, amd
from expctl.adapters.machine.settings import TargetSettings
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import Build, Environment, NumberKind, Target, Toolchain
from tests.adapters.machine.test_cards import lay
from tests.refusals import refuses

AMD = Target(build=Build(toolchain=Toolchain.HIPCC), number_kind=NumberKind.DEVICE_TIME)
NODES, DRM = "sys/class/kfd/kfd/topology/nodes", "sys/class/drm"
TWO = {
    "dev/kfd": "",
    f"{NODES}/1/properties": "gfx_target_version 90402\nunique_id 255\ndrm_render_minor 128\n",
    f"{NODES}/2/properties": "gfx_target_version 110501\nunique_id 0\ndrm_render_minor 129\n",
    f"{DRM}/card0/device/vendor": "0x1002\n",
    f"{DRM}/card0/device/drm/renderD128/dev": "226:128\n",
    f"{DRM}/card0/device/hwmon/hwmon0/power1_cap": "750000000\n",
    f"{DRM}/card1/device/vendor": "0x1002\n",
    f"{DRM}/card1/device/drm/renderD129/dev": "226:129\n",
    f"{DRM}/card1/device/hwmon/hwmon1/power1_cap": "85000000\n",
}


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A machine with two cards of AMD's; the second has no id."""
    return lay(tmp_path / "machine", TWO)


# ------------------------------------------------------------------ which card


def test_an_id_of_amds_has_leading_zeros_as_rocr_writes_it(two: Path) -> None:
    """ROCr compares ROCR_VISIBLE_DEVICES with 16 digits: without the zeros a step would see no card."""
    assert [card.uuid for card in amd(two)] == ["GPU-00000000000000ff", ""]
    assert OwnCards({ROCR: "0"}, two).shown() == {ROCR: "GPU-00000000000000ff", HIP: "0"}


@pytest.mark.parametrize("given", [{ROCR: "1"}, {HIP: "1"}, {ROCR: "1,0", HIP: "0"}])
def test_a_record_has_the_settings_of_the_card_that_the_steps_see(two: Path, given: dict[str, str]) -> None:
    cards = OwnCards(given, two)
    assert cards.of(AMD) == amd(two)[1]
    assert TargetSettings(Environment(), two, shown=cards.shown())(AMD)["cards"] == "amd gfx1151: 85 W"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({HIP: ""}, "none; HIP_VISIBLE_DEVICES="),
        ({ROCR: "1", HIP: "1"}, "none; ROCR_VISIBLE_DEVICES=1, HIP_VISIBLE_DEVICES=1"),
        ({ROCR: "\x1b[31m" + "9" * 400}, f"none; ROCR_VISIBLE_DEVICES={'9' * 59}…"),
    ],
)
def test_a_refusal_names_every_variable_that_hides_a_card(two: Path, given: dict[str, str], said: str) -> None:
    with refuses("not-one-card") as caught:
        OwnCards(given, two).of(AMD)
    assert caught.value.found == said


# ------------------------------------------------------------------ who is a neighbour


@pytest.fixture
def neighbour() -> Iterator["subprocess.Popen[str]"]:
    """A run that holds the lock of another card while a child of its own works. At each line that it reads it goes on: it ends
    the child, then gives the lock back.
    """
    code = (
        "import subprocess, sys\n"
        "from expctl.adapters.machine.device_lock import MachineLock\n"
        "with MachineLock(card='GPU-b1').alone(wait_s=0):\n"
        "    child = subprocess.Popen(['sleep', '60'])\n"
        "    print(child.pid, flush=True)\n"
        "    sys.stdin.readline()\n"
        "    child.kill()\n"
        "    child.wait()\n"
        "    print('ended', flush=True)\n"
        "    sys.stdin.readline()\n"
        "print('free', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def go_on(process: "subprocess.Popen[str]") -> None:
    """Let the neighbour take its next step, and wait until it has."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    process.stdout.readline()


@pytest.mark.parametrize("steps", [1, 2])
def test_a_neighbours_work_that_ends_in_the_middle_of_a_look_is_not_foreign(
    neighbour: "subprocess.Popen[str]", steps: int
) -> None:
    """After one step the child is gone, after two its run has given the lock back."""
    assert neighbour.stdout is not None
    child = int(neighbour.stdout.readline())

    def found() -> Iterator[Foreign]:
        yield Foreign(sensor="device", what="sleep holds nvidia1", pid=child)
        for _ in range(steps):
            go_on(neighbour)

    made = Neighbours(MachineLock(), ProcessTable(mark="m", me=1 << 22))
    made.card = "GPU-a0"
    assert made.strangers(found()) == ()
