"""Start this example as a repository of its own, run its ladder, and print what its records say.

python examples/inference/ladder.py start FOLDER     # copy, commit, and run the first experiment
python examples/inference/ladder.py all FOLDER       # all experiments; then records and ledger come back, to records/TARGET
python examples/inference/ladder.py page FOLDER      # what the records in it say, as Markdown
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = ("protocol.yaml", "model.py", "options.yaml", "bench")
PROPOSAL = ("experiment.yaml", "change.patch")
NEEDS_GPU = ("P9", "P14")


def main() -> int:
    """Do what the words say; return the exit status."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=("start", "all", "page"))
    words.add_argument("folder", type=Path)
    given = words.parse_args()
    folder = given.folder.resolve()
    if given.what == "page":
        print(closing_page(folder), end="")
        return 0
    if folder == HERE or (folder.exists() and given.what == "start"):
        sys.exit(f"expected a folder that isn't there yet, found {folder}: name another one, or remove it")
    if not folder.exists():
        start(folder)
    if given.what == "start":
        return expctl(folder, "run", "P1")
    status = expctl(folder, "run", "--all")
    bring_back(folder)
    return status


def start(folder: Path) -> None:
    """Make `folder` a repository that holds the model as it was first written, and all proposals that this machine can run."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        (shutil.copytree if (HERE / name).is_dir() else shutil.copy)(HERE / name, folder / name)
    for proposal in sorted((HERE / "experiments").iterdir()):
        if proposal.name in NEEDS_GPU and not has_gpu():
            print(f"{proposal.name} is left out: unavailable, it needs a GPU")
            continue
        (folder / "experiments" / proposal.name).mkdir(parents=True)
        for name in PROPOSAL:
            shutil.copy(proposal / name, folder / "experiments" / proposal.name / name)
    (folder / ".gitignore").write_text("__pycache__/\n")
    git(folder, "init", "--quiet")
    if subprocess.run(["git", "config", "user.email"], cwd=folder, capture_output=True, check=False).returncode:
        git(folder, "config", "user.name", "example")
        git(folder, "config", "user.email", "example@localhost")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "A transformer, and a ladder of experiments on it")


def has_gpu() -> bool:
    """Return whether torch finds a GPU."""
    import torch

    return torch.cuda.is_available()


def bring_back(folder: Path) -> None:
    """Copy records, samples and the ledger from `folder` to the example, with the page on them; nothing without a record."""
    record = next(iter(sorted((folder / "experiments").glob("P*/record.json"))), None)
    if record is None:
        return
    kept = HERE / "records" / json.loads(record.read_bytes())["target"]
    shutil.copytree(folder / "experiments", kept / "experiments", dirs_exist_ok=True)
    shutil.copy(folder / "ledger.md", kept / "ledger.md")
    (kept / "README.md").write_text(closing_page(folder))


def closing_page(folder: Path) -> str:
    """Return what the records of `folder` say, as Markdown."""
    sys.path.insert(0, str(HERE))
    from closing_page import page

    return page(folder)


def git(folder: Path, *words: str) -> None:
    """Run git in `folder`."""
    subprocess.run(["git", *words], cwd=folder, check=True)


def expctl(folder: Path, *words: str) -> int:
    """Run expctl in `folder`; return its exit status."""
    return subprocess.run([sys.executable, "-m", "expctl", *words], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
