"""Choose the combinations that a sweep tries: every one in turn, or those that Optuna picks."""

import json
import random
from collections.abc import Sequence
from typing import Any

from expctl.domain.errors import Refused
from expctl.domain.patch.sweep import Combination
from expctl.domain.protocol.proposer import Sampler, Sweep
from expctl.domain.protocol.tune import Order, Tune
from expctl.ports.proposers import Search


class GridSearch:
    """Tries every combination of a sweep's values, in the order given."""

    learns = False

    def __init__(self, combinations: Sequence[Combination]) -> None:
        self._left = list(reversed(combinations))

    def ask(self) -> Combination | None:
        """Return the next combination; None after the last."""
        return self._left.pop() if self._left else None

    def tell(self, score: float | None) -> None:
        """Do nothing: the order in which a grid is searched does not depend on scores."""


class OptunaSearch:
    """Tries at most `trials` of `combinations`, picked by Optuna's TPE sampler with a fixed seed. Optuna picks a value for each
    constant; a pick that is not in `combinations` is skipped and counts as a trial. Raises Refused if Optuna isn't installed.
    """

    learns = True

    def __init__(self, combinations: Sequence[Combination], trials: int) -> None:
        try:
            import optuna
        except ModuleNotFoundError as error:
            raise Refused(
                "the sweep asks for Optuna, and it is not installed",
                code="optuna-not-installed",
                expected="the extra `sweep` of expctl, or sampler: grid",
                found=f"no module {error.name}",
                where="protocol.yaml, proposer.sweep.sampler",
                hint="pip install 'expctl[sweep]', or write sampler: grid",
            ) from error
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study: Any = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
        self._pruned = optuna.trial.TrialState.PRUNED
        self._left = trials
        self._trial: Any = None
        self._known = {_key(each) for each in combinations}
        self._values = {
            name: list(dict.fromkeys(each[name] for each in combinations)) for name in (combinations[0] if combinations else ())
        }

    def ask(self) -> Combination | None:
        """Return the combination to try next; None after the last trial."""
        while self._left > 0:
            self._left -= 1
            self._trial = self._study.ask()
            picked = {name: self._trial.suggest_categorical(name, values) for name, values in self._values.items()}
            if _key(picked) in self._known:
                return picked
            self._study.tell(self._trial, state=self._pruned)
        return None

    def tell(self, score: float | None) -> None:
        """Report the `score` (higher is better) of the combination that `ask` returned last; None if it could not be scored."""
        if score is None:
            self._study.tell(self._trial, state=self._pruned)
        else:
            self._study.tell(self._trial, score)


def search_of(sweep: Sweep, combinations: Sequence[Combination]) -> Search:
    """Return the search over `combinations` that `sweep.sampler` names. Raises Refused if Optuna is wanted and missing."""
    return OptunaSearch(combinations, sweep.trials) if sweep.sampler is Sampler.OPTUNA else GridSearch(combinations)


def search_for(tune: Tune, combinations: Sequence[Combination]) -> Search:
    """Return the search over a bucket's configs that `tune.order` names: all, some at random by a fixed seed, or Optuna's."""
    if tune.order is Order.OPTUNA:
        return OptunaSearch(combinations, tune.trials)
    if tune.order is Order.GRID:
        return GridSearch(combinations)
    return GridSearch(random.Random(1).sample(list(combinations), min(tune.trials, len(combinations))))  # noqa: S311


def _key(combination: Combination) -> str:
    return json.dumps(sorted(combination.items()))
