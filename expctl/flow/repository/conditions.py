"""Read from a commit the conditions under which its next run will measure; they decide to which epoch the figures belong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from expctl.domain.history.comparability import Comparability
    from expctl.domain.protocol.model import Protocol
    from expctl.ports.repository import Library


def conditions_at(
    library: Library, commit: str, protocol: Protocol, environment: Mapping[str, str], absent: Collection[str] = ()
) -> dict[str, Comparability]:
    """Return, for each target that may decide, the conditions of a measurement at `commit`. `environment` maps facts of the
    machine to texts. The targets `absent` can't be measured on it, so that its facts say nothing about their next run.
    """
    return {
        name: library.comparability(commit, protocol, name, {} if name in absent else environment) for name in protocol.decides
    }
