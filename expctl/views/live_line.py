"""One line at the end of a terminal's text that is drawn again and again. It never wraps, and is wiped before other text."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from expctl.views.fold import LABEL, cells, folded
from expctl.views.progress_words import LABEL_STYLE, Words, plain

if TYPE_CHECKING:
    from rich.console import Console

WIPE = "\r\x1b[K"
ECHO = "^C"
"""What a terminal writes behind the line when Ctrl-C is pressed: where it wraps, the line can't be wiped."""


def bears_live_line(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal that can draw over a line."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


class LiveLine:
    """Draws on the terminal `stream`. Colours are left out where NO_COLOR is set. rich is imported at the first line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_drawn = False
        self._made: Console | None = None

    def draw(self, wordings: Sequence[Words]) -> None:
        """Draw the first of `wordings` that fits in the line; if none does, as much of the last as fits."""
        from rich.text import Text

        room = self._console.width - len(ECHO) - 1  # a letter in the last column makes some terminals wrap
        words = next((each for each in wordings if cells(plain(each)) <= room), wordings[-1])
        text = Text.assemble(*((text, style) for text, style in words))
        text.truncate(room, overflow="ellipsis")
        self.wipe()
        self._console.print(text, end="", no_wrap=True)
        self._is_drawn = True
        self._stream.flush()

    def wipe(self) -> None:
        """Take the line away, if one is drawn."""
        if self._is_drawn:
            self._stream.write(WIPE)
            self._stream.flush()
        self._is_drawn = False

    def print(self, lines: Iterable[str]) -> None:
        """Print lines that stay, folded to the terminal's width, in place of the live line."""
        from rich.text import Text

        self.wipe()
        for line in lines:
            for number, part in enumerate(folded(line, self._console.width)):
                text = Text(part)
                if number == 0 and part.startswith("  "):
                    text.stylize(LABEL_STYLE, 0, LABEL)
                self._console.print(text, no_wrap=True, overflow="ignore", crop=False)
        self._stream.flush()

    @property
    def _console(self) -> "Console":
        if self._made is None:
            from rich.console import Console

            colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
            self._made = Console(file=self._stream, highlight=False, emoji=False, markup=False, color_system=colours)
        return self._made
