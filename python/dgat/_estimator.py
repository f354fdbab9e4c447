"""What scikit-learn asks of an estimator: parameters, tags, copies. It is not imported."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dgat._docs import shared
from dgat._options import option_docs, options, signature
from dgat._plotted import Plotted


class _Attention(NamedTuple):
    edge_index: np.ndarray
    weights: np.ndarray


class Attention(Plotted, _Attention):
    """Attention weights of one layer: ``edge_index`` (2, arcs), ``weights`` (arcs, heads)."""

    __slots__ = ()


class History(Plotted, dict):  # type: ignore[type-arg]
    """Arrays ``layers``, ``step``, ``loss``, ``train``, ``val``, ``test`` by name."""


class Estimator:
    """Parameters by name. with_options() gives a class derived from it its signature."""

    _estimator_type = "classifier"
    _fixed: dict[str, Any] = {}

    if TYPE_CHECKING:
        validation: Any
        out: Any
        existing: str
        progress: bool

        def __init__(self, graph: Any = None, features: Any = None, **options: Any) -> None: ...

    def _set_up(self, graph: Any, features: Any, given: dict[str, Any]) -> None:
        known = inspect.signature(type(self).__init__).parameters
        for name in given:
            if name not in known:
                raise TypeError(f"{type(self).__name__}: unknown option {name}; dgat.options() lists them")
        self.graph = graph
        self.features = features
        for name, parameter in known.items():
            if name not in ("self", "graph", "features"):
                setattr(self, name, given.get(name, parameter.default))

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name. None: not given, so that recipe and model decide.

        Parameters
        ----------
        deep : bool
            Without effect.

        Returns
        -------
        dict

        Examples
        --------
        >>> import dgat
        >>> dgat.DGATClassifier(gamma=0.3).get_params()["gamma"]
        0.3
        """
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name.

        Parameters
        ----------
        **params

        Returns
        -------
        NodeClassifier
            The object itself.

        Examples
        --------
        >>> import dgat
        >>> dgat.DGATClassifier().set_params(gamma=0.5, hidden=32)
        DGATClassifier(hidden=32, gamma=0.5)
        """
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=False, one_d_array=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def _more_tags(self) -> dict[str, Any]:
        return {"X_types": ["1darray"], "non_deterministic": False, "requires_y": True}

    def __repr__(self) -> str:
        given = []
        for name, value in self.get_params().items():
            default = inspect.signature(type(self).__init__).parameters[name].default
            if name == "features" and value is not None and not isinstance(value, str):
                given.append(f"features={type(value).__name__}{np.shape(value)}")
            elif value is not default:
                given.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_memory_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._memory_: dict[str, Any] = {}  # the network and its predictions, made when they are asked for


_FIRST = [
    inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
    inspect.Parameter("graph", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None),
    inspect.Parameter("features", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None),
    inspect.Parameter("validation", inspect.Parameter.KEYWORD_ONLY, default=None),
    inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None),
    inspect.Parameter("existing", inspect.Parameter.KEYWORD_ONLY, default="resume"),
    inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=False),
]

_DOC = """{summary}

Parameters
----------
graph : Graph, Dataset, or what a Graph can be made from, optional
    The graph, or a data set with its features. A data set is shared by clones, not copied. Edges
    of shape (2, E), graphs of NetworkX and matrices of SciPy become a ``Graph``.
features : array_like or scipy.sparse matrix, shape (N, F), or str, optional
{features}validation : float, optional
    Share of the training nodes held out to choose the best step where ``fit`` is given no
    validation nodes. Default 0.2.
out : str or path, optional
    Folder of the run, as ``dgat train --out``: checkpoints, weights, log. A run that was
    interrupted continues there. Default: nothing is kept on disk.
existing : {{'resume', 'refuse', 'overwrite'}}
    What to do when ``out`` holds a run.
%(progress)s
{options}

Attributes
----------
classes_ : ndarray
    The labels, in the order of the columns of ``predict_proba``.
history_ : History
    Loss and metrics of every evaluation of the chosen depth.
n_features_in_ : int
    Columns of the features.
layers_, best_step_ : int
    The chosen depth, and the first step with the highest validation metric.
summary_ : dict
    As ``summary.json`` of a run.

Notes
-----
None means that an option is not given, and recipe, model and data set decide as in the command
line. Defaults shown are those of recipe residual. The weights are those of the command line, bit
for bit.

Examples
--------
>>> import dgat, numpy as np
>>> nodes, y = np.arange(40), np.arange(40) % 2
>>> ring = dgat.Graph.from_edge_index([nodes, np.roll(nodes, 1)])
>>> clf = dgat.{name}(ring, np.eye(2)[y], hidden=16, layers=1, steps=30, lr=0.01{extra})
>>> clf.fit(nodes[:30], y[:30]).score(nodes[30:], y[30:])
1.0
"""


def _features_doc() -> str:
    """The parameter stands for a matrix and for the option of this name."""
    for row in options():
        if row["key"] == "features":
            return f"    The matrix, or one of {row['value']}: {row['meaning']}. Default {row['default']}.\n"
    return "    The matrix.\n"


def with_options(kind: type, left_out: tuple[str, ...], summary: str, extra: str) -> None:
    """Gives a class a parameter and its documentation for every row of the option table."""

    def __init__(self: Any, graph: Any = None, features: Any = None, **given: Any) -> None:
        self._set_up(graph, features, given)

    __init__.__qualname__ = f"{kind.__name__}.__init__"
    __init__.__signature__ = signature(_FIRST, left_out)  # type: ignore[attr-defined]
    kind.__init__ = __init__  # type: ignore[misc]
    listed = option_docs((*left_out, "features"))
    kind.__doc__ = _DOC.format(
        summary=summary, features=_features_doc(), options=listed, name=kind.__name__, extra=extra
    )
    shared(kind)
