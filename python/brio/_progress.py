"""Progress: a bar on a terminal, or in a notebook; nothing where nobody looks."""
from __future__ import annotations

import html
import shutil
import sys
import time
from typing import Any, Optional

_AFTER = 0.5  # s: what is done earlier shows no bar
_EVERY = 0.1  # s


def notebook() -> Any:
    """IPython's display module if this is a notebook, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    import IPython.display

    return IPython.display


def duration(seconds: float) -> str:
    """ "3.4 s", "2:05 min", "1:02:33 h"."""
    whole = int(seconds)
    if seconds < 100:
        return f"{seconds:.1f} s"
    if seconds < 6000:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02} h"


def _looked_at() -> bool:
    """Whether the standard error is a terminal. Without a console there is none, or it is closed,
    or it is an object of some other program."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


class Bar:
    """A bar that appears after half a second and goes with ``close``.

    ``show``: True, False, or None for where somebody looks: a notebook, or a terminal.
    """

    def __init__(self, show: Optional[bool] = None, title: str = ""):
        self._display = notebook()
        self.on = show if show is not None else bool(self._display or _looked_at())
        self._title, self._start = title, time.monotonic()
        self._next = self._start + _AFTER
        self._shown: Any = None

    def due(self) -> bool:
        """Whether it is time to show something."""
        return self.on and time.monotonic() >= self._next

    def update(self, fraction: float, text: str = "") -> None:
        """Shows how much is done, 0 to 1, if it is time."""
        if not self.due():
            return
        now = time.monotonic()
        self._next = now + _EVERY
        spent = now - self._start
        left = f", {duration(spent / fraction * (1 - fraction))} left" if fraction > 0.01 else ""
        words = f"{self._title}{100 * fraction:3.0f} %  {duration(spent)}{left}  {text}".rstrip()
        self._draw(min(max(fraction, 0), 1), words)

    def _draw(self, fraction: float, words: str) -> None:
        if self._display is None:
            room = max(min(shutil.get_terminal_size().columns - len(words) - 4, 30), 0)
            full = int(room * fraction)
            bar = f"[{'#' * full}{'.' * (room - full)}] " if room >= 5 else ""
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r{(bar + words)[:width]}\033[K")
            sys.stderr.flush()
            self._shown = True
            return
        page = self._display.HTML(
            f'<progress max="1" value="{fraction:.4f}" style="width:20em"></progress> '
            f"<code>{html.escape(words)}</code>"
        )
        if self._shown is None:
            self._shown = self._display.display(page, display_id=True)
        else:
            self._shown.update(page)

    def close(self) -> None:
        """Takes the bar away."""
        if self._shown is None:
            return
        if self._display is None:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        else:
            self._shown.update(self._display.HTML(""))
        self._shown = None
