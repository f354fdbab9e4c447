"""Pages: one self-contained HTML file each."""

from __future__ import annotations

import html
import os
import pathlib
import shlex
import tempfile
from typing import Any, Optional, Sequence, Union

from dgat import _core
from dgat._classifier import NodeClassifier
from dgat._dataset import _dataset
from dgat._docs import shared
from dgat._messages import progress_shown
from dgat._options import settings_of


class Page:
    """A page on disk; a notebook shows it.

    Attributes
    ----------
    path : pathlib.Path
    """

    def __init__(self, path: Any) -> None:
        self.path = pathlib.Path(path)

    def _repr_html_(self) -> Optional[str]:
        if not self.path.exists():
            return None  # a notebook shows the text instead
        text = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{text}" style="width: 100%; height: 800px; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"Page({str(self.path)!r})"

    def __fspath__(self) -> str:
        return str(self.path)


def report(what: Union[NodeClassifier, str, Sequence[str], Any], path: Any, *, split: Optional[int] = None) -> Page:
    """One self-contained page of a classifier, of runs or of studies, as ``dgat report``.

    Parameters
    ----------
    what : NodeClassifier, path, Study, or sequence of paths
        A fitted classifier, or folders that ``dgat train`` or a study wrote.
    path : str or path
        The page to write.
    split : int, optional
        Of a folder with one run: whose drawing and attention are shown.

    Returns
    -------
    Page

    Examples
    --------
    >>> import dgat
    >>> dgat.report("no-such-run", "page.html")
    Traceback (most recent call last):
        ...
    ValueError: ...
    """
    target = os.fspath(path)
    if isinstance(what, NodeClassifier):
        what._require_fitted()
        if not what._files_ or not hasattr(what, "_dataset_"):
            raise ValueError("report: a model from a file has no log; give the folder of its run")
        with tempfile.TemporaryDirectory(prefix="dgat-") as folder:
            for name, content in what._files_.items():
                (pathlib.Path(folder) / name).write_bytes(content)
            (pathlib.Path(folder) / f"split-{what._split_}.safetensors").write_bytes(what._weights_)
            _core.write_run_page(folder, what._dataset_._set, target)
        return Page(target)
    if hasattr(what, "out") and not isinstance(what, (str, os.PathLike)):
        if not what.out:
            raise ValueError("report: the study has no folder; give it one: out=...")
        what = what.out
    folders = [what] if isinstance(what, (str, os.PathLike)) else list(what)
    _core.write_page([os.fspath(folder) for folder in folders], target, split)
    return Page(target)


@shared
def explore(
    data: Any,
    path: Any = "explore.html",
    *,
    split: int = 0,
    budget: str = "60s",
    advise: bool = True,
    progress: bool = False,
    **options: Any,
) -> Page:
    """One page with sliders for gamma, alpha, epsilon and the rewiring, as ``dgat explore``.

    Parameters
    ----------
    %(data)s
    path : str or path
        The page to write.
    split : int
        Whose training labels the page shows; it holds no other label.
    budget : str
        Time for eigenvectors. Where 21 values of gamma take longer, the page has fewer.
    advise : bool
        Whether the page has the advice; it may take longest.
    %(progress)s
    **options
        Where the page starts: ``gamma``, ``alpha``, ``rewire``, ``epsilon``, ``components``; and
        ``model``, ``recipe``, ``eigenvectors``, ``seed``.

    Returns
    -------
    Page

    Examples
    --------
    >>> import dgat, os, tempfile
    >>> d = dgat.generate("csbm", nodes=100, splits=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = dgat.explore(d, os.path.join(folder, "explore.html"), advise=False)
    ...     page.path.stat().st_size > 10000
    True
    """
    settings = settings_of(options)
    command = "dgat train " + (shlex.quote(os.fspath(data)) if isinstance(data, (str, os.PathLike)) else "DATA")
    for key, value in settings.items():
        if key not in ("alpha", "gamma", "rewire", "epsilon", "components", "laplacian"):
            command += f" --{key.replace('_', '-')} {shlex.quote(value)}"
    target = os.fspath(path)
    with progress_shown(progress):
        _core.write_explorer(_dataset(data)._set, settings, split, budget, advise, command, target)
    return Page(target)
