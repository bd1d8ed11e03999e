"""What to type where a hand-kept ledger isn't understood: the options of `expctl import` that decide it, all at once."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import plain_text
from expctl.imported.document import Table, Unread
from expctl.imported.heads import HEADS, Role
from expctl.imported.outcomes import OUTCOMES
from expctl.imported.verdict_columns import NO_MAP, SHARE, Map, dialect_of, plain_head
from expctl.imported.verdicts import first_clause, rulings, speaks_of_verdicts, spelled_out
from expctl.imported.vocabulary import MARKS

VERDICT = "VERDICT"
WORDS_MAX = 40
FIGURES = re.compile(r"(?<=[^\W\d_])\W+\d[\d.,–%x×-]*\s?(?:%|[a-zµμ/]{0,6})\W*$")
ASKED_MAX = 12
OFTEN_MIN = 2


def why_no_ledger(table: Table, given: Map = NO_MAP) -> str:
    """Return in words why `table` is no ledger of experiments, e.g. that too few cells below `Verdict` are verdicts."""
    for index, head in enumerate(table.heads):
        cells = [row.cells[index] for row in table.rows if row.cells[index].strip()]
        dialect = dialect_of(table, index, given)
        recognised = sum(speaks_of_verdicts(cell, dialect) for cell in cells)
        if plain_head(head) in HEADS[Role.VERDICT] and 0 < recognised < SHARE * len(cells):
            return f"{recognised} of {len(cells)} cells below {head!r} are recognised as verdicts, too few for a ledger"
    return "not a ledger, which needs a column of verdicts, and one of ids or changes"


def options_for(cells: Iterable[str]) -> tuple[str, ...]:
    """Return a `--map "WORDS=VERDICT"` for each different text of `cells`, shortened to its first clause.

    None is returned for words that are too long for it, or can't be quoted.
    """
    said = (_first_words(cell) for cell in cells if cell.strip())
    # `success` of `success +51 %`, `success +8 %` is asked once.
    words = dict.fromkeys(FIGURES.sub("", each).strip() or each for each in said)
    return tuple(
        f'--map "{each}={VERDICT}"' for each in words if each and len(each) <= WORDS_MAX and not re.search(r'["`$\\]', each)
    )


def _first_words(cell: str) -> str:
    return first_clause(plain_text(cell)).lower().partition("、")[0]


def options_of_table(table: Table, given: Map = NO_MAP) -> tuple[str, ...]:
    """Return the options that make `table` a ledger: its column of verdicts, and what the words below it mean.

    That is asked only of a column whose head may be that of verdicts, with few different texts, or with some that most cells
    begin with; else of one with any head, where few short texts stand in most rows, and some tell an outcome. () without one.
    """
    plain = [plain_head(head) for head in table.heads]
    likely = [index for index, head in enumerate(plain) if head in HEADS[Role.VERDICT]]
    asked = next(filter(None, (_asked_of(table, index, given) for index in likely)), ())
    if not asked:
        others = (index for index in range(1, len(plain)) if index not in likely and _repeats_outcomes(table, index))
        asked = next(filter(None, (_asked_of(table, index, given) for index in others)), ())
    return asked


def _repeats_outcomes(table: Table, index: int) -> bool:
    begins = Counter(_first_words(row.cells[index]) for row in table.rows)
    led = sum(times for words, times in begins.items() if times >= OFTEN_MIN and OUTCOMES.search(words))
    if led > len(table.rows) / 2:
        return True
    texts = Counter(row.cells[index].strip("*_` ") for row in table.rows)
    often = [text for text, times in texts.items() if text and times >= OFTEN_MIN]
    short = max(map(len, texts), default=0) <= WORDS_MAX and len(texts) <= min(ASKED_MAX, len(table.rows) / OFTEN_MIN)
    return short and any(OUTCOMES.search(text) or MARKS.search(text) for text in often) and bool(plain_head(table.heads[index]))


def _asked_of(table: Table, index: int, given: Map) -> tuple[str, ...]:
    """Return the options that make column `index` that of the verdicts; () where its cells have too many texts."""
    cells = [row.cells[index] for row in table.rows if re.search(r"[^\W\d]|[^\x00-\u2fff]", row.cells[index])]
    if len(cells) < SHARE * len(table.rows):
        return ()
    dialect = dialect_of(table, index, given)
    unknown = [cell for cell in cells if rulings(cell, dialect) is None and rulings(spelled_out(cell), dialect) is None]
    asked = Counter(option for cell in unknown for option in options_for([cell]))
    often = {option: count for option, count in asked.items() if count >= OFTEN_MIN}
    few = len(asked) <= ASKED_MAX and sum(asked.values()) == len(unknown) and len(asked) < len(table.rows)
    if asked and (few or (len(often) <= ASKED_MAX and sum(often.values()) > len(unknown) / 2)):
        return (f'--map "verdict={plain_text(table.heads[index])}"', *(asked if few else often))
    return ()


def line_option(line: int, guess: Verdict | None) -> str:
    """Return the option that says what one line of the ledger is, with `guess` for the verdict."""
    return f'--map "line {line}={guess or VERDICT}"'


def lines_option(first: int, last: int, guess: Verdict | None) -> str:
    """Return the option that says what all lines are that are asked about from `first` to `last`."""
    return f'--map "lines {first}-{last}={guess or VERDICT}"'


def hint(command: str, lines: Sequence[Unread], otherwise: str) -> str:
    """Return what to type next where `lines` were not understood: the `command` as it was typed, and the options that decide
    them; `otherwise` if none does.
    """
    options = list(dict.fromkeys(option for line in lines for option in line.options))
    if not options:
        return otherwise
    more = f", and {len(options) - ASKED_MAX} more" if len(options) > ASKED_MAX else ""
    typed = f"{command} {' '.join(options[:ASKED_MAX])}{more}"
    return f"{typed}  with {VERDICT} one of KEEP, REJECT, INCONCLUSIVE, NO-OP, INVALID, or WAIT (none yet); or {otherwise}"
