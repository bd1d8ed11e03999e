"""`expctl verify` on a stranger's clone: a sound one, and each defect that somebody could plant."""

import json
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.e2e.foreign import FASTER, SLOWER, Answer, Foreign

RECORD = "experiments/P1/record.json"
AT = {"GIT_AUTHOR_DATE": "1790000000 +0000", "GIT_COMMITTER_DATE": "1790000000 +0000"}


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """A repository with a REJECT, and then a KEEP as its newest commit."""
    made = Foreign.of("foreign_repository", tmp_path_factory.mktemp("origin"))
    made.queue("P2", SLOWER)
    made.queue("P1", FASTER)
    made.concluded("run", "P2")
    made.concluded("run", "P1")
    return made


@pytest.fixture
def clone(origin: Foreign, tmp_path: Path) -> Foreign:
    """What a stranger has of it."""
    subprocess.run(["git", "clone", "-q", "--no-local", str(origin.root), str(tmp_path / "clone")], check=True)
    (tmp_path / "home").mkdir()
    return Foreign.at(tmp_path / "clone")


def verified(clone: Foreign, *words: str) -> Answer:
    answer = clone.expctl("verify", *words)
    assert answer.status == (0 if answer.out.startswith("verified") else 1), answer
    return answer


def edit_record(clone: Foreign, change: Callable[[dict[str, object]], None]) -> None:
    facts = json.loads((clone.root / RECORD).read_text())
    change(facts)
    clone.write(RECORD, json.dumps(facts, indent=2) + "\n")
    clone.commit("another record")


def onto(clone: Foreign, tree: str, *parents: str) -> None:
    """Let the branch end in a commit of this tree."""
    clone.environment |= AT
    words = [word for each in parents for word in ("-p", each)]
    clone.git("reset", "-q", "--hard", clone.git("commit-tree", tree, *words, "-m", "forged").strip())


def test_a_sound_clone_is_verified_in_one_line_whatever_its_caches_hold(clone: Foreign) -> None:
    said = verified(clone).out
    assert said.count("\n") == 1
    assert "2 records, 2 verdicts decided again as recorded, 1 KEEPs whose trees are the measured ones" in said
    clone.concluded("status")
    state = clone.root / ".git" / "expctl"
    for file in (each for each in state.rglob("*") if each.is_file()):
        file.write_bytes(b"not what it was\n")
    assert verified(clone).out == said


def test_a_repository_without_records_has_nothing_to_verify(repository: Foreign) -> None:
    said = repository.concluded("verify").out
    assert said == f"nothing to verify: {repository.head()[:10]} has no record that was measured\n"
    assert not repository.concluded("verify", "--json").json()["verified"]


def test_signers_may_be_a_link_that_leads_nowhere(repository: Foreign, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "nothing to verify" in repository.concluded("verify", "--signers", str(tmp_path / "loop")).out


def hand_change(clone: Foreign) -> None:
    clone.write("src/total.py", FASTER + "# by hand\n")
    clone.commit("a little better")


def better_figures(clone: Foreign) -> None:
    edit_record(clone, lambda facts: facts["estimates"][0].update(effect_percent=99.8))  # type: ignore[index]


def other_verdict(clone: Foreign) -> None:
    file = clone.root / "experiments/P2/record.json"
    file.write_text(file.read_text().replace('"verdict": "REJECT"', '"verdict": "KEEP"', 1))
    clone.commit("P2 was good after all")


def better_samples(clone: Foreign) -> None:
    file = clone.root / "experiments/P1/samples.jsonl"
    file.write_text(file.read_text().replace("1", "2", 1))
    clone.commit("other samples")


def other_tree(clone: Foreign) -> None:
    edit_record(clone, lambda facts: facts.update(tree="1" * 40))


def other_base(clone: Foreign) -> None:
    edit_record(clone, lambda facts: facts.update(base=clone.git("rev-parse", "HEAD~3").strip()))


def lost_candidate(clone: Foreign) -> None:
    """The record names a commit that was not measured, though its tree is equal."""
    copy = clone.git("commit-tree", "HEAD~1^{tree}", "-p", "HEAD~2", "-m", "the same").strip()
    onto(clone, "HEAD^{tree}", copy)


def something_between(clone: Foreign) -> None:
    empty = clone.git("commit-tree", "HEAD~1^{tree}", "-p", "HEAD~1", "-m", "between").strip()
    onto(clone, "HEAD^{tree}", empty)


def something_beside(clone: Foreign) -> None:
    clone.write("bench/more.py", "print()\n")
    clone.git("add", "-A")
    onto(clone, clone.git("write-tree").strip(), "HEAD~1")


def left_out(clone: Foreign) -> None:
    """A merge with the kernel of before."""
    clone.git("checkout", "-q", "HEAD~2", "--", "src/total.py")
    tree = clone.git("write-tree").strip()
    older = clone.git("commit-tree", "HEAD~2^{tree}", "-p", "HEAD~2", "-m", "beside").strip()
    onto(clone, tree, older, "HEAD")


def mixed(clone: Foreign) -> None:
    """A merge with a kernel that neither side has."""
    clone.write("src/total.py", FASTER + "# both\n")
    clone.git("add", "-A")
    onto(clone, clone.git("write-tree").strip(), "HEAD", "HEAD~2")


def wrong_object(clone: Foreign) -> None:
    """An object whose contents are not what its name says."""
    clone.write("README", "as it was\n")
    clone.commit("readme")
    name = clone.git("rev-parse", "HEAD:README").strip()
    file = clone.root / ".git" / "objects" / name[:2] / name[2:]
    file.chmod(0o644)
    file.write_bytes(zlib.compress(b"blob 10\0as it wasn"))


def another_machine(clone: Foreign) -> None:
    edit_record(clone, lambda facts: facts["environment"].update(machine="a faster one"))  # type: ignore[attr-defined]


def samples_with_their_hash(clone: Foreign) -> None:
    file = clone.root / "experiments/P1/samples.jsonl"
    old = file.read_bytes()
    file.write_bytes(re.sub(rb'"hidden_ns":\[\d+', b'"hidden_ns":[7', old, count=1))
    record = clone.root / RECORD
    hashes = [sha256(each).hexdigest() for each in (old, file.read_bytes())]
    assert hashes[0] in record.read_text()
    record.write_text(record.read_text().replace(hashes[0], hashes[1]))
    clone.commit("other samples")


def no_keep(clone: Foreign) -> None:
    clone.git("rm", "-q", "-r", "experiments/P1")
    clone.commit("never happened")


def no_reject(clone: Foreign) -> None:
    clone.git("rm", "-q", "-r", "experiments/P2")
    clone.commit("never happened")


def record_of_a_merge(clone: Foreign) -> None:
    """A merge with a record that neither side has."""
    side = clone.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "side").strip()
    clone.write(RECORD, (clone.root / RECORD).read_text().replace('"title": "', '"title": "much ', 1))
    clone.git("add", "-A")
    onto(clone, clone.git("write-tree").strip(), "HEAD", side)


