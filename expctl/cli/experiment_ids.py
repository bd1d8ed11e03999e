"""Ids of experiments for shell completion, read from the work tree alone so that the shell doesn't wait."""

import os
from pathlib import Path


def experiment_ids(incomplete: str) -> list[str]:
    """Return the ids that begin with `incomplete`, shorter ones first; [] outside of a repository with experiments."""
    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    try:
        with os.scandir(root / "experiments") as entries:
            found = [each.name for each in entries if each.name.startswith(incomplete) and each.is_dir()]
    except OSError:
        return []
    return sorted(found, key=lambda name: (len(name), name))
