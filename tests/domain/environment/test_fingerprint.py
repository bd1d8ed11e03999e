"""What of the environment a record keeps."""

from typing import Any

import pytest
from msgspec.structs import replace

from expctl.domain.environment.fingerprint import environment_facts, variables_words
from expctl.domain.environment.snapshot import Linux
from tests.domain.environment.cases import HOPPER, MI300

LINUX = Linux(numa_balancing="0", platform_profile="performance", governors=("performance",))


def facts(**card: Any) -> dict[str, str]:
    return environment_facts(LINUX, (replace(HOPPER, **card),), {})


def test_settings_are_words_and_equal_cards_are_said_once() -> None:
    found = environment_facts(LINUX, (HOPPER, replace(HOPPER, name="nvidia 1"), MI300), {})
    assert found["settings"] == "NUMA balancing 0; platform performance"
    assert found["cards"] == "nvidia 9.0: 700 W, ECC on, MIG off; amd gfx942: 120 W, COMPUTE, SPX"
    assert environment_facts(Linux(), (), {}) == {
        "variables": "none",
        "fingerprint": environment_facts(Linux(), (), {})["fingerprint"],
    }


@pytest.mark.parametrize("changed", [{"power_w": 500.0}, {"ecc": False}, {"mig": True}])
def test_what_changes_speed_changes_the_cards_and_the_fingerprint(changed: dict[str, Any]) -> None:
    one, other = facts(), facts(**changed)
    assert one["cards"] != other["cards"]
    assert one["fingerprint"] != other["fingerprint"]


@pytest.mark.parametrize("changed", [{"persistence": False}, {"display": True}])
def test_what_does_not_changes_the_fingerprint_alone(changed: dict[str, Any]) -> None:
    one, other = facts(), facts(**changed)
    assert one["cards"] == other["cards"]
    assert one["fingerprint"] != other["fingerprint"]


def test_another_card_of_the_same_kind_changes_nothing() -> None:
    assert facts() == facts(name="nvidia 3")


def test_variables_name_neither_the_card_nor_a_path() -> None:
    passed = {
        "HIP_VISIBLE_DEVICES": "1",
        "HSA_OVERRIDE_GFX_VERSION": "11.5.1",
        "TORCHINDUCTOR_CACHE_DIR": "/home/somebody/cache",
        "EDITOR": "vi",
    }
    words = variables_words(passed)
    assert words.startswith("HSA_OVERRIDE_GFX_VERSION=11.5.1 TORCHINDUCTOR_CACHE_DIR=#")
    assert "somebody" not in words
    assert variables_words({"EDITOR": "vi"}) == "none"
    assert environment_facts(LINUX, (), passed)["fingerprint"] != environment_facts(LINUX, (), {})["fingerprint"]
