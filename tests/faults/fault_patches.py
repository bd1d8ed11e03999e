"""Patches that conflict, are empty, binary, with CRLF, or applied already: the same answer with a kill as without."""

from tests.faults.fault_kills import RUNNER
from tests.faults.fault_lab import VARIANTS, Scene
from tests.faults.trial import FaultClass, Play, Story, Trial

BINARY = bytes(range(256)) * 3


def _conflicting(scene: Scene) -> None:
    scene.propose("P3", scene.patch("44\n").replace("-50", "-51"))


def _empty(scene: Scene) -> None:
    scene.propose("P3", "")


def _binary(scene: Scene) -> None:
    """A REJECT that also brings a file which is no text, and a tail that no line end closes."""
    scene.write("src/table", BINARY)
    scene.write("src/kernel", "59")
    scene.git("add", "-N", "--", "src/table")
    made = scene.git("diff", "--binary", "--", "src")
    scene.git("reset", "-q", "--", "src")
    (scene.root / "src" / "table").unlink()
    scene.git("checkout", "-q", "--", "src")
    scene.propose("P3", made)


def _crlf(scene: Scene) -> None:
    scene.write("src/kernel", b"59\r\n")
    made = scene.git_bytes("diff", "--binary", "--", "src")
    scene.git("checkout", "-q", "--", "src")
    scene.propose("P3", made)


def _applied(scene: Scene) -> None:
    patch = scene.patch("44\n")
    scene.propose("P3", patch)
    scene.write("src/kernel", "44\n")
    scene.git("commit", "-q", "-m", "by hand", "--", "src/kernel")


VARIANTS.update(conflicting=_conflicting, empty=_empty, binary=_binary, crlf=_crlf, applied=_applied)


def _refused(variant: str, words: str) -> Play:
    """Nothing to decide: refused before anything changes, and again after a kill."""

    def play(trial: Trial) -> Story:
        story = trial.begin(f"first {variant}", "P3")
        story.run(trial.kth(f"first {variant}", "P3", RUNNER))
        story.refused(words)
        return story

    return play


def _rejected(variant: str, landed: bytes, path: str) -> Play:
    """Measured like any other, byte by byte."""

    def play(trial: Trial) -> Story:
        story = trial.begin(f"first {variant}", "P3", "REJECT")
        story.run(trial.kth(f"first {variant}", "P3", RUNNER))
        story.resume()
        candidate = story.scene.record_field("P3", "candidate")
        if candidate and story.scene.git_bytes("cat-file", "blob", f"{candidate}:{path}") != landed:
            story.say(f"8: the candidate's {path} is not what was proposed")
        return story

    return play


PATCHES = (
    FaultClass(
        name="patch conflicts",
        play=_refused("conflicting", "BLOCKED"),
        planted="a patch that fails is taken for none",
        share=0.6,
    ),
    FaultClass(
        name="patch is empty",
        play=_refused("empty", "no change to measure"),
        planted="a patch that fails is taken for none",
        share=0.6,
    ),
    FaultClass(
        name="patch is binary", play=_rejected("binary", BINARY, "src/table"), planted="patches pass as text", share=0.6
    ),
    FaultClass(
        name="patch has CRLF", play=_rejected("crlf", b"59\r\n", "src/kernel"), planted="patches pass as text", share=0.6
    ),
    FaultClass(
        name="patch is applied already",
        play=_refused("applied", "the patch changes nothing"),
        planted="a patch that fails is taken for none",
        share=0.6,
    ),
)
