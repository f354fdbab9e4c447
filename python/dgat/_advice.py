"""Which graph to train on: a ranking without training, and a race of short trainings."""

from __future__ import annotations

import dataclasses
import html
from typing import Any, Optional, Sequence, Union

from dgat import _core
from dgat._dataset import _dataset
from dgat._docs import shared
from dgat._messages import progress_shown
from dgat._options import settings_of, time_of
from dgat._plotted import Plotted


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Advice(Plotted):
    """Candidates for gamma, alpha and the rewiring, best first.

    Attributes
    ----------
    candidates : list of dict
        gamma, alpha, rewire, epsilon, score, held_out, gain, gain_error, and what it does to edges.
        After a race, those that raced come first, in its order, with ``val``, ``steps`` and ``splits``.
    gammas : list of dict
        What phi looks like at each gamma, and the best score there.
    reference : dict
        The graph as it is.
    clear : bool
        Whether the best beats the reference by more than chance explains.
    reason : str
        A paragraph for a person.
    race : dict or None
        metric, trainings, validation_nodes, gain, error, left_out, candidates. None: the ranking
        is the answer.
    """

    dataset: str
    split: int
    training_nodes: int
    metric: str
    adjusted_homophily: float
    clear: bool
    reason: str
    seconds: float
    reference: dict[str, Any]
    candidates: list[dict[str, Any]]
    gammas: list[dict[str, Any]]
    race: Optional[dict[str, Any]] = None

    @property
    def best(self) -> dict[str, Any]:
        """gamma, alpha, rewire and epsilon of the best candidate.

        For ``dgat.rewire(data, best)`` and ``DGATClassifier(**best)``.
        """
        return _choice(self.candidates[0])

    @shared
    def to_pandas(self) -> Any:
        """The candidates as a data frame.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        %(blocks)s
        >>> dgat.advise(d, gammas=[0.3], rewirings=["none", "add"], race="off").to_pandas().columns[:4].to_list()
        ['gamma', 'alpha', 'rewire', 'epsilon']
        """
        import pandas

        columns = [*_CHOICE, *(_RACED if self.race else ()), "score", "held_out", "gain", "gain_error", "edges_after"]
        return pandas.DataFrame([{key: row[key] for key in columns} for row in self.candidates])

    def __repr__(self) -> str:
        return f"Advice({self.dataset!r}, split={self.split}, best={self.best}, clear={self.clear})"

    def _repr_html_(self) -> str:
        return self.to_pandas().to_html() + "<p>" + html.escape(self.reason) + "</p>"

    def __str__(self) -> str:
        lines = [f"{self.dataset}, split {self.split}: {self.training_nodes} training nodes"]
        for row in [c for c in self.candidates if not c["repeated"]][:10]:
            what = f"{row['rewire']} {row['epsilon'] or ''}".strip()
            raced = f", validation {100 * row['val']:.2f}%" if row.get("steps") else ""
            lines.append(f"  gamma {row['gamma']:g}, alpha {row['alpha']:g}, {what}: score {row['score']:.4f}{raced}")
        return "\n".join([*lines, self.reason])


_CHOICE = ("gamma", "alpha", "rewire", "epsilon")
_RACED = ("val", "steps", "splits")


def _choice(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in _CHOICE}


def _in_order_of_the_race(out: dict[str, Any]) -> list[dict[str, Any]]:
    """What raced, then the rest of the ranking."""
    scored = {tuple(_choice(row).values()): row for row in [out["reference"], *out["candidates"]]}
    rows = []
    for raced in out["race"]["candidates"]:
        row = scored.pop(tuple(_choice(raced).values()))
        rows.append({**row, **{key: raced[key] for key in _RACED}})
    others = [row for row in out["candidates"] if tuple(_choice(row).values()) in scored]
    return rows + [{**row, "val": float("nan"), "steps": 0, "splits": 0} for row in others]


@shared
def advise(
    data: Any,
    *,
    split: Optional[int] = None,
    gammas: Sequence[float] = (),
    alphas: Sequence[float] = (),
    rewirings: Sequence[str] = (),
    race: Union[str, float] = "60s",
    trials: Optional[int] = None,
    model: str = "dgat",
    recipe: str = "residual",
    components: str = "each",
    features: str = "auto",
    seed: int = 0,
    progress: bool = False,
) -> Advice:
    """Ranks graphs to train on and lets the best race in short trainings, as ``dgat advise``.

    The ranking reads training labels only and trains nothing. The race decides on validation
    nodes. Nothing reads test labels.

    Parameters
    ----------
    %(data)s
    split : int, optional
        Whose labels count. Default: 0, and for the race the first ones.
    gammas, alphas : sequence of float, optional
        Values to score; defaults as in the command line.
    rewirings : sequence of str, optional
        A mode, or mode:epsilon, such as "prune-far:q0.5".
    race : str or float
        Time for ranking and trainings together: "60s", "5m", or seconds. "off": only rank.
    trials : int, optional
        Trainings of the race, in place of time: the same result on every machine.
    model : str
        A directional model.
    recipe : {'residual', 'classic', 'deep'}
        Of the trainings of the race.
    %(components)s
    features : {'auto', 'degree', 'phi', 'onehot', 'none'}
        Features made from the graph; auto: where the data set has none.
    seed : int
        Of the held-out nodes and the trainings.
    %(progress)s

    Returns
    -------
    Advice

    Examples
    --------
    %(blocks)s
    >>> advice = dgat.advise(d, gammas=[0.3, 1], rewirings=["none", "add"], race="off")
    >>> sorted(advice.best)
    ['alpha', 'epsilon', 'gamma', 'rewire']
    """
    settings = settings_of(
        {"model": model, "recipe": recipe, "components": components, "features": features, "seed": seed}
    )
    with progress_shown(progress):
        out = _core.advise(
            _dataset(data)._set, split, settings, list(gammas), list(alphas), list(rewirings), time_of(race), trials or 0
        )
    if out["race"]:
        out["candidates"] = _in_order_of_the_race(out)
    return Advice(**out)
