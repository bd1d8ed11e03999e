"""The cap on a brief's words."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.brief.compose import Brief
from expctl.domain.brief.text import brief_text
from expctl.domain.brief.word_limit import Section, within
from expctl.domain.experiment.predictions import Accuracy

SECTIONS = st.lists(
    st.builds(
        Section,
        key=st.just("k"),
        title=st.just("A title"),
        intro=st.just(("never cut",)),
        items=st.lists(st.integers(1, 60).map(lambda n: " ".join(["word"] * n)), max_size=80).map(tuple),
        share=st.sampled_from([0.0, 0.1, 0.3]),
    ),
    min_size=1,
    max_size=4,
)


def rendered(sections: tuple[Section, ...]) -> str:
    return brief_text(
        Brief(
            name="n",
            head="h",
            verdicts={},
            imported=0,
            baselines=(),
            imported_baselines=(),
            accuracy=Accuracy(),
            open_again={},
            sections=sections,
        )
    )


@given(SECTIONS, st.integers(150, 2000))
def test_no_text_is_longer_than_its_cap_and_what_is_missing_is_counted(sections: list[Section], cap: int) -> None:
    kept = within(sections, cap - 60)
    assert len(rendered(kept).split()) <= cap
    for before, after in zip(sections, kept, strict=True):
        assert after.items == before.items[: len(after.items)]
        assert len(after.items) + after.left_out == len(before.items)
        assert (f"({after.left_out} more left out" in rendered((after,))) == (after.left_out > 0)


def test_a_section_has_its_share_before_another_takes_what_is_left() -> None:
    long = Section(key="a", title="A", items=("one two three",) * 500, share=0.5)
    late = Section(key="b", title="B", items=("one two three",) * 500, share=0.4)
    first, second = within((long, late), 1000)
    assert 0.38 < len(second.items) / (len(first.items) + len(second.items)) < 0.42
    alone, nothing = within((long, replace(late, items=())), 1000)
    assert len(alone.items) == len(first.items) + len(second.items)
    assert nothing.left_out == 0
