"""A kernel with knobs: each wastes time on a line of its own, so that proposals can miss, meet or repeat each other."""

from collections.abc import Mapping

from tests.e2e.foreign import Foreign

KNOBS = ("FIRST", "SECOND", "THIRD", "FOURTH", "FIFTH")
WASTE = 3000
KERNEL = '''"""Squares, and time that is wasted on purpose."""

{knobs}

def total(values):
    result = sum([value * value for value in values])
    for _ in range({sum}):
        pass
    return result{wrong}
'''


def kernel(values: Mapping[str, int] | None = None, *, wrong: str = "") -> str:
    """The kernel's text; a knob that isn't named stands at WASTE."""
    given = {**dict.fromkeys(KNOBS, WASTE), **(values or {})}
    lines = "\n".join(f"# knob {name.lower()}\n#\n{name} = {value}\n#\n#" for name, value in given.items())
    return KERNEL.format(knobs=lines, sum=" + ".join(KNOBS), wrong=wrong)


def begin(repository: Foreign) -> None:
    """Commit the kernel and a benchmark that is over soon."""
    repository.write("src/total.py", kernel())
    protocol = (repository.root / "protocol.yaml").read_text()
    repository.write("protocol.yaml", protocol.replace("n=8000", "n=1000").replace("n=2000", "n=500"))
    repository.commit("knobs")


def turn(repository: Foreign, experiment: str, values: Mapping[str, int], *options: str, wrong: str = "") -> None:
    """Propose other values."""
    repository.propose(experiment, kernel(values, wrong=wrong), *options)


def verdicts(repository: Foreign) -> dict[str, str]:
    """Verdict or state of everything, and by which rule of the queue what has none does not run."""
    found = {}
    for path in repository.git("ls-files", "experiments/*/experiment.yaml").splitlines():
        name = path.split("/")[1]
        if (repository.root / f"experiments/{name}/record.json").exists():
            found[name] = str(repository.record(name)["verdict"])
    for entry in repository.concluded("queue", "--json").json()["entries"]:
        found[entry["id"]] = entry["state"]
    return found
