"""The order of a sweep: a grid, or Optuna where it is installed."""

import importlib.util

from expctl.adapters.proposers.sweep_search import search_of
from expctl.domain.patch.sweep import combinations, words_of
from expctl.domain.protocol.proposer import Sampler, Sweep
from tests.refusals import refuses

SWEEP = Sweep(file="f", constants={"A": ("1", "2", "3"), "B": ("1", "2", "3")})
OPTUNA = Sweep(file="f", constants=SWEEP.constants, sampler=Sampler.OPTUNA, trials=8)


def asked(sweep: Sweep, left: int) -> list[str]:
    """What is asked when the first `left` combinations are known, and A*B is the score."""
    search, found = search_of(sweep, list(combinations(sweep))[:left]), []
    while (each := search.ask()) is not None:
        found.append(words_of(each))
        search.tell(float(each["A"]) * float(each["B"]) if len(found) != 2 else None)
    return found


def test_a_grid_asks_for_everything_once() -> None:
    assert asked(SWEEP, 9) == [words_of(each) for each in combinations(SWEEP)]
    assert asked(SWEEP, 0) == []


def test_optuna_is_an_extra() -> None:
    if importlib.util.find_spec("optuna") is None:
        with refuses("optuna-not-installed") as caught:
            asked(OPTUNA, 9)
        assert "pip install" in caught.value.hint
        return
    found = asked(OPTUNA, 9)
    assert 1 <= len(found) <= 8
    assert found == asked(OPTUNA, 9)
    assert set(asked(OPTUNA, 4)) <= {words_of(each) for each in list(combinations(OPTUNA))[:4]}
