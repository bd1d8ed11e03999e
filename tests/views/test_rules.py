"""`expctl rules` as plain lines, whole."""

from expctl.domain.experiment.proposal import Probe, Verdict
from expctl.domain.experiment.record import ChangedCondition
from expctl.domain.rules.current_facts import ProbeAnswer
from expctl.domain.rules.match_levels import WaivedRepeat
from expctl.domain.rules.matching import Level
from expctl.domain.rules.states import RuleState, State
from expctl.views.rules import probe_lines, rules_lines

ACTIVE = RuleState(
    id="P2",
    state=State.ACTIVE,
    text="Any path through \x1b[31mthe builtin.",
    target="gfx1151",
    reasons=("does not compile",),
    known_by=(Level.PATTERN,),
    verified=(("architecture", "gfx1151"), ("probe", "fails until it compiles for gfx1151")),
    told=(("baseline", "P0"),),
    lapses=(),
    passes=(),
)
REOPENED = RuleState(
    id="P11",
    state=State.REOPENED,
    text="Refill early.",
    target="gfx1151",
    reasons=("wrong",),
    known_by=(),
    verified=(),
    told=(),
    lapses=(ChangedCondition(condition="races", was="unknown", now="none", evidence="the interpreter"),),
    passes=(WaivedRepeat(id="P30", verdict=Verdict.KEEP, reason="races: unknown -> none", written=False),),
)
WAIVED = RuleState(
    id="P17",
    state=State.WAIVED,
    text="Upcast late: slower",
    target="cpu",
    reasons=("slower",),
    known_by=(Level.PATCH, Level.CHANGE),
    verified=(("ziglang", "0.16.0"),),
    told=(),
    lapses=(),
    passes=(WaivedRepeat(id="P31", verdict=Verdict.REJECT, reason="wider\nregisters", written=True),),
)


def test_rules_stand_by_state_with_all_that_they_depend_on() -> None:
    assert rules_lines([REOPENED, WAIVED, ACTIVE]) == [
        "active: a repeat is refused, unless its proposal names a new precondition (1)",
        "  P2     Any path through the builtin.",
        "    known by   forbidden pattern",
        "    depends on architecture gfx1151; probe fails until it compiles for gfx1151",
        "    told       baseline: P0",
        "open again: a condition under which it failed has changed (1)",
        "  P11    Refill early.",
        "    known by   readers alone: nothing was kept that expctl could compare",
        "    changed    races: unknown -> none (the interpreter)",
        "    let pass   P30 (KEEP), verified: races: unknown -> none",
        "waived: in force, but once let through for a written reason (1)",
        "  P17    Upcast late: slower",
        "    known by   patch, normalised change",
        "    depends on ziglang 0.16.0",
        "    let pass   P31 (REJECT), written: wider registers",
    ]


def test_no_rule_is_said_too() -> None:
    assert rules_lines([]) == ["no rule yet: a REJECT leaves one"]


def test_a_probe_is_shown_for_each_architecture() -> None:
    answers = [("gfx1151", ProbeAnswer(passes=False, said="clang: error")), ("gfx1250", ProbeAnswer(passes=True, said="clang"))]
    assert probe_lines("P2", Probe(source="x"), answers) == [
        "P2  its rule holds for as long as this fails: compiles for gfx1151",
        "  gfx1151    fails: clang: error",
        "  gfx1250    passes: clang",
    ]
