"""What a browser makes of the page, as far as a test needs it: tags, attributes, and texts with the classes around them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "input", "link", "img"}


@dataclass
class Read(HTMLParser):
    """The page in pieces. `texts` are (text, tags around it, classes around it); style and script are kept apart."""

    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    texts: list[tuple[str, tuple[str, ...], frozenset[str]]] = field(default_factory=list)
    raw: dict[str, str] = field(default_factory=dict)
    _around: list[tuple[str, frozenset[str]]] = field(default_factory=list)

    @staticmethod
    def of(page: str) -> "Read":
        read = Read()
        HTMLParser.__init__(read)
        read.feed(page)
        read.close()
        return read

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._around.append((tag, frozenset((dict(attrs).get("class") or "").split())))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        while self._around:
            if self._around.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        tags = tuple(tag for tag, _ in self._around)
        if tags and tags[-1] in ("style", "script"):
            self.raw[tags[-1]] = self.raw.get(tags[-1], "") + data
        elif data.strip():
            classes = frozenset().union(*(found for _, found in self._around)) if self._around else frozenset()
            self.texts.append((data, tags, classes))

    @property
    def text(self) -> str:
        return "\n".join(text for text, _, _ in self.texts)
