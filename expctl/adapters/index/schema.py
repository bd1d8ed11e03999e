"""SQL schema of the index of records. Each partial index serves one query: it has that query's order and columns.

The view `live` has the rows of the git tree that the index belongs to. A row without a verdict stands for a folder without a
record.
"""

COLUMNS = (
    *("name", "number", "title", "kind", "target", "verdict", "imported", "date", "lands", "by_older_rule", "sd_percent"),
    *("reason", "given", "cost_percent", "timed_on", "debts", "notes", "corrections", "passes"),
    *("counts", "verdict_holds", "gain_holds", "hoped", "surplus_percent", "told"),
    *("known", "lapsed", "waits", "in_epoch", "opened", "forbids", "ban", "tried", "failed", "opens"),
    *("effect_percent", "low_percent", "high_percent", "figures", "why", "gains"),
    *("base", "ground", "again"),
)
ALL = ", ".join(COLUMNS)

TABLES = f"""
create table made (code text, tree text);
create table grounds (number integer primary key, text text unique);
create table records (
    key integer primary key, tree text, live integer, ruled integer, proposed integer, epoch integer, {ALL}
);
create table measurings (
    key integer, live integer, target text, date text, number integer, name text, again integer, turn integer, base text,
    ground integer
);
create table epochs (number integer primary key, used integer, text text);
create table words (word text, key integer);
create table patterns (pattern text, key integer);
create table holds (key integer primary key, text text);
create table documents (place text, bytes blob, plain text, primary key (place, bytes)) without rowid;
create view live as select * from records where live;
create view summaries as select {ALL} from live where verdict is not null;
"""  # noqa: S608  our own names
# Created after the rows are inserted, because sorting once is fastest.
INDICES = """
create unique index folders on records (name, tree);
create index waiting on records (number, name, verdict, live, proposed)
    where live and proposed and (verdict is null or verdict = 'INVALID');
create index counted on records (target, verdict, imported, live) where live and verdict is not null;
create index newest on records (date, number, name, live, verdict, imported)
    where live and verdict is not null and not imported;
create index shown on records (timed_on, date, number, name, live) where live and timed_on <> '';
create index landed on records (date, number, name, live, lands) where live and lands;
create index given on records (target, number, name, live, given) where live and given is not null;
create index owed on records (number, name, debts, live) where live and debts <> '';
create index once on records (number, name, live, by_older_rule) where live and by_older_rule;
create index banned on records (number, name, live, known) where live and known is not null;
create index corrected on records (number, name, corrections, live) where live and corrections <> '';
create index noted on records (number, name, notes, live) where live and notes <> '';
create index undecided on records (number, name, live, verdict) where live and verdict = 'INCONCLUSIVE';
create index scored on records (surplus_percent, verdict_holds, gain_holds, hoped, live, counts) where live and counts;
create index measured on measurings (name);
create index turns on measurings (date, number, name, again, live, turn) where live and turn;
create index later on measurings (date, number, name, again, live) where live;
create index found on words (word);
"""
