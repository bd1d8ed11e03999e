"""Named constants in a text: read and given other values; what a protocol may say of a sweep."""

import pytest

from expctl.domain.patch.sweep import NotAConstant, combinations, values_in, with_values, words_of
from expctl.domain.protocol.proposer import Proposer, Screen, Sweep, proposer_faults

TEXT = """\
#define TILE_M 64   // rows
#define TILE (TILE_M * 2)
constexpr int kStages = 2;  // ring
static const int shape[] = {1, 8, 2};
STAGES: int = 3  # python
CONFIG = (1, 8, 2)
if (kStages == 2) return TILE_M;
"""


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("TILE_M", "64", "#define TILE_M 7   // rows"),
        ("TILE", "(TILE_M * 2)", "#define TILE 7"),
        ("kStages", "2", "constexpr int kStages = 7;  // ring"),
        ("shape", "{1, 8, 2}", "static const int shape[] = 7;"),
        ("STAGES", "3", "STAGES: int = 7  # python"),
        ("CONFIG", "(1, 8, 2)", "CONFIG = 7"),
    ],
)
def test_a_constant_is_found_and_replaced_in_its_line_only(name: str, value: str, line: str) -> None:
    assert values_in(TEXT, (name,)) == {name: value}
    changed = with_values(TEXT, {name: "7"})
    assert [new for old, new in zip(TEXT.splitlines(), changed.splitlines(), strict=True) if old != new] == [line]


def test_a_name_that_is_not_one_constant_is_refused() -> None:
    with pytest.raises(NotAConstant, match="nowhere"):
        values_in(TEXT, ("tile",))
    with pytest.raises(NotAConstant, match="2 lines"):
        values_in("A = 1\nA = 2\n", ("A",))


def test_a_grid_has_every_combination_and_tuples_only_theirs() -> None:
    grid = Sweep(file="f", constants={"A": ("1", "2"), "B": ("x", "y")})
    assert [words_of(each) for each in combinations(grid)] == ["A=1, B=x", "A=1, B=y", "A=2, B=x", "A=2, B=y"]
    assert list(combinations(Sweep(file="f", tuples=({"A": "1"}, {"A": "3"})))) == [{"A": "1"}, {"A": "3"}]


GOOD = Sweep(file="f", constants={"A": ("1",)})


@pytest.mark.parametrize(
    ("proposer", "fault"),
    [
        (None, ""),
        (Proposer(argv=("a",)), ""),
        (Proposer(sweep=GOOD), ""),
        (Proposer(), "expected either argv or sweep"),
        (Proposer(argv=("a",), sweep=GOOD), "expected either argv or sweep"),
        (Proposer(argv=("a",), timeout_s=0), "timeout_s"),
        (Proposer(sweep=Sweep(file="f")), "constants or tuples"),
        (Proposer(sweep=Sweep(file="f", constants={"A": ()})), "at least one value"),
        (Proposer(sweep=Sweep(file="f", tuples=({"A": "1"}, {"B": "1"}))), "the same names"),
        (Proposer(sweep=Sweep(file="f", constants={"A": ("1",)}, screen=Screen(rounds=0))), "rounds"),
        (Proposer(sweep=Sweep(file="f", constants={"A": ("1",)}, screen=Screen(fact="vgpr"))), "both fact and target"),
        (Proposer(sweep=Sweep(file="f", constants={"A": ("1",)}, screen=Screen(fact="x", target="moon"))), "moon"),
        (Proposer(sweep=Sweep(file="f", constants=dict.fromkeys("ABCDE", ("1",) * 10))), "10000 combinations"),
        (Proposer(sweep=Sweep(file="f", constants={"A": ("1",)}, trials=0)), "trials"),
    ],
)
def test_what_a_protocol_must_not_say_of_its_proposer(proposer: Proposer | None, fault: str) -> None:
    found = "\n".join(proposer_faults(proposer, in_scope=True, targets=("cpu",)))
    assert fault in found if fault else found == ""


def test_a_sweep_stays_in_the_scope() -> None:
    assert "a file in the scope" in proposer_faults(Proposer(sweep=GOOD), in_scope=False, targets=())[0]
