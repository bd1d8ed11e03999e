"""Reads the settings of NVIDIA's cards with nvidia-smi."""

from collections.abc import Iterator, Mapping

from expctl.adapters.machine.card_tool import answer, number
from expctl.adapters.sensors.gpu_reading import visible
from expctl.domain.environment.snapshot import Card, Vendor

# What all drivers know, then what came later: a driver that doesn't know one field answers none.
FIELDS = (
    "index",
    "uuid",
    "persistence_mode",
    "display_active",
    "ecc.mode.current",
    "ecc.mode.pending",
    "ecc.errors.uncorrected.volatile.total",
    "power.limit",
    "power.default_limit",
    "clocks.applications.graphics",
    "clocks.default_applications.graphics",
)
LATER = ("mig.mode.current", "compute_cap")
STATES = {"enabled": True, "disabled": False}  # anything else, such as [N/A], is unknown


def nvidia_cards(names: str = "") -> tuple[Card, ...]:
    """Return the cards that nvidia-smi shows and that `names`, the value of CUDA_VISIBLE_DEVICES, doesn't hide."""
    return next((found for fields in ((*FIELDS, *LATER), FIELDS) if (found := tuple(_ask(fields, names)))), ())


def _ask(fields: tuple[str, ...], names: str) -> Iterator[Card]:
    for line in answer("nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits").splitlines():
        words = [word.strip() for word in line.split(",")]
        if len(words) == len(fields) and words[0].isdigit() and visible(names, int(words[0]), words[1]):
            yield _card(dict(zip(fields, words, strict=True)))


def _card(said: Mapping[str, str]) -> Card:
    def state(field: str) -> bool | None:
        return STATES.get(said.get(field, "").lower())

    arch = said.get("compute_cap", "")
    return Card(
        name=f"nvidia {said['index']}",
        vendor=Vendor.NVIDIA,
        arch=arch if number(arch) else "",
        clock_mhz=number(said["clocks.applications.graphics"]),
        default_clock_mhz=number(said["clocks.default_applications.graphics"]),
        power_w=number(said["power.limit"]),
        default_power_w=number(said["power.default_limit"]),
        persistence=state("persistence_mode"),
        mig=state("mig.mode.current"),
        ecc=state("ecc.mode.current"),
        ecc_pending=state("ecc.mode.pending"),
        uncorrected=int(number(said["ecc.errors.uncorrected.volatile.total"]) or 0),
        display=state("display_active"),
    )
