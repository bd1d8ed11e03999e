"""Whatever is said in whichever argument, the answer is calm, the server lives, and nothing but a proposal comes of it."""

import itertools
import json

from jsonschema import Draft202012Validator
from mcp import Client

from tests.e2e.agents.client import facts, patch_of, talk
from tests.e2e.agents.strangers.arguments import HOSTILE, WRONG, faults, fitting, properties, takes
from tests.e2e.foreign import Foreign

OTHER = "def total(values):\n    return sum([value * value + {0} - {0} for value in values])\n"


def test_hostile_text_in_every_text(repository: Foreign, long: bool) -> None:
    good = fitting(repository, patch_of(repository))
    base = repository.head()
    found: list[str] = []
    asked = itertools.count()

    async def conversation(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            for number, (name, schema) in enumerate(properties(tool).items()):
                for text in HOSTILE if long else HOSTILE[number % 3 :: 3]:
                    if tool.name == "propose":  # another change each time, or it were refused as the one before it
                        good["propose"]["patch"] = patch_of(repository, OTHER.format(next(asked)))
                    if takes(schema, "") or takes(schema, [""]):
                        value = text if takes(schema, "") else [text]
                        found.extend(await faults(client, tool.name, {**good[tool.name], name: value}))
        await facts(client, "status")

    log = talk(repository, conversation)
    assert found == []
    assert "Traceback" not in log
    touched = repository.git("diff", "--name-only", base, "HEAD").splitlines()
    assert {path.split("/")[0] for path in touched} <= {"experiments", "ledger.md"}
    assert not list(repository.root.rglob("pwned"))
    assert repository.git("status", "--porcelain") == ""
    repository.concluded("ledger", "--check")
    ledger = (repository.root / "ledger.md").read_text()
    assert not any(mark in ledger for mark in ("\x1b", "\u202e", "<script>", "\n| P1 | KEEP"))


def test_values_of_another_type_in_every_argument(repository: Foreign) -> None:
    good = fitting(repository, patch_of(repository))
    before = repository.snapshot()
    found: list[str] = []

    async def conversation(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            for name, schema in properties(tool).items():
                for value in WRONG:
                    if not takes(schema, value):
                        found.extend(await faults(client, tool.name, {**good[tool.name], name: value}, refused=True))
        await facts(client, "status")

    assert "Traceback" not in talk(repository, conversation)
    assert found == []
    assert repository.snapshot() == before


def test_an_argument_that_is_missing_or_unknown(repository: Foreign) -> None:
    good = fitting(repository, patch_of(repository))
    before = repository.snapshot()
    found: list[str] = []

    async def conversation(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            for name in tool.input_schema["required"]:
                less = {key: value for key, value in good[tool.name].items() if key != name}
                found.extend(await faults(client, tool.name, less, refused=True))
            for name in ("verdict", "priority", "id", "experiment_id", "__class__", "", "\x1b[2J", "x" * 5000):
                found.extend(await faults(client, tool.name, {**good[tool.name], name: "KEEP"}, refused=True))

    assert "Traceback" not in talk(repository, conversation)
    assert found == []
    assert repository.snapshot() == before


def test_a_tool_that_is_only_read_changes_nothing_and_answers_in_its_form(repository: Foreign) -> None:
    good = fitting(repository, patch_of(repository))
    repository.queue("P1", "def total(values):\n    return sum(value * value for value in values)\n")
    before = repository.snapshot()
    answered: list[str] = []

    async def conversation(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            assert tool.annotations is not None
            assert tool.output_schema is not None
            if tool.annotations.read_only_hint:
                answer = await client.call_tool(tool.name, good[tool.name])
                if not answer.is_error:
                    Draft202012Validator(tool.output_schema).validate(answer.structured_content)
                    answered.append(tool.name)

    talk(repository, conversation)
    assert {"brief", "status", "show", "rules_check", "try"} <= set(answered)
    assert repository.snapshot() == before


def test_numbers_and_conditions_that_mean_nothing(repository: Foreign) -> None:
    good = fitting(repository, patch_of(repository))["propose"]
    before = repository.snapshot()
    found: list[str] = []
    gains = ("nan,nan", "5,3", "1e999,2", "-inf,inf", "1,2,3", "--yes", "1;2", "0x10,0x20", "+,+")
    conditions = ("P1 and", "P1.effect > 3", "__import__('os')", "P1.verdict == 'KEEP' or True", "(" * 90 + "P1", "P1;P2")

    async def conversation(client: Client) -> None:
        for gain in gains:
            found.extend(await faults(client, "propose", {**good, "gain": gain}, refused=True))
        for condition in conditions:
            found.extend(await faults(client, "propose", {**good, "depends_on": [condition]}, refused=True))
        found.extend(await faults(client, "propose", {**good, "depends_on": ["P7"] * 21}, refused=True))
        for words in (1499, 4001, -1, 10**30):
            found.extend(await faults(client, "brief", {"words": words}, refused=True))

    talk(repository, conversation)
    assert found == []
    assert repository.snapshot() == before


def test_words_that_look_like_another_file_stay_words(repository: Foreign) -> None:
    patch = patch_of(repository)
    hypothesis = "less work\nid: P9\nverdict: KEEP\npriority: 99\n---\n| P9 | KEEP | +99 % |\n# Ledger\n'''\n\"\"\""

    async def conversation(client: Client) -> None:
        told = await facts(client, "propose", patch=patch, title="a | KEEP | `x` <b>", hypothesis=hypothesis)
        assert json.dumps(told).count("P1")

    talk(repository, conversation)
    shown = repository.concluded("show", "P1", "--json").json()
    assert "KEEP" not in json.dumps([shown.get("record"), shown.get("verdict")])
    assert "P9" not in repository.concluded("queue").out.replace("\n", " ").split()
    repository.concluded("ledger", "--check")
    assert "\n| P9 | KEEP" not in (repository.root / "ledger.md").read_text()
