"""Studies: many trainings under one protocol, kept in a ledger."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from dgat import _core
from dgat._dataset import _dataset
from dgat._docs import shared
from dgat._messages import progress_shown
from dgat._options import changed_options, settings_of, text_of, time_of


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Study:
    """The tables of a study.

    Attributes
    ----------
    tables : list of dict
        ``text``, ``markdown``, ``latex`` and ``csv`` of every table.
    results : dict or list
        Everything, with the values of every split, as the JSON file of the command line.
    out : str
        The folder, or "".
    """

    tables: list[dict[str, str]]
    results: Any
    out: str = ""

    @shared
    def to_pandas(self, table: int = 0) -> Any:
        """One of the tables as a data frame; numbers in percent.

        Parameters
        ----------
        table : int

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        %(blocks)s
        >>> dgat.compare(d, models=["gcn"], hidden=8, layers=1, steps=2).to_pandas()["model"].to_list()
        ['gcn']
        """
        import pandas

        return pandas.read_csv(io.StringIO(self.tables[table]["csv"]))

    @shared
    def rows(self, table: int = 0) -> list[dict[str, str]]:
        """One of the tables as rows of text by column.

        Parameters
        ----------
        table : int

        Returns
        -------
        list of dict

        Examples
        --------
        %(blocks)s
        >>> dgat.compare(d, models=["gcn"], hidden=8, layers=1, steps=2).rows()[0]["model"]
        'gcn'
        """
        return list(csv.DictReader(io.StringIO(self.tables[table]["csv"])))

    def __str__(self) -> str:
        return "\n".join(table["text"] for table in self.tables)

    def __repr__(self) -> str:
        return f"Study(tables={len(self.tables)}, out={self.out!r})"

    def _repr_markdown_(self) -> str:
        return "\n".join(table["markdown"] for table in self.tables)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Search:
    """The result of :func:`tune`.

    Attributes
    ----------
    best : dict
        The options that the search chose and that differ from the defaults, for
        ``NodeClassifier(**best)``.
    config : dict
        Every option of the winner, as text.
    results : dict
        Everything that was tried, as ``tune.json``.
    text : str
        The same as Markdown.
    """

    best: dict[str, Any]
    config: dict[str, str]
    results: dict[str, Any]
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Search(best={self.best})"

    def _repr_markdown_(self) -> str:
        return self.text


def _place(out: Any, budget: Union[str, float, None], choose_on: int) -> Any:
    return _core.Place("" if out is None else os.fspath(out), time_of(budget), choose_on)


def _study(answer: Mapping[str, Any], out: Any) -> Study:
    return Study(list(answer["tables"]), json.loads(answer["json"]), "" if out is None else os.fspath(out))


@shared
def compare(
    data: Any,
    *,
    models: Union[str, Sequence[str]] = "all",
    out: Any = None,
    budget: Union[str, float, None] = None,
    choose_on: int = 0,
    progress: bool = False,
    **options: Any,
) -> Study:
    """Several models under one protocol, with paired tests, as ``dgat compare``.

    Parameters
    ----------
    %(data)s
    models : str or sequence of str
        "all" or names; a row may have options of its own, "dgat:gamma=0.1:rewire=none", and
        alternatives of which validation chooses, "dgat:gamma=0.1/0.3/1".
    %(study)s
    **options
        Options of training that hold for all models: :func:`options`.

    Returns
    -------
    Study

    Examples
    --------
    %(blocks)s
    >>> study = dgat.compare(d, models=["gcn", "sage"], hidden=8, layers=1, steps=5)
    >>> [row["model"] for row in study.rows()]
    ['gcn', 'sage']
    """
    names = models if isinstance(models, str) else ",".join(models)
    with progress_shown(progress):
        answer = _core.run_rows(
            _dataset(data)._set, settings_of(options), _place(out, budget, choose_on), "compare", names, ""
        )
    return _study(answer, out)


@shared
def ablate(
    data: Any,
    *,
    grid: str = "",
    out: Any = None,
    budget: Union[str, float, None] = None,
    choose_on: int = 0,
    progress: bool = False,
    **options: Any,
) -> Study:
    """What L(alpha, gamma), directions and rewiring each gain, as ``dgat ablate``.

    Parameters
    ----------
    %(data)s
    grid : str
        Candidates of which validation chooses in every row: "gamma=0.1/0.3/1:alpha=0/1".
    %(study)s
    **options
        Options of training.

    Returns
    -------
    Study
        Seven rows.

    Examples
    --------
    %(blocks)s
    >>> len(dgat.ablate(d, hidden=8, layers=1, steps=2, rewire="add").rows())
    7
    """
    with progress_shown(progress):
        answer = _core.run_rows(
            _dataset(data)._set, settings_of(options), _place(out, budget, choose_on), "ablate", "", grid
        )
    return _study(answer, out)


@shared
def tune(
    data: Any,
    *,
    search: Optional[Mapping[str, Sequence[Any]]] = None,
    out: Any = None,
    budget: Union[str, float] = "30m",
    advised: bool = True,
    progress: bool = False,
    **options: Any,
) -> Search:
    """Searches options on the validation metric, as ``dgat tune``.

    Parameters
    ----------
    %(data)s
    search : dict, optional
        Values to search by option, in place of the usual ones: ``{"gamma": [0.1, 0.3]}``.
    %(out)s
    %(budget)s
    advised : bool
        Take graphs in the order of :func:`advise`; otherwise at random.
    %(progress)s
    **options
        Options that are fixed and not searched.

    Returns
    -------
    Search

    Examples
    --------
    %(blocks)s
    >>> found = dgat.tune(d, search={"lr": [0.01, 0.1]}, budget="5s", model="gcn", layers=1, hidden=8,
    ...                   steps=4, dropout=0, weight_decay=0)
    >>> found.best["lr"] in (0.01, 0.1)
    True
    """
    wanted = {key: [text_of(key, value) for value in values] for key, values in (search or {}).items()}
    with progress_shown(progress):
        answer = _core.tune(_dataset(data)._set, settings_of(options), _place(out, budget, 0), wanted, advised)
    config = dict(answer["winner"])
    return Search(changed_options(config), config, json.loads(answer["json"]), answer["markdown"])


@shared
def reproduce(
    table: str,
    *,
    data_dir: Any = "",
    datasets: Sequence[str] = (),
    models: Sequence[str] = (),
    grid: str = "",
    tuned: Any = "",
    nodes: int = 5000,
    out: Any = None,
    budget: Union[str, float, None] = None,
    choose_on: int = 0,
    progress: bool = False,
    **options: Any,
) -> Study:
    """A table of the paper, ours beside its numbers, as ``dgat reproduce``.

    Parameters
    ----------
    table : str
        heterophily, small, ablation, ...; an unknown name raises an error that lists them.
    data_dir : str or path
        Folder with the data sets, searched before the usual places.
    datasets, models : sequence of str
        Only these.
    grid : str
        Candidates of the directional rows, chosen by validation.
    tuned : str or path
        Folder with NAME.yaml per data set: options of the directional rows.
    nodes : int
        Of a synthetic graph.
    %(study)s
    **options
        Options of training that hold for all rows.

    Returns
    -------
    Study

    Examples
    --------
    >>> import dgat
    >>> dgat.reproduce("nothing")
    Traceback (most recent call last):
        ...
    ValueError: ...
    """
    with progress_shown(progress):
        answer = _core.reproduce(
            table, os.fspath(data_dir), list(datasets), list(models), grid, os.fspath(tuned), nodes,
            settings_of(options), _place(out, budget, choose_on),
        )  # fmt: skip
    return _study(answer, out)
