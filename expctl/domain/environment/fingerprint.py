"""What of the environment a record keeps: settings on which speed depends, and a hash of all that the audit knows."""

import hashlib
from collections.abc import Iterator, Mapping

from expctl.domain.environment.snapshot import Card, Linux

PREFIXES = (
    "AITER_", "AMD", "CUDA_", "GPU_", "HIP_", "HSA_", "MIOPEN_", "MLIR_", "NCCL_", "NVIDIA_", "OMP_", "PYTORCH_", "ROC",
    "TORCH", "TRITON_",
)  # fmt: skip
WHICH_CARD = "_VISIBLE_DEVICES"  # which of a machine's cards, or the number of one: names a machine, and changes no speed
NONE = "none"


def environment_facts(linux: Linux, cards: tuple[Card, ...], passed: Mapping[str, str]) -> dict[str, str]:
    """Return name -> text for a record: `settings` of Linux and of the `cards`, on which figures depend, `variables` that reach
    steps from the user's shell (`passed`), and `fingerprint`, 12 hex digits that hash all this and what else is set.
    """
    kept = {
        "settings": "; ".join(_linux_words(linux)),
        "cards": "; ".join(dict.fromkeys(text for card in cards if (text := _settings(card)))),
        "variables": variables_words(passed),
    }
    loose = "; ".join(f"{card.persistence} {card.display}" for card in cards)
    fingerprint = hashlib.sha256("\n".join((*kept.values(), loose)).encode()).hexdigest()[:12]
    return {name: text for name, text in kept.items() if text} | {"fingerprint": fingerprint}


def variables_words(passed: Mapping[str, str]) -> str:
    """Return the variables among `passed` that GPU runtimes and torch read, as `NAME=VALUE ...`; `none` for none. Of a value
    that holds a path only a hash is kept, because it may name a user or a machine.
    """
    names = sorted(name for name in passed if name.startswith(PREFIXES) and WHICH_CARD not in name)
    return " ".join(f"{name}={_unnamed(passed[name])}" for name in names) or NONE


def _unnamed(value: str) -> str:
    return f"#{hashlib.sha256(value.encode()).hexdigest()[:8]}" if "/" in value or len(value) > 40 else value


def _linux_words(linux: Linux) -> Iterator[str]:
    if linux.numa_balancing:
        yield f"NUMA balancing {linux.numa_balancing}"
    if linux.platform_profile:
        yield f"platform {linux.platform_profile}"


def _settings(card: Card) -> str:
    """Return the settings of a card in words, without its number: another of the same kind has the same settings."""
    states = [
        f"{name} {'on' if state else 'off'}" for name, state in (("ECC", card.ecc), ("MIG", card.mig)) if state is not None
    ]
    power = [f"{card.power_w:.0f} W"] if card.power_w is not None else []
    found = [*power, *filter(None, (card.profile, card.partition)), *states]
    return f"{card.vendor} {card.arch}: {', '.join(found)}".replace(" :", ":") if found else ""
