"""A ready-made proposal: what to change, what its figure bounds, and what it does not prove."""

from collections.abc import Iterator

from msgspec import Struct

from expctl.domain.experiment.proposal import Kind


class Playbook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of a playbook's file. The change is one of three: `patch`, a file beside it; `env`, variables to set; or
    `change`, words for whoever has to make it in code that only they have.
    """

    title: str
    kind: Kind
    why: str
    bounds: str
    does_not_prove: str
    patch: str = ""
    env: tuple[str, ...] = ()
    change: str = ""

    @property
    def hypothesis(self) -> str:
        """What experiment.yaml says of it, so that the record tells how far its figure reaches."""
        return f"{self.why} Bounds: {self.bounds} Does not prove: {self.does_not_prove}"

    @property
    def way(self) -> str:
        """The change in words."""
        return f"yours: {self.change}" if self.change else self.patch or " ".join(self.env)


def playbook_faults(playbook: Playbook) -> Iterator[str]:
    """Yield a sentence for each contradiction in it."""
    ways = [name for name in ("patch", "env", "change") if getattr(playbook, name)]
    if len(ways) != 1:
        yield f"expected one of patch, env and change, found {', '.join(ways) or 'none'}"
    for name in ("title", "why", "bounds", "does_not_prove"):
        if not getattr(playbook, name).strip():
            yield f"{name}: expected some words"
