"""The committed critical values against their generator."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest

from expctl.domain.protocol import boundaries
from expctl.domain.protocol.boundaries import FUTILITY, KEEP, LOOKS, REGRESSION, RESCUE, at, looks_until

TABLES = {"keep": KEEP, "futility": FUTILITY, "regression": REGRESSION, "rescuer 2": RESCUE[2], "rescuer 3": RESCUE[3]}
PATHS = 200_000


def load() -> ModuleType:
    path = Path(__file__).parents[3] / "benchmarks/verdict/boundaries.py"
    spec = importlib.util.spec_from_file_location("generator", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = load()


@pytest.fixture(scope="module")
def derived() -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = GENERATOR.derive(PATHS)
    return found


@pytest.mark.parametrize("name", TABLES)
def test_the_generator_gives_the_table_within_simulation_error(name: str, derived: dict[str, tuple[float, ...]]) -> None:
    """The tail of t with n - 1 degrees of freedom falls about as t^-(n-1): k has a relative error of 1/((n-1) sqrt(count))."""
    spent = 0.0
    for look, wanted, found in zip(LOOKS, TABLES[name], derived[name], strict=True):
        allowed = GENERATOR.ALPHA[name] * (look / GENERATOR.SPENT_AT) ** GENERATOR.POWER
        count, spent = 2 * PATHS * (allowed - spent), allowed
        tolerance = 4 * found / (min(look - 1, found * found) * math.sqrt(count)) + 0.01
        # The published values are themselves from about 10^6 paths.
        assert found == pytest.approx(wanted, abs=1.2 * tolerance), look


@pytest.mark.parametrize("name", TABLES)
def test_the_first_look_is_the_exact_quantile(name: str) -> None:
    assert GENERATOR.exact_first(GENERATOR.ALPHA[name]) == pytest.approx(TABLES[name][0], rel=0.02)


@pytest.mark.parametrize(("name", "alpha"), [("keep", 0.005), ("futility", 0.05), ("regression", 0.0025)])
def test_the_error_of_all_looks_together_is_the_one_that_may_be_spent(name: str, alpha: float) -> None:
    alpha *= (LOOKS[-1] / GENERATOR.SPENT_AT) ** GENERATOR.POWER
    assert GENERATOR.overall(TABLES[name], PATHS, 99) == pytest.approx(alpha, abs=4 * math.sqrt(alpha / (2 * PATHS)) + 2e-4)


def test_generator_and_verdict_look_at_the_same_rounds_and_the_same_seed_gives_the_same_values() -> None:
    assert GENERATOR.LOOKS == LOOKS
    assert GENERATOR.derive(2_000) == GENERATOR.derive(2_000)


def test_looks_can_be_cut_at_the_end_only() -> None:
    assert looks_until(46) == LOOKS
    assert looks_until(10) == (5, 6, 8, 10)
    assert looks_until(9) == (5, 6, 8)
    assert boundaries.VERSION == "1"


def test_between_looks_the_stricter_value_holds() -> None:
    assert at(REGRESSION, 9) == REGRESSION[2]
    assert at(KEEP, 46) == KEEP[-1]
