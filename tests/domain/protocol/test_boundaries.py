"""The committed critical values against their generator, and against the errors that they are said to have."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest

from expctl.domain.protocol import boundaries
from expctl.domain.protocol.boundaries import CONFIRM, LOOKS, SEARCH, Boundaries

PATHS = 100_000


def load() -> ModuleType:
    path = Path(__file__).parents[3] / "benchmarks/verdict/boundaries.py"
    spec = importlib.util.spec_from_file_location("generator", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = load()
COMMITTED: dict[str, Boundaries] = {"search": SEARCH, "confirm": CONFIRM}


def tables(session: str) -> dict[str, tuple[float, ...]]:
    """By the generator's names."""
    of = COMMITTED[session]
    found = {"low": of.low, "high": of.high, "regression": of.regression}
    return found | {f"rescue {k}": of.rescue[k] for k in (2, 3)} if session == "search" else found


EVERY = [(session, table) for session in COMMITTED for table in tables(session)]


@pytest.fixture(scope="module")
def derived() -> dict[str, dict[str, tuple[float, ...]]]:
    return {session: GENERATOR.derive(GENERATOR.SESSIONS[session], PATHS) for session in COMMITTED}


@pytest.mark.parametrize(("session", "table"), EVERY)
def test_the_generator_gives_the_table_within_simulation_error(
    session: str, table: str, derived: dict[str, dict[str, tuple[float, ...]]]
) -> None:
    """The tail of t with n - 1 degrees of freedom falls about as t^-(n-1): k has a relative error of 1/((n-1) sqrt(count))."""
    spending, spent = GENERATOR.SESSIONS[session], 0.0
    looks = zip(COMMITTED[session].looks, tables(session)[table], derived[session][table], strict=True)
    for look, wanted, found in looks:
        allowed = spending.spent(table, look)
        count, spent = 2 * PATHS * (allowed - spent), allowed
        tolerance = 4 * found / (min(look - 1, found * found) * math.sqrt(count)) + 0.01
        assert found == pytest.approx(wanted, abs=1.2 * tolerance), look


@pytest.mark.parametrize(("session", "table"), EVERY)
def test_the_first_look_is_the_exact_quantile(session: str, table: str) -> None:
    """Within three standard errors of the 10^6 paths, each with two tails, that the tables are from."""
    spending = GENERATOR.SESSIONS[session]
    error = 1 / (2 * math.sqrt(2e6 * spending.spent(table, 3)))
    assert GENERATOR.exact_first(spending, table) == pytest.approx(tables(session)[table][0], rel=3 * error)


ERRORS = {  # by the last planned look, and by the last of an extension
    "search": {"low": (0.006, 0.007), "high": (0.04, 0.043), "regression": (0.0036, 0.004)},
    "confirm": {"low": (0.035, 0.04), "high": (0.008, 0.01), "regression": (0.0036, 0.004)},
}


@pytest.mark.parametrize(("session", "table"), [(session, table) for session, of in ERRORS.items() for table in of])
def test_the_error_of_all_looks_together_is_the_one_that_may_be_spent(session: str, table: str) -> None:
    spending, values = GENERATOR.SESSIONS[session], tables(session)[table]
    planned, extended = ERRORS[session][table]
    assert (spending.spent(table, spending.planned), spending.spent(table, spending.looks[-1])) == (planned, extended)
    found = GENERATOR.overall(spending, values, PATHS, 99)
    assert found == pytest.approx(extended, abs=4 * math.sqrt(extended / (2 * PATHS)) + 2e-4)


def test_an_interval_is_of_95_percent_in_both_sessions() -> None:
    for of in ERRORS.values():
        assert of["low"][1] + of["high"][1] == pytest.approx(0.05)


@pytest.mark.parametrize("k", [2, 3])
def test_a_rescuer_of_several_spends_its_share(k: int) -> None:
    found = GENERATOR.overall(GENERATOR.SESSIONS["search"], SEARCH.rescue[k], PATHS, 99)
    assert found == pytest.approx(0.007 / k, abs=4 * math.sqrt(0.007 / k / (2 * PATHS)) + 2e-4)
    assert all(stricter > usual for stricter, usual in zip(SEARCH.rescue[k], SEARCH.low, strict=True))


def test_one_rescuer_is_held_to_the_table_of_the_objective() -> None:
    assert SEARCH.rescue[1] == SEARCH.low
    assert all(CONFIRM.rescue[k] == CONFIRM.low for k in (1, 2, 3))


def test_generator_and_verdict_look_at_the_same_rounds_and_the_same_seed_gives_the_same_values() -> None:
    for name, session in GENERATOR.SESSIONS.items():
        assert session.looks == COMMITTED[name].looks
        assert GENERATOR.derive(session, 2_000) == GENERATOR.derive(session, 2_000)
    assert (GENERATOR.SESSIONS["search"].planned, GENERATOR.SESSIONS["confirm"].planned) == (46, 35)


def test_the_looks_and_limits_are_those_of_the_description() -> None:
    assert LOOKS == (3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, 46)
    assert SEARCH.looks == (*LOOKS, 60, 80, 105, 140, 200)
    assert CONFIRM.looks[:10] == (3, 4, 5, 7, 9, 12, 16, 21, 27, 35)
    assert boundaries.CONFIRM_MERGES == 2
    assert (boundaries.CONFIRM_ROUNDS, boundaries.CONFIRM_LAUNCHES_ROUNDS, boundaries.EXTENDED_ROUNDS) == (70, 140, 200)
    assert {70, 140, 200} <= {2 * look for look in CONFIRM.looks}
    assert boundaries.VERSION == "2"


def test_looks_can_be_cut_at_the_end_only() -> None:
    assert SEARCH.until(46) == LOOKS
    assert SEARCH.until(10) == (3, 4, 5, 6, 8, 10)
    assert SEARCH.until(9) == (3, 4, 5, 6, 8)
    assert SEARCH.until(2) == ()


def test_between_looks_the_stricter_value_holds() -> None:
    assert SEARCH.at(SEARCH.regression, 9) == SEARCH.regression[4]
    assert SEARCH.at(SEARCH.low, 46) == SEARCH.low[11]
    assert SEARCH.at(SEARCH.high, 500) == SEARCH.high[-1]
    assert CONFIRM.at(CONFIRM.low, 8) == CONFIRM.low[3]
    with pytest.raises(ValueError, match="expected at least 3 effects, found 2"):
        SEARCH.at(SEARCH.low, 2)
