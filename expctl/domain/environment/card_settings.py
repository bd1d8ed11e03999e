"""Items on the cards themselves: clock policy, power, display, ECC, MIG and partitions, persistence."""

from collections.abc import Callable, Iterable, Iterator

from expctl.domain.environment.item import Item, Seen, bad, good, has_amd, has_nvidia, poor
from expctl.domain.environment.snapshot import Card, Snapshot, Vendor

SLOW_LEVELS = ("low", "manual", "profile_min_sclk", "profile_min_mclk")
COMPUTE = "COMPUTE"
WHOLE = "SPX"
Look = Callable[[Card], Seen | None]


def _each(*looks: Look) -> Callable[[Snapshot], Iterable[Seen]]:
    """Return the `look` of an item that asks each card; a card that doesn't tell (None) is left out."""

    def look(snapshot: Snapshot) -> Iterator[Seen]:
        cards = [card for vendor in sorted(snapshot.vendors) for card in snapshot.audited(vendor)]
        yield from (seen for card in cards for ask in looks if (seen := ask(card)) is not None)

    return look


def _level(card: Card) -> Seen | None:
    if not card.level:
        return None
    text = f"{card.name}: performance level {card.level}"
    return poor(text, "sudo amd-smi set --perf-level AUTO") if card.level in SLOW_LEVELS else good(text)


def _clock(card: Card) -> Seen | None:
    if card.clock_mhz is None or card.default_clock_mhz is None:
        return None
    text = f"{card.name}: applications run at {card.clock_mhz:.0f} MHz"
    if card.clock_mhz >= card.default_clock_mhz:
        return good(text)
    return poor(f"{text}, the default is {card.default_clock_mhz:.0f} MHz", f"sudo nvidia-smi -i {_number(card)} -rac")


def _power(card: Card) -> Seen | None:
    if card.power_w is None or card.default_power_w is None:
        return None
    text = f"{card.name}: limit {card.power_w:.0f} W"
    if card.power_w >= card.default_power_w:
        return good(text)
    return poor(f"{text}, the default is {card.default_power_w:.0f} W", _power_fix(card, card.default_power_w))


def _power_fix(card: Card, watts: float) -> str:
    if card.vendor is Vendor.NVIDIA:
        return f"sudo nvidia-smi -i {_number(card)} -pl {watts:.0f}"
    return f"sudo amd-smi set --power-cap {watts:.0f}"


def _profile(card: Card) -> Seen | None:
    if not card.profile or COMPUTE not in card.profiles:
        return None
    text = f"{card.name}: {card.profile}"
    return good(text) if card.profile == COMPUTE else poor(f"{text}, not {COMPUTE}")


def _display(card: Card) -> Seen | None:
    if card.display is None:
        return None
    return poor(f"{card.name} drives a display") if card.display else good(f"{card.name}: none")


def _ecc(card: Card) -> Seen | None:
    if card.uncorrected:
        fix = "sudo reboot; if errors come again, the card is to be replaced"
        return bad(f"{card.name}: {card.uncorrected} errors of memory that could not be corrected", fix)
    if card.ecc is None:
        return None
    if card.ecc_pending not in (None, card.ecc):
        return poor(f"{card.name}: {_on(card.ecc)}, and {_on(card.ecc_pending is True)} after the next reset", "sudo reboot")
    return good(f"{card.name}: on") if card.ecc else poor(f"{card.name}: off")


def _mig(card: Card) -> Seen | None:
    if card.mig is not None:
        fix = f"sudo nvidia-smi -i {_number(card)} -mig 0"
        return poor(f"{card.name}: MIG is on", fix) if card.mig else good(f"{card.name}: MIG is off")
    if card.partition:
        text = f"{card.name}: compute partition {card.partition}"
        return good(text) if card.partition == WHOLE else poor(text, f"sudo amd-smi set --compute-partition {WHOLE}")
    return None


def _persistence(card: Card) -> Seen | None:
    if card.persistence is None:
        return None
    return good(f"{card.name}: on") if card.persistence else poor(f"{card.name}: off")


def _number(card: Card) -> str:
    return card.name.rpartition(" ")[2]


def _on(state: bool) -> str:
    return "on" if state else "off"


def _has_cards(snapshot: Snapshot) -> bool:
    return any(snapshot.audited(vendor) for vendor in snapshot.vendors)


ITEMS = (
    Item(
        name="clock policy of the GPU",
        where="GPU",
        why="the clock is held below what the card runs at when it is left alone, so figures are not the card's",
        fix="sudo amd-smi set --perf-level AUTO, or sudo nvidia-smi -rac",
        applies=_has_cards,
        look=_each(_level, _clock),
    ),
    Item(
        name="power limit",
        where="GPU",
        why="a loaded card runs at its power limit, and a lower one lowers its clock",
        fix="set the default limit again with nvidia-smi -pl or amd-smi set --power-cap",
        applies=_has_cards,
        look=_each(_power),
    ),
    Item(
        name="power profile",
        where="AMD GPU",
        why="other profiles raise the clock later and more slowly after a pause, so short launches scatter",
        fix="sudo rocm-smi --setperflevel auto && sudo rocm-smi --setprofile COMPUTE",
        applies=lambda snapshot: has_amd(snapshot) and _has_cards(snapshot),
        look=_each(_profile),
    ),
    Item(
        name="display on the card",
        where="GPU",
        why="the desktop draws on it whenever something on the screen moves, beside or before a timed launch",
        fix="sudo systemctl isolate multi-user.target, or plug the display into another card",
        applies=_has_cards,
        look=_each(_display),
    ),
    Item(
        name="ECC",
        where="GPU",
        why="without it a flipped bit is a wrong result; and whether it is on changes the bandwidth, so figures don't compare",
        fix="sudo nvidia-smi -e 1, then reboot",
        applies=_has_cards,
        look=_each(_ecc),
    ),
    Item(
        name="MIG and partitions",
        where="GPU",
        why="a slice has a part of the card's compute units, cache and bandwidth, and shares its power with the others",
        fix="sudo nvidia-smi -mig 0, or sudo amd-smi set --compute-partition SPX",
        applies=_has_cards,
        look=_each(_mig),
    ),
    Item(
        name="persistence",
        where="NVIDIA GPU",
        why="the driver is unloaded with the last process: each launch first waits for it, and limits that were set are lost",
        fix="sudo nvidia-smi -pm 1",
        applies=lambda snapshot: has_nvidia(snapshot) and _has_cards(snapshot),
        look=_each(_persistence),
    ),
)
