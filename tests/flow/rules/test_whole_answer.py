"""Which answers of `rules check` may be kept."""

from expctl.flow.rules.whole_answer import whole_answer
from tests.fakes.rules import FakeRulebook
from tests.fakes.stage import Stage


class Elsewhere(FakeRulebook):
    """A patch fits no file of the commit."""

    def misfits(self, commit: str, patch: bytes) -> tuple[str, ...]:  # noqa: ARG002  the port's signature
        return ("kernel",)


def test_an_answer_about_a_patch_that_does_not_fit_is_kept() -> None:
    stage = Stage()
    book = Elsewhere(stage.library, stage.circumstances)
    answer = whole_answer(book, stage.workspace.head(), b'{"kernel": "other"}', "", "my.patch")
    assert answer.facts["misfits"] == ("kernel",)
    assert answer.lasts
