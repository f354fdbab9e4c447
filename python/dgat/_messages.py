"""Notices become warnings, progress becomes a bar. The module _core calls the two functions here."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from typing import Any, Iterator

from dgat import _core


class Notice(UserWarning):
    """Something that dgat did or found and that its user should know.

    ``warnings.simplefilter("ignore", dgat.Notice)`` silences notices,
    ``logging.captureWarnings(True)`` sends them to the log.
    """


_bars: dict[int, Any] = {}
_SECONDS_BETWEEN_LINES = 10.0


class _Lines:
    """Plain lines on standard error, where tqdm is not installed."""

    def __init__(self, label: str, total: int) -> None:
        self.label, self.total = label, total
        self.last = time.monotonic()

    def show(self, done: int, total: int, remark: str) -> None:
        if time.monotonic() - self.last < _SECONDS_BETWEEN_LINES:
            return
        self.last = time.monotonic()
        print(f"{self.label} {done}/{total}  {remark}", file=sys.stderr)

    def close(self) -> None:
        pass


class _Tqdm:
    def __init__(self, bar_type: Any, label: str, total: int) -> None:
        self.bar = bar_type(total=total or None, desc=label, leave=False, file=sys.stderr)

    def show(self, done: int, total: int, remark: str) -> None:
        self.bar.total = total or None
        self.bar.set_postfix_str(remark, refresh=False)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()


def _new_bar(label: str, total: int) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return _Lines(label, total)
    return _Tqdm(tqdm, label, total)


def show_progress(job: int, label: str, done: int, total: int, remark: str, finished: bool) -> None:
    """How far a job is; called while dgat works."""
    if job not in _bars:
        _bars[job] = _new_bar(label, total)
    _bars[job].show(done, total, remark)
    if finished:
        _bars.pop(job).close()


def give_notice(text: str) -> None:
    """One notice, as a warning at the caller of the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("dgat."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, Notice, stacklevel=level)


@contextlib.contextmanager
def progress_shown(wanted: bool) -> Iterator[None]:
    """Shows the progress of the calls inside."""
    if not wanted:
        yield
        return
    _core.want_progress(True)
    try:
        yield
    finally:
        _core.want_progress(False)
        for bar in _bars.values():
            bar.close()
        _bars.clear()
