"""What limits `run --all`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When `run --all` stops: after so many verdicts (`experiments`), hours, or REJECTs in a row (`rejects`); 0 is no limit.
    `proposals` is how often the proposer may be asked for experiments; 0 is never. It isn't asked again once its calls have
    cost so many `tokens` or so much `money`, as it reports them.
    """

    experiments: int = 0
    hours: float = 0.0
    rejects: int = 0
    proposals: int = 0
    tokens: int = 0
    money: float = 0.0
