"""The settings under which a target is measured, as a record keeps them: Linux, cards, variables of the user's shell."""

import os
from collections.abc import Mapping
from pathlib import Path

from expctl.adapters.machine.cards import cards_of, timed_on, vendors_here
from expctl.adapters.machine.linux_facts import linux_facts
from expctl.adapters.machine.own_cards import HIP, OwnCards
from expctl.domain.environment.fingerprint import environment_facts
from expctl.domain.environment.snapshot import Card, Vendor
from expctl.domain.protocol.model import Environment, Target


class TargetSettings:
    """Returns, for a target of the protocol with `environment`, the facts of `environment_facts`. Each card is asked once.
    `shown` are variables of the steps that show them one card.
    """

    def __init__(self, environment: Environment, machine: Path = Path("/"), *, shown: Mapping[str, str] | None = None) -> None:
        self._shown = shown or {}
        names = (name for name in environment.pass_through if name not in environment.set)
        self._passed = {name: os.environ[name] for name in names if name in os.environ}
        self._machine = machine
        self._cards: dict[Vendor, tuple[Card, ...]] = {}

    def __call__(self, target: Target) -> Mapping[str, str]:
        """Return name -> text: the settings of Linux, and of the cards on which `target` may be timed."""
        vendors = sorted(timed_on(target) & vendors_here(self._machine))
        cards = tuple(card for vendor in vendors for card in self._of(vendor))
        return environment_facts(linux_facts(self._machine), cards, self._passed)

    def _of(self, vendor: Vendor) -> tuple[Card, ...]:
        if vendor not in self._cards:
            variables = {**self._passed, **self._shown}
            seen = OwnCards(variables, self._machine).seen(vendor) if vendor is Vendor.AMD else ()
            if seen:  # HIP counts within what ROCR_VISIBLE_DEVICES leaves, `cards_of` among all
                variables[HIP] = ",".join(str(card.index) for card in seen)
            self._cards[vendor] = cards_of(frozenset((vendor,)), variables, self._machine)
        return self._cards[vendor]
