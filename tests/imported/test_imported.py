"""Hand-kept ledgers of many shapes: what is understood, what becomes of it, what the audit finds."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.ids import ID_PATTERN
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Origin, Record
from expctl.domain.protocol.model import NumberKind
from expctl.imported.audit.ledger import audit
from expctl.imported.audit.noise import Noise
from expctl.imported.document import Document, ParsedLedger, Ruling
from expctl.imported.figures import figures_in
from expctl.imported.ids import FILE, ROW, IdAssignment, assign_ids, entries_of, names_in
from expctl.imported.records import records_of, stated_target
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.rules import rules_by_row
from expctl.imported.tables import read_document as document_of
from expctl.imported.verdicts import Pending, rulings

FOLDER = Path(__file__).with_name("documents")
SEED = Path(__file__).parents[3] / "shared" / "seeds" / "003_51ca50bead8c4f3b.txt"
ROOFLINE = Roofline(peak_flops=59.4e12, flop={"n=8192": 2 * 8192**3, "n=4096": 2 * 4096**3}, source="a peak")
NOISE = Noise(percent=0.5, source="the protocol")


def load(name: str) -> tuple[Document, ParsedLedger]:
    document = document_of((FOLDER / name).read_bytes(), name)
    return document, read_document(document)


def of(text: str, name: str = "a.md") -> tuple[Document, ParsedLedger]:
    document = document_of(text.encode(), name)
    return document, read_document(document)


def naming(reading: ParsedLedger, *records: Record, renumber: bool = False, file: str = "a.md") -> IdAssignment:
    return assign_ids(tuple(entries_of(reading.rows)), file, records, {each.id for each in records}, renumber=renumber)


def made(document: Document, reading: ParsedLedger, found: IdAssignment) -> tuple[Record, ...]:
    rules, _ = rules_by_row(document, reading.rows)
    remarks = audit(document, reading.rows, ROOFLINE, NOISE)
    return records_of(found.named, remarks, rules, file=document.name, target="gfx1151", number_kind=NumberKind.DEVICE_TIME)


def remarks(document: Document, reading: ParsedLedger, roofline: Roofline = ROOFLINE) -> list[tuple[Flaw, tuple[str, ...]]]:
    return [(remark.flaw, remark.rows) for remark in audit(document, reading.rows, roofline, NOISE)]


# ---------------------------------------------------------------------- shapes

SHAPES = {
    "plan.md": ["P0 KEEP", "P1 REJECT", "P2 REJECT", "P3 REJECT", "P5 KEEP", "P8 REJECT", "P8b KEEP", "P9 KEEP", "P11 REJECT",
                "P12 REJECT", "P14 KEEP"],
    "results.tsv": ["P1 KEEP", "P2 KEEP", "P3 REJECT", "P4 INVALID"],
    "attempts.md": ["P1 KEEP", "P2 REJECT", "P3 KEEP", "P4 KEEP", "P5 KEEP"],
    "hypotheses.md": ["P1 KEEP", "P2 REJECT", "P3 KEEP"],
    "versions.csv": ["P1 KEEP", "P2 REJECT", "P3 KEEP", "P4 KEEP"],
    "turned.md": ["P0 REJECT", "P1 REJECT", "P11-B2a REJECT", "P11-B2b REJECT", "P4b KEEP", "P12 KEEP"],
    "iterations.tsv": ["P1 KEEP", "P2 REJECT", "P3 INVALID"],
    "doubtful.md": ["P1 KEEP", "P2 REJECT", "P3 KEEP"],
    "worklog.md": [],
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str) -> None:
    document, reading = load(name)
    records = made(document, reading, naming(reading, renumber=True))
    assert [f"{record.id} {record.verdict}" for record in records] == SHAPES[name]
    for record in records:
        assert (record.origin, record.target) == (Origin.IMPORTED, "gfx1151")
        assert ID_PATTERN.fullmatch(record.id)
        assert not record.estimates, "an imported figure has no samples, so it has no interval"


def test_every_line_of_every_table_is_accounted_for() -> None:
    for name in SHAPES:
        document, reading = load(name)
        seen = [
            *(each.line for each in reading.rows),
            *(each.line for each in reading.waiting),
            *(each.line for each in reading.unread),
        ]
        ledgers = [table for table in document.tables if table.line not in {each.line for each in reading.skipped_tables}]
        assert sorted(seen) == [row.line for table in ledgers for row in table.rows], name


def test_what_is_not_understood_is_named() -> None:
    _, doubtful = load("doubtful.md")
    assert [(each.line, each.why) for each in doubtful.unread] == [
        (6, "'first reverted, then kept' is not recognised as a verdict"),
        (7, "'who knows' is not recognised as a verdict"),
    ]
    assert [each.line for each in load("attempts.md")[1].waiting] == [11, 17]
    assert [each.line for each in load("worklog.md")[1].skipped_tables] == [3]
    assert [each.line for each in load("hypotheses.md")[1].skipped_tables] == [15]


def test_a_column_of_unknown_verdicts_is_named_and_counted() -> None:
    text = "| id | Outcome |\n|---|---|\n| P1 | keep |\n| P2 | pidetty |\n| P3 | hylätty |\n"
    (passed,) = of(text)[1].skipped_tables
    assert passed.why == "1 of 3 cells below 'Outcome' are recognised as verdicts, too few for a ledger"


def test_a_baseline_by_how_long_it_ran_is_no_change() -> None:
    text = "id\tstatus\tchange\nP1\tkeep\t30min baseline: as it was\nP2\tkeep\twider loads\nP3\tdiscard\tnarrow loads\n"
    assert [each.line for each in of(text, "a.tsv")[1].waiting] == [2]


def test_the_words_stay_the_authors() -> None:
    document, reading = load("versions.csv")
    assert [each.line for each in reading.waiting] == [2], "a baseline is no change"
    record = made(document, reading, naming(reading, file="versions.csv"))[0]
    assert record.history is not None
    assert (record.title, record.history.change) == ('tiles of 64, "skewed"', 'tiles of 64, "skewed"')
    assert (record.history.result, record.history.why) == ("Time (ms): 22.10; TFLOPS: 49.7", "shared memory, no conflicts")
    assert record.reasons == ("imported, decided by hand ('✅'): shared memory, no conflicts",)
    assert record.notes == ("In versions.csv this is v1.",)
    assert (record.environment[FILE], record.environment[ROW]) == ("versions.csv", "v1")


def test_what_the_file_does_not_say_is_not_invented() -> None:
    document, reading = of("| id | verdict | change |\n|---|---|---|\n| P1 | keep | x |\n")
    (record,) = made(document, reading, naming(reading))
    assert record.history is not None
    assert (record.date, record.rule, record.hypothesis) == ("", None, "")
    assert record.history.result == "no result was written down"
    assert record.history.why == "no reason was written down"
    assert stated_target(document) == ""
    assert stated_target(load("hypotheses.md")[0]) == "sm_90"
    assert stated_target(of("# gfx1100 against gfx1151\n")[0]) == ""


# ---------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("words", "verdict", "kind"),
    [
        ("KEEP", Verdict.KEEP, None),
        ("**kept**", Verdict.KEEP, None),
        ("KEEP analysis infra", Verdict.KEEP, Kind.ANALYSIS),
        ("KEEP (analysis)", Verdict.KEEP, Kind.ANALYSIS),
        ("KEEP baseline simplification", Verdict.KEEP, Kind.SIMPLIFY),
        ("Kept in `35190c1`", Verdict.KEEP, None),
        ("keep, no perf regression", Verdict.KEEP, None),
        ("discard", Verdict.REJECT, None),
        ("Reverted", Verdict.REJECT, None),
        ("not kept", Verdict.REJECT, None),
        ("rejected (config)", Verdict.REJECT, Kind.CONFIG),
        ("❌", Verdict.REJECT, None),
        ("✅ accepted", Verdict.KEEP, None),
        ("no", Verdict.REJECT, None),
        ("crash", Verdict.INVALID, None),
        ("inconclusive", Verdict.INCONCLUSIVE, None),
        ("no-op", Verdict.NO_OP, None),
        ("rolled back", Verdict.REJECT, None),
        ("not faster, reverted", Verdict.REJECT, None),
        ("KEEP (not slower)", Verdict.KEEP, None),
        ("did not keep", Verdict.REJECT, None),
        ("behalten", Verdict.KEEP, None),
        ("Übernommen", Verdict.KEEP, None),
        ("u\u0308bernommen", Verdict.KEEP, None),
        ("nicht übernommen", Verdict.REJECT, None),
        ("verworfen (zu langsam)", Verdict.REJECT, None),
        ("abgelehnt", Verdict.REJECT, None),
        ("zurückgenommen", Verdict.REJECT, None),
        ("abgestürzt", Verdict.INVALID, None),
        ("unentschieden", Verdict.INCONCLUSIVE, None),
        ("unverändert", Verdict.NO_OP, None),
    ],
)
def test_one_verdict(words: str, verdict: Verdict, kind: Kind | None) -> None:
    found = rulings(words)
    assert isinstance(found, tuple)
    assert [(each.verdict, each.kind) for each in found] == [(verdict, kind)]


def test_two_verdicts_of_one_row() -> None:
    assert rulings("REJECT config / KEEP infra") == (
        Ruling(verdict=Verdict.REJECT, kind=Kind.CONFIG, words="REJECT config"),
        Ruling(verdict=Verdict.KEEP, kind=Kind.INFRA, words="KEEP infra"),
    )


@pytest.mark.parametrize(
    "words", ["first reverted, then kept", "maybe", "3 % faster", "kept or reverted / who knows", "keep / reject or keep"]
)
def test_no_verdict_that_can_be_told(words: str) -> None:
    assert rulings(words) is None


@pytest.mark.parametrize(
    "words",
    [
        "KEEP?", "✅?", "maybe keep", "KEEP (maybe)", "KEEP pending", "keep, tbd", "will keep", "should be kept", "to keep",
        "kept back", "kept aside", "keep if it holds", "probably rejected", "to be rejected?", "never reject", "not rejected",
        "can't keep", "cannot keep", "not ✅", "unrejected", "REJECT config / KEEP? infra", "vielleicht keep",
        "nicht verworfen", "wohl behalten", "soll verworfen werden",
    ],
)  # fmt: skip
def test_a_hedge_or_a_negation_is_no_verdict(words: str) -> None:
    assert rulings(words) is None


def test_a_column_of_hedged_verdicts_is_one_of_verdicts() -> None:
    text = "| id | Verdict | Change |\n|---|---|---|\n| P1 | KEEP? | a |\n| P2 | never reject | b |\n| P3 | keep | c |\n"
    _, reading = of(text)
    assert [row.name for row in reading.rows] == ["P3"]
    assert [(each.line, each.why) for each in reading.unread] == [
        (3, "'KEEP?' is not recognised as a verdict"),
        (4, "'never reject' is not recognised as a verdict"),
    ]


@pytest.mark.parametrize("words", ["TODO", "planned", "", "-", "running", "geplant", "läuft"])
def test_no_verdict_yet(words: str) -> None:
    assert rulings(words) is Pending.NO_VERDICT_YET


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("N=8192 ~42.86k", [("42.86k", 42.86e12, "n=8192")]),
        (
            "`N=8192`: `24.996 ms` (`~43.99k` GFLOPS)",
            [("24.996 ms", 24.996e6, "n=8192"), ("43.99k GFLOPS", 43.99e12, "n=8192")],
        ),
        ("low headroom (`~2-3%`)", [("3%", 3.0, "")]),
        ("N=4096 35.89k, N=8192 42.68k", [("35.89k", 35.89e12, "n=4096"), ("42.68k", 42.68e12, "n=8192")]),
        ("+0.15 % and -14.73%", [("+0.15 %", 0.15, ""), ("-14.73%", -14.73, "")]),
        ("regressed to 42.62 TFLOPS", [("42.62 TFLOPS", 42.62e12, "")]),
        ("1,234 us", [("1,234 us", 1.234e6, "")]),
        ("1,234,567.5 us", [("1,234,567.5 us", 1.2345675e9, "")]),
        ("1,5 ms, +2,5 %, 250,55 TFLOPS, 1,2345 us, 12,34,567 us", []),
        ("sizes 512,1024: 3 us", [("3 us", 3e3, "")]),
        ("12 µs at 512^3", [("12 µs", 12e3, "n=512")]),
        ("P10, s_setprio 2, 24 waves, v2.5 same", []),
        ("2026-02-18 rel_l2 0.068", []),
    ],
)
def test_figures(text: str, figures: list[tuple[str, object, str]]) -> None:
    found = figures_in(text, "G")
    assert [(each.text, pytest.approx(each.value), each.size) for each in found] == figures


# ---------------------------------------------------------------------- ids


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("P0/P1", ("P0", "P1")),
        ("P11-B2a/B2b/B2c", ("P11-B2a", "P11-B2b", "P11-B2c")),
        ("PCS-1/2/3", ("PCS-1", "PCS-2", "PCS-3")),
        ("a/b", ("a/b",)),
        ("v0", ("v0",)),
        ("", ()),
    ],
)
def test_names_of_one_row(text: str, names: tuple[str, ...]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize("name", ["P3–P4", "P3-P4", "P3..P5", "P3 - P5", "P3 to P5", "P3 bis P5", "P3–5", "P3 & P4", "P3+P4"])
def test_a_range_of_ids_is_not_understood(name: str) -> None:
    _, reading = of(f"| id | verdict | change |\n|---|---|---|\n| {name} | reject | x |\n| P1 | keep | y |\n")
    assert [each.name for each in reading.rows] == ["P1"]
    assert [each.why for each in reading.unread] == [f"{name!r} is a range of ids: one experiment is one row, or `P3, P4`"]


@pytest.mark.parametrize("name", ["P6-A", "exp-1", "P3-5", "2026-01-02", "P11-B2a", "v1.2", "1-3"])
def test_a_name_with_a_hyphen_is_a_name(name: str) -> None:
    _, reading = of(f"| id | verdict | change |\n|---|---|---|\n| {name} | reject | x |\n")
    assert [each.name for each in reading.rows] == [name]


def test_a_german_ledger() -> None:
    heads = "| Nr | Urteil | Änderung | Ergebnis | Begründung |\n|---|---|---|---|---|\n"
    text = heads + "| P1 | behalten | Grundlage | 24,9 ms | Anfang |\n| P2 | verworfen | vier Stufen | 25,3 ms | langsamer |\n"
    _, reading = of(text)
    assert reading.columns == ("line 1: id = Nr, verdict = Urteil, change = Änderung, result = Ergebnis, reason = Begründung",)
    assert [(row.name, row.rulings[0].verdict, row.change, row.why) for row in reading.rows] == [
        ("P1", Verdict.KEEP, "Grundlage", "Anfang"),
        ("P2", Verdict.REJECT, "vier Stufen", "langsamer"),
    ]
    _, delimited = of("Nr;Urteil;Änderung;Zeit\nP1;keep;a;10,5 ms\n", "a.csv")
    assert delimited.columns == ("line 1: id = Nr, verdict = Urteil, change = Änderung, figures = Zeit",)


def test_importing_again_adds_nothing_and_a_longer_file_adds_what_is_new() -> None:
    for name in SHAPES:
        document, reading = load(name)
        first = made(document, reading, naming(reading, renumber=True, file=name))
        again = naming(reading, *first, file=name)
        assert (again.named, again.conflicts, len(again.known)) == ((), (), len(first)), name
    before = "| # | verdict | change |\n|---|---|---|\n| 1 | keep | x |\n"
    document, reading = of(before)
    records = made(document, reading, naming(reading))
    _, longer = of(before + "| 2 | reject | y |\n")
    assert [(each.id, each.entry.name) for each in naming(longer, *records).named] == [("P2", "2")]


def test_a_row_that_was_rewritten_is_no_new_row() -> None:
    document, reading = of("| # | verdict | change |\n|---|---|---|\n| 1 | keep | x |\n")
    records = made(document, reading, naming(reading))
    _, rewritten = of("| # | verdict | change |\n|---|---|---|\n| 1 | reject | x |\n")
    for renumber in (False, True):
        again = naming(rewritten, *records, renumber=renumber)
        assert (again.named, again.known, again.conflicts) == ((), (), ())
        assert [(each.id, each.entry.ruling.verdict) for each in again.updated] == [("P1", Verdict.REJECT)]


def test_an_id_is_never_used_twice() -> None:
    _, reading = load("turned.md")
    (clash,) = naming(reading).conflicts
    assert clash.why == "P4b is the row of line 7 already"
    renumbered = naming(reading, renumber=True)
    assert renumbered.named[-1].id == "P12"
    assert len({each.id for each in renumbered.named}) == len(renumbered.named)


def test_rows_of_one_line_and_verdicts_of_one_row_know_each_other() -> None:
    document, reading = load("plan.md")
    records = {record.id: record for record in made(document, reading, naming(reading))}
    assert (records["P8"].kind, records["P8b"].kind) == (Kind.CONFIG, Kind.INFRA)
    assert "the other is P8b" in records["P8"].notes[0]
    assert "the other is P8." in records["P8b"].notes[0]
    document, reading = load("turned.md")
    shared = made(document, reading, naming(reading, renumber=True))
    assert shared[0].notes == ("One hand-kept row holds this and P1: change, result and reason are of all.",)


def test_rules_come_from_the_do_not_repeat_list_and_from_every_reject() -> None:
    document, reading = load("plan.md")
    records = {record.id: record.rule.text for record in made(document, reading, naming(reading)) if record.rule}
    assert records == {
        "P1": "P1, unless something is new.",
        "P2": "Any way through `cvt_pk` on this GPU.",
        "P3": "The tile `(1,8,2,2,16,1)`.",
        "P8": "four stages; index of the stage mended",
        "P11": "interleaved refill of two stages",
        "P12": "only B is fetched early",
        "P14": "Re-adding toggles that are gone.",
    }
    assert [each.line for each in rules_by_row(document, reading.rows)[1]] == [31]


def test_a_rule_goes_to_no_row_rather_than_to_the_wrong_one() -> None:
    rows = "| id | keep? | change |\n|---|---|---|\n| P1 | no | `setprio` on loads |\n| P2 | no | `setprio` on stores |\n\n"
    document, reading = of(rows + "## Do not repeat\n- `setprio`\n- `setprio` on stores again\n- P1 and P2\n")
    rules, unread = rules_by_row(document, reading.rows)
    assert rules == {4: "`setprio` on stores again"}
    assert [each.line for each in unread] == [7, 9]


def test_a_row_is_known_in_other_words_only_by_its_figures() -> None:
    document, reading = of("| id | keep? | change | result |\n|---|---|---|---|\n| P1 | keep | x | 42.86k |\n")
    (record,) = made(document, reading, naming(reading))
    assert record.history is not None
    by_hand = replace(record, content="", environment={}, history=replace(record.history, result="about 42.86k, in our words"))
    assert [each.note for each in naming(reading, by_hand).known] == ["in other words"]
    other = replace(by_hand, history=replace(record.history, result="about 41k"))
    assert [clash.why for clash in naming(reading, other).conflicts] == ["the id P1 is taken"]
    assert [clash.why for clash in naming(reading, replace(by_hand, verdict=Verdict.REJECT)).conflicts] == [
        "the id P1 is taken"
    ]


# ---------------------------------------------------------------------- audit


def test_the_audit_of_the_plan() -> None:
    assert remarks(*load("plan.md")) == [
        (Flaw.UNIT_SLIP, ()),
        (Flaw.NOISE, ("P1",)),
        (Flaw.NOISE, ("P3",)),
        (Flaw.NOISE, ("P5",)),
        (Flaw.NOISE, ("P9",)),
        (Flaw.KEPT_REGRESSION, ("P14",)),
        (Flaw.UNIT_SLIP, ("P14",)),
        (Flaw.NOISE, ("P14",)),
        (Flaw.REUSED_ID, ("P11",)),
        (Flaw.STALE, ("P11",)),
        (Flaw.REUSED_ID, ("P12",)),
        (Flaw.STALE, ("P12",)),
    ]


def test_remarks_become_corrections_of_their_rows() -> None:
    document, reading = load("plan.md")
    by_id = {record.id: record.history for record in made(document, reading, naming(reading))}
    history = by_id["P14"]
    assert history is not None
    assert len(history.corrections) == 3
    assert "agrees with 42.68k beside it: the unit slipped" in history.corrections[1]


def row(result: str, verdict: str = "keep", name: str = "P1") -> str:
    return f"| {name} | {verdict} | x | {result} |\n"


def table(*rows: str, before: str = "", after: str = "") -> tuple[Document, ParsedLedger]:
    return of(f"{before}\n| id | keep? | change | result |\n|---|---|---|---|\n{''.join(rows)}\n{after}")


@pytest.mark.parametrize(
    ("result", "flaw"),
    [
        ("N=8192 60.2 TFLOPS", Flaw.IMPOSSIBLE),
        ("N=8192 59.3 TFLOPS", None),
        ("N=8192 25 us", Flaw.UNIT_SLIP),
        ("N=8192 25 ns", Flaw.IMPOSSIBLE),
        ("N=8192 25 ms", None),
        ("N=2048 0.2 ms", Flaw.UNIT_SLIP),
        ("N=2048 0.4 ms", None),
        ("25.6 us", None),
        ("812 us", None),
        ("N=8192 25 ms, 43.98 TFLOPS", None),
        ("N=8192 25 ms, 50.00 TFLOPS", Flaw.CONTRADICTION),
    ],
)
def test_figures_against_the_roofline(result: str, flaw: Flaw | None) -> None:
    assert [found for found, _ in remarks(*table(row(result)))] == ([flaw] if flaw else [])
    impossible = [found for found, _ in remarks(*table(row(result)), Roofline()) if found is not Flaw.CONTRADICTION]
    assert impossible == [], "without a roofline nothing is impossible"


def test_a_time_without_a_size_has_slipped_where_a_throughput_says_so() -> None:
    both = table(row("N=8192 43.0 TFLOPS"), row("25.6 us", name="P2"), row("27.9 us", name="P3"))
    assert remarks(*both) == [(Flaw.UNIT_SLIP, ("P2",))]


def test_kept_regressions() -> None:
    better, worse = row("N=8192 40 TFLOPS"), row("N=8192 36 TFLOPS", name="P2")
    assert (Flaw.KEPT_REGRESSION, ("P2",)) in remarks(*table(better, worse))
    assert (Flaw.KEPT_REGRESSION, ("P2",)) not in remarks(*table(better, row("N=4096 36 TFLOPS", name="P2")))
    assert remarks(*table(better, row("N=8192 36 TFLOPS", "reject", "P2"))) == []
    assert remarks(*table(better, row("N=8192 36 TFLOPS", "keep analysis", "P2"))) == []
    assert (Flaw.KEPT_REGRESSION, ("P2",)) in remarks(*table(row("30 ms"), row("33 ms", name="P2")))
    assert (Flaw.KEPT_REGRESSION, ("P2",)) not in remarks(*table(row("33 ms"), row("30 ms", name="P2")))


def test_nothing_is_held_against_a_figure_that_cannot_be() -> None:
    slipped, real = row("N=8192 25.6 us"), row("N=8192 25.1 ms", name="P2")
    assert remarks(*table(slipped, real)) == [(Flaw.UNIT_SLIP, ("P1",))]
    assert remarks(*table(row("N=8192 99999 TFLOPS"), row("N=8192 43 TFLOPS", name="P2"))) == [(Flaw.IMPOSSIBLE, ("P1",))]
    better, worse = row("N=8192 40 TFLOPS"), row("N=8192 36 TFLOPS", name="P3")
    assert (Flaw.KEPT_REGRESSION, ("P3",)) in remarks(*table(better, row("N=8192 25 us", name="P2"), worse))


def test_a_thousand_times_slower_is_no_regression_but_a_slip() -> None:
    document, reading = table(row("N=8192 25.6 us"), row("N=8192 25.1 ms", name="P2"), row("N=8192 25.3 ms", name="P3"))
    found = [(remark.flaw, remark.rows) for remark in audit(document, reading.rows, Roofline(), NOISE)]
    assert (Flaw.UNIT_SLIP, ("P2",)) in found
    assert [rows for flaw, rows in found if flaw is Flaw.KEPT_REGRESSION] == [("P3",)]


def test_a_row_is_not_held_against_its_own_duplicate() -> None:
    assert remarks(*table(row("10 ms"), row("10 ms"))) == [(Flaw.REUSED_ID, ("P1",))]
    assert (Flaw.NOISE, ("P2",)) in remarks(*table(row("10 ms"), row("10 ms", name="P2")))


def test_a_remark_about_one_row_does_not_correct_another_of_the_same_id() -> None:
    document, reading = table(row("N=8192 25 us"), row("N=8192 25 ms"))
    first, second = made(document, reading, naming(reading, renumber=True))
    assert first.history is not None
    assert second.history is not None
    assert [len(record.history.corrections) for record in (first, second) if record.history] == [2, 1]
    assert "the unit seems to have slipped" in first.history.corrections[0]
    assert first.history.corrections[1] == second.history.corrections[0]


@pytest.mark.parametrize(
    ("why", "flagged", "said"),
    [
        ("noise is 0.5 %", ["P2", "P4"], "P4 gives the noise as 0.5 %"),
        ("slower; the jitter here is 0.3 %", ["P2", "P4"], "P4 gives the noise as 0.3 %"),
        ("inside the noise", ["P4"], "P4 calls 0.1 % noise"),
        ("beyond the noise of 0.5 %", ["P2", "P4"], "the protocol"),
    ],
)
def test_the_noise_that_the_reason_of_a_row_states(why: str, flagged: list[str], said: str) -> None:
    text = "| id | keep? | change | result | why |\n|---|---|---|---|---|\n| P2 | keep | x | +0.2 % | ok |\n"
    document, reading = of(text + f"| P4 | keep | y | 0.1 % slower | {why} |\n")
    found = [remark for remark in audit(document, reading.rows, ROOFLINE, NOISE) if remark.flaw is Flaw.NOISE]
    assert [remark.rows[0] for remark in found] == flagged
    assert f"({said})" in found[-1].text


@pytest.mark.parametrize(
    ("before", "result", "flagged"),
    [
        ("", "+0.4 %", True),
        ("", "+0.6 %", False),
        ("Gains under 2% are treated as noise.", "+1.9 %", True),
        ("Gains under 2% are treated as noise.", "+2.1 %", False),
        ("Every gain above noise, say 5 %, is kept.", "+2 %", False),
        ("", "+0.4 % and +3 %", False),
        ("", "+3 % (noise 0.5 %)", False),
        ("", "+0.9 %, the noise is 1 %", True),
    ],
)
def test_verdicts_inside_the_noise(before: str, result: str, flagged: bool) -> None:
    assert ((Flaw.NOISE, ("P1",)) in remarks(*table(row(result), before=before))) is flagged


HEAD = "| id | file | change | Kernel delta | keep? |\n|---|---|---|---|---|\n"


@pytest.mark.parametrize(
    ("before", "kept", "rows", "flagged"),
    [
        ("Noise: ~1% here.", "-6.3%", ["| 4 | a.py | hoist the index | +0.7% | reject |"], []),
        ("Noise: ~1% here.", "+6.3%", ["| 4 | a.py | hoist the index | +0.7% | reject |"], ["4"]),
        ("Noise: ~1% here.", "-6.3%", ["| 4 | a.py | hoist the index | -0.7% | keep |"], ["4"]),
        ("Noise: ~1% on e2e runs.", "+6.3%", ["| 4 | a.py | hoist the index | +0.7% | reject |"], []),
        ("", "-6.3%", ["| 4 | a.py | a to LDS | -0.04% (within noise) | kept (cleanup) |"], []),
        ("", "-6.3%", ["| 4 | a.py | a to LDS | -0.04% (within noise) | keep |"], ["4"]),
    ],
)
def test_a_verdict_that_its_row_or_its_table_explains_is_not_asked_about(
    before: str, kept: str, rows: list[str], flagged: list[str]
) -> None:
    """From ledgers that a stranger judged: a minus that is a gain, noise of whole runs, what was kept as a cleanup."""
    table = HEAD + f"| 2 | a.py | two reductions in one | {kept} | keep |\n" + "\n".join(rows) + "\n"
    found = remarks(*of(f"# Log\n\n{before}\n\n## Rounds\n\n{table}"))
    assert [name for flaw, (name, *_) in found if flaw is Flaw.NOISE] == flagged


@pytest.mark.parametrize(
    ("change", "flagged"),
    [
        ("4-bit, split 4, no draft", []),
        ("4-bit, split 4, no draft - all runs failed", []),
        ("an 8-bit cache", ["E1"]),
    ],
)
def test_a_change_that_is_tried_again_keeps_its_id(change: str, flagged: list[str]) -> None:
    head = "| id | keep? | change | result |\n|---|---|---|---|\n"
    table = head + f"| E1 | reject | {change} | 0.0 tok/s |\n| E1 | keep | 4-bit, split 4, no draft | 13.2 tok/s |\n"
    found = remarks(*of(table))
    assert [name for flaw, (name, *_) in found if flaw is Flaw.REUSED_ID] == flagged


def test_what_was_only_expected_is_no_result() -> None:
    head = "| id | keep? | change | Expected | Result |\n|---|---|---|---|---|\n"
    assert remarks(*of(head + "| P1 | keep | x | +0.2 % | 3.0 ms |\n")) == []
    assert remarks(*of(head + "| P1 | keep | x | 3.0 ms | +0.2 % |\n")) == [(Flaw.NOISE, ("P1",))]


def test_an_id_in_two_rows() -> None:
    assert (Flaw.REUSED_ID, ("P1",)) in remarks(*table(row("30 ms"), row("20 ms")))


def test_a_heading_that_speaks_of_its_row_is_no_other_use() -> None:
    text = "| id | keep? | change |\n|---|---|---|\n| P22 | reject | mixed-precision A-only prefetch sweep |\n\n"
    assert remarks(*of(text + "### P22: Mixed-Precision A-Only Prefetch Sweep - REJECT\n")) == []
    assert remarks(*of(text + "### P22: Wider stores\n")) == [(Flaw.REUSED_ID, ("P22",))]


def test_a_snapshot_of_an_earlier_row_is_stale() -> None:
    rows = row("N=8192 40 TFLOPS"), row("N=8192 44 TFLOPS", name="P2")
    assert (Flaw.STALE, ("P1", "P2")) in remarks(*table(*rows, after="## Current baseline\n- N=8192: 40 TFLOPS\n"))
    assert remarks(*table(*rows, after="## Current baseline\n- N=8192: 44 TFLOPS\n")) == []


@given(st.lists(st.tuples(st.sampled_from(["P1", "P2", "H3", "-", ""]), st.sampled_from(["keep", "no", "?", "todo"]),
                          st.text(alphabet="N=8192 .0kumsGTFLOP%+-|`", max_size=30)), max_size=8))  # fmt: skip
def test_no_ledger_breaks_the_reader(rows: list[tuple[str, str, str]]) -> None:
    document, reading = table(*(f"| {name} | {verdict} | x | {result} |\n" for name, verdict, result in rows))
    found: list[Remark] = list(audit(document, reading.rows, ROOFLINE, NOISE))
    records = made(document, reading, naming(reading, renumber=True))
    assert len({record.id for record in records}) == len(records)
    assert all(remark.text for remark in found)


# ---------------------------------------------------------------------- the ledger that this project began with


@pytest.mark.skipif(not SEED.is_file(), reason="the shared documents are not beside this checkout")
def test_the_first_ledger_is_read_whole_and_its_known_flaws_are_found() -> None:
    document = document_of(SEED.read_bytes(), "plan.md")
    reading = read_document(document)
    assert (reading.unread, reading.waiting, reading.skipped_tables) == ((), (), ())
    records = {record.id: record for record in made(document, reading, naming(reading))}
    folder = Path(__file__).parents[2] / "experiments"
    from expctl.adapters.codec.record_codec import record_of

    committed = [record_of(path.read_bytes(), where=str(path)) for path in sorted(folder.glob("*/record.json"))]
    history = {record.id: record for record in committed if record.origin is Origin.IMPORTED}
    assert {name: record.verdict for name, record in records.items()} == {
        name: record.verdict for name, record in history.items()
    }
    assert {name for name, record in records.items() if record.rule} == {
        name for name, record in history.items() if record.rule
    }
    assert [name for name in records if records[name].kind is not history[name].kind] == ["P3"], (
        "a tile is a config to a reader"
    )
    assert stated_target(document) == "gfx1151"
    found = remarks(document, reading)
    for flaw in ((Flaw.UNIT_SLIP, ("P14",)), (Flaw.NOISE, ("P1",)), (Flaw.NOISE, ("P3",)), (Flaw.KEPT_REGRESSION, ("P14",))):
        assert flaw in found
    assert [rows for flaw, rows in found if flaw is Flaw.REUSED_ID] == [("P11",), ("P12",)]
    assert rules_by_row(document, reading.rows)[1] == ()
    # Beside the committed history every row is known, in other words.
    again = naming(reading, *history.values())
    assert (again.named, again.conflicts, len(again.known)) == ((), (), 18)
