"""A repository whose kernel is a list of knobs, and proposals that turn one each: the effect of every set of them is known."""

import shutil
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path

from tests.e2e.foreign import Foreign

TEMPLATE = Path(__file__).with_name("stand_in")
WASTE = 50


class Knobs:
    """The repository below `folder`, with `count` knobs that each waste 50 us of about 1,000, and queued proposals."""

    def __init__(
        self,
        folder: Path,
        count: int,
        *,
        apart: Sequence[tuple[int, int]] = (),
        sleep_s: float = 0.02,
        unlike: Sequence[tuple[str, int]] = (),
    ) -> None:
        shutil.copytree(TEMPLATE, folder / "repository")
        self._values: dict[int, float] = dict.fromkeys(range(count), WASTE)
        self._apart, self._unlike = tuple(apart), tuple(unlike)
        model = folder / "repository" / "bench" / "model.py"
        model.write_text(model.read_text().replace("SLEEP_S = 0.02", f"SLEEP_S = {sleep_s}"))
        (folder / "repository" / "src").mkdir()
        (folder / "repository" / "src" / "knobs").write_text(self._text({}))
        shutil.copytree(folder / "repository", folder / "template")
        shutil.rmtree(folder / "repository")
        self.repository = Foreign.of(str(folder / "template"), folder)

    def at(self, repository: Foreign) -> "Knobs":
        """Return these knobs for a clone of the repository at another path."""
        made = copy(self)
        made.repository = repository
        return made

    def _text(self, turned: Mapping[int, float]) -> str:
        values = {**self._values, **turned}
        lines = [f"# knob {name}\n#\n#\nknob k{name} {value:g}\n#\n#\n#\n" for name, value in values.items()]
        lines += [f"unlike {device} k{knob}\n" for device, knob in self._unlike]
        return "".join([*lines, *(f"apart k{one} k{other}\n" for one, other in self._apart)])

    def propose(self, experiment: str, knob: int, value: float) -> None:
        """Queue a proposal: less than WASTE is faster."""
        root = self.repository.root
        (root / "src" / "knobs").write_text(self._text({knob: value}))
        patch = self.repository.git("diff", "--", "src/knobs")
        self.repository.git("checkout", "-q", "--", "src/knobs")
        words = f"id: {experiment}\ntitle: turn {knob}\nkind: perf\nhypothesis: less\nprediction: {{verdict: KEEP}}\n"
        self.repository.write(f"experiments/{experiment}/experiment.yaml", words)
        self.repository.write(f"experiments/{experiment}/change.patch", patch + "\n")
        self.repository.git("add", "--", "experiments")
        self.repository.git("commit", "-q", "-m", f"Propose {experiment}", "--", "experiments")

    def verdicts(self) -> dict[str, str]:
        """Verdict of each experiment that has a record at HEAD."""
        paths = self.repository.git("ls-tree", "-r", "--name-only", "HEAD", "experiments").splitlines()
        names = [path.split("/")[1] for path in paths if path.endswith("record.json")]
        return {name: str(self.repository.record(name)["verdict"]) for name in names}

    def standing(self) -> dict[str, float]:
        """What each knob wastes at HEAD."""
        lines = self.repository.git("show", "HEAD:src/knobs").splitlines()
        return {name: float(value) for kind, name, value in (line.split() for line in lines if line.startswith("knob"))}
