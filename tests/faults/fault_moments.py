"""States of a repository that a run must refuse, follow or work in, met before it begins and while it is under way."""

from tests.faults.fault_company import meanwhile
from tests.faults.fault_kills import RUNNER
from tests.faults.fault_lab import Scene
from tests.faults.trial import LATE, FaultClass, Story, Trial


def _dirty(trial: Trial) -> Story:
    """The user edits the kernel while the run goes on, or before it is resumed; it is never overwritten."""
    if trial.number % 2:
        edit = "my own idea\n"
        story = meanwhile(lambda scene: scene.write("src/kernel", edit), ends=())(trial)
        if story.scene.attempts[-1].status == 0 and (story.scene.root / "src" / "kernel").read_text() == edit:
            story.allow_unclean(" M src/kernel", "MM src/kernel", "M  src/kernel")
            return story
        if story.scene.attempts[-1].fired and (story.scene.root / "src" / "kernel").read_text() != edit:
            story.say("3: the user's edit of the kernel is gone")
        story.scene.git("checkout", "-q", "HEAD", "--", "src/kernel", check=False)
        story.resume()
        return story
    experiment = trial.draw.choice(("P1", "P2"))
    stage, verdict = LATE[experiment]
    story = trial.begin(stage, experiment, verdict)
    story.scene.write("src/kernel", "my own idea\n")
    story.refused("the kernel scope has changes")
    story.scene.git("checkout", "-q", "--", "src/kernel", check=False)
    story.resume()
    return story


def _detached(trial: Trial) -> Story:
    return _in_a_state(trial, ("switch", "-q", "--detach"), ("switch", "-q", "main"), "HEAD is detached")


def _operation(trial: Trial) -> Story:
    """In the middle of a rebase that stopped at a conflict, or of a merge."""
    stage, verdict = LATE["P1"]
    story = trial.begin(stage, "P1", verdict)
    scene = story.scene
    scene.git("stash", "push", "-q")
    scene.git("switch", "-q", "-c", "side", "HEAD~1")
    scene.write("notes/stashed", "theirs\n")
    scene.git("commit", "-q", "-m", "theirs", "--", "notes/stashed")
    scene.git("switch", "-q", "main")
    scene.write("notes/stashed", "ours\n")
    scene.git("commit", "-q", "-m", "ours", "--", "notes/stashed")
    rebases = bool(trial.number % 2)
    scene.git(*(("rebase", "-q", "side") if rebases else ("merge", "-q", "side")), check=False)
    story.user_acted()
    story.refused("is under way" if not rebases else "HEAD is detached")
    scene.git("rebase" if rebases else "merge", "--abort")
    scene.git("stash", "pop", "-q", "--index")
    story.user_acted()
    story.resume()
    return story


def _in_a_state(trial: Trial, enter: tuple[str, ...], leave: tuple[str, ...], said: str) -> Story:
    """Met at the beginning it is refused; entered while the run is under way it loses nothing."""
    if trial.number % 2:

        def enter_it(scene: Scene) -> None:
            scene.git(*enter, check=False)

        story = meanwhile(enter_it, ends=(0, 1))(trial)
        story.scene.git(*leave, check=False)
        story.user_acted()
        story.resume()
        return story
    experiment = trial.draw.choice(("P1", "P2"))
    stage, verdict = LATE[experiment]
    story = trial.begin(stage, experiment, verdict)
    story.scene.git(*enter)
    story.user_acted()
    story.refused(said)
    story.scene.git(*leave, check=False)
    story.user_acted()
    story.resume()
    return story


def _shallow(trial: Trial) -> Story:
    """A shallow clone, with a kill."""
    stage = "first shallow"
    story = trial.begin(stage, "P2", "REJECT")
    story.run(trial.kth(stage, "P2", RUNNER))
    story.resume()
    return story


def _move_notes(scene: Scene) -> None:
    scene.write("notes/more", "more\n")
    scene.git("add", "notes/more", check=False)
    scene.git("commit", "-q", "-m", "more notes", "--", "notes/more", check=False)


def _move_scope(scene: Scene) -> None:
    scene.write("src/other", "mine\n")
    scene.git("add", "src/other", check=False)
    scene.git("commit", "-q", "-m", "the kernel", "--", "src/other", check=False)


def _moved(trial: Trial) -> Story:
    """Between the verdict and the commit: elsewhere (the candidate follows) or in the scope (what was measured is no more)."""
    if trial.number % 2:
        return meanwhile(_move_notes, late=True)(trial)
    return meanwhile(_move_scope, "INVALID", late=True)(trial)


MOMENTS = (
    FaultClass(name="dirty tree", play=_dirty, planted="local changes are not looked at"),
    FaultClass(name="detached head", play=_detached, planted="a detached head is not looked at"),
    FaultClass(name="mid-rebase", play=_operation, planted="an unfinished operation is not looked at", share=0.7),
    FaultClass(name="shallow clone", play=_shallow, planted="publications are not recovered", share=0.7),
    FaultClass(name="branch moved", play=_moved, planted="the branch is not compared", share=1.5),
)
