"""One item of the audit of the environment: when it applies, what it looks at, why that matters, how it is mended."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from expctl.domain.checkup import Finding, Health
from expctl.domain.environment.snapshot import Snapshot, Vendor

PART = "environment"


class Seen(Struct, frozen=True, kw_only=True):
    """What an item saw. `fix` is the line that mends it, where the item's own isn't precise enough."""

    what: str
    health: Health = Health.OK
    fix: str = ""


class Item(Struct, frozen=True, kw_only=True):
    """A setting of the environment that costs speed or certainty when it is wrong. `name` is how docs/ENVIRONMENT.md calls it,
    `why` the reason in one sentence, `fix` one line to type or to write into protocol.yaml.
    """

    name: str
    where: str
    why: str
    fix: str
    applies: Callable[[Snapshot], bool]
    look: Callable[[Snapshot], Iterable[Seen]]

    def findings(self, snapshot: Snapshot) -> Iterator[Finding]:
        """Yield what the item finds in `snapshot`; nothing where it doesn't apply."""
        for seen in self.look(snapshot) if self.applies(snapshot) else ():
            fault = seen.health in (Health.ADVICE, Health.WRONG)
            yield Finding(
                part=PART,
                health=seen.health,
                what=f"{self.name}: {seen.what}",
                mend=(seen.fix or self.fix) if fault else "",
                why=self.why if fault else "",
            )


def good(what: str) -> Seen:
    """Return that a setting is as it should be."""
    return Seen(what=what)


def poor(what: str, fix: str = "") -> Seen:
    """Return that a setting costs speed or certainty."""
    return Seen(what=what, health=Health.ADVICE, fix=fix)


def bad(what: str, fix: str = "") -> Seen:
    """Return that figures are not to be believed while a setting is as it is."""
    return Seen(what=what, health=Health.WRONG, fix=fix)


def has_amd(snapshot: Snapshot) -> bool:
    """Is a GPU of AMD here that may be measured?"""
    return Vendor.AMD in snapshot.vendors


def has_nvidia(snapshot: Snapshot) -> bool:
    """Is a GPU of NVIDIA here that may be measured?"""
    return Vendor.NVIDIA in snapshot.vendors


def has_torch(snapshot: Snapshot) -> bool:
    """Has the Python of the steps torch, and do they use it?"""
    return "torch" in snapshot.packages


def is_on(value: str) -> bool:
    """Does the `value` of a variable switch something on?"""
    return value.strip().lower() not in ("", "0", "false", "off", "no")