DEFECTS: dict[Callable[[Foreign], None], str] = {
    hand_change: "it changes the scope and was not measured",
    better_figures: "its samples say something else",
    other_verdict: "its samples say something else",
    better_samples: "its samples say something else",
    other_tree: "1111111111 was measured",
    other_base: "doesn't stand on",
    lost_candidate: "is not in the history",
    something_between: "its record was not committed on top of what was measured",
    something_beside: "the commit of its record changes bench/more.py too",
    left_out: "it was kept, and a merge has left it out",
    mixed: "it changes the scope and was not measured",
    wrong_object: "git fsck",
    another_machine: "it changes experiments/P1/record.json by hand",
    samples_with_their_hash: "it changes experiments/P1/samples.jsonl by hand",
    no_keep: "it removes experiments/P1/record.json by hand",
    no_reject: "it removes experiments/P2/record.json by hand",
    record_of_a_merge: "it changes experiments/P1/record.json by hand",
}


@pytest.mark.parametrize("plant", DEFECTS, ids=lambda plant: plant.__name__)
def test_each_planted_defect_is_found(plant: Callable[[Foreign], None], clone: Foreign) -> None:
    plant(clone)
    said = verified(clone)
    assert DEFECTS[plant] in said.out, said
    assert "NOT verified" in said.out


def test_a_change_by_hand_is_believed_if_the_user_says_so(clone: Foreign) -> None:
    hand_change(clone)
    assert verified(clone).status == 1
    assert verified(clone, "--since", "HEAD").status == 1
    assert verified(clone, "--since", clone.head().strip()).status == 0


def test_a_clone_that_lacks_history_is_refused(origin: Foreign, clone: Foreign, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "2", f"file://{origin.root}", str(shallow)], check=True)
    assert "history-incomplete" in verified(Foreign.at(shallow)).err
    clone.write(".git/info/grafts", f"{clone.head().strip()}\n")
    assert "rm " in verified(clone).err


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_records_are_signed_where_the_user_asks_for_it_and_a_stranger_can_tell(repository: Foreign, tmp_path: Path) -> None:
    keys = [tmp_path / name for name in ("mine", "theirs")]
    for key in keys:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a@b.org", "-f", str(key)], check=True)
    for name, value in (("gpg.format", "ssh"), ("user.signingKey", str(keys[0])), ("expctl.sign", "true")):
        repository.git("config", name, value)
    signers = [tmp_path / f"{key.name}.signers" for key in keys]
    for key, file in zip(keys, signers, strict=True):
        file.write_text(f"a@b.org {key.with_suffix('.pub').read_text()}")
    repository.queue("P1", FASTER)
    repository.concluded("run", "P1")
    assert verified(repository, "--signers", str(signers[0])).out.endswith("1 record commits signed\n")
    assert "is signed by somebody unknown" in verified(repository, "--signers", str(signers[1])).out
    sound = repository.head().strip()
    record_of_a_merge(repository)
    assert "is not signed" in verified(repository, "--signers", str(signers[0])).out
    repository.git("reset", "-q", "--hard", sound)
    edit_record(repository, lambda facts: facts.update(title="another"))
    assert "is not signed" in verified(repository, "--signers", str(signers[0])).out

    repository.git("config", "user.signingKey", str(tmp_path / "no such key"))
    repository.queue("P2", SLOWER)
    before = repository.head()
    answer = repository.expctl("run", "P2")
    assert (answer.status, repository.head()) == (1, before)
    assert "record-cannot-be-signed" in answer.err
    repository.git("config", "--unset", "expctl.sign")
    repository.concluded("run", "P2")
