"""Reads the playbooks that come with expctl: a YAML file for each, by the name of which it is chosen."""

from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable

from expctl.adapters.codec.strict_yaml import contradiction, load
from expctl.domain.errors import Misused
from expctl.domain.experiment.playbook import Playbook, playbook_faults

FOLDERS = ("ladder", "ablations")
"""Rungs of the ladder for a torch model; ablations of the HIP kernel of expctl's own repository."""


def playbooks() -> dict[str, Playbook]:
    """Return all playbooks by name, in the order of FOLDERS."""
    return {name: _read(file) for name, file in _files().items()}


def playbook(name: str) -> tuple[Playbook, bytes | None]:
    """Return one playbook and its patch, None where it has none. Raises Misused if there is none of that name."""
    known = _files()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        raise Misused(
            f"there is no playbook {name[:60]!r}",
            code="no-such-playbook",
            expected=", ".join(known),
            found=repr(name[:60]),
            hint=f"expctl new --from {near[0]}" if near else "expctl new --playbooks",
        )
    found = _read(known[name])
    return found, (_folder_of(name) / found.patch).read_bytes() if found.patch else None


def check_change(name: str, found: Playbook, *, given: bool) -> None:
    """Raise Misused unless the change is named exactly once: by the playbook, or (`given`) on the command line."""
    if given and not found.change:
        raise Misused(
            f"the playbook {name} brings its change",
            code="playbook-has-change",
            expected="no other change",
            found=found.way,
            hint=f"expctl new --from {name}",
        )
    if not given and found.change:
        raise Misused(
            f"the playbook {name} needs a change of yours",
            code="playbook-needs-change",
            expected=found.change,
            found="no change",
            hint=f"edit your code, then expctl new --from {name} --from-diff",
        )


def _files() -> dict[str, Traversable]:
    return {
        file.name.removesuffix(".yaml"): file
        for folder in FOLDERS
        for file in sorted((files(__package__) / folder).iterdir(), key=lambda each: each.name)
        if file.name.endswith(".yaml")
    }


def _folder_of(name: str) -> Traversable:
    return next(at for folder in FOLDERS if (at := files(__package__) / folder).joinpath(f"{name}.yaml").is_file())


def _read(file: Traversable) -> Playbook:
    found = load(file.read_bytes(), Playbook, where=file.name)
    if faults := list(playbook_faults(found)):
        raise contradiction(file.name, faults)
    return found
