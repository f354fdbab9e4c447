"""Synthetic data sets."""

from __future__ import annotations

from typing import Any

from dgat import _core
from dgat._dataset import Dataset


def _options_of(maker: Any) -> list[str]:
    return [name for name in dir(maker) if not name.startswith("_") and name != "make"]


def generate(kind: str, **options: Any) -> Dataset:
    """A synthetic data set, as ``dgat generate``.

    Parameters
    ----------
    kind : {'csbm', 'minesweeper', 'mixhop', 'worlds'}
        Communities with Gaussian features; the board of the game; growing graphs with hubs and a
        chosen homophily; communities that edges show and roles that features show.
    **options
        Of every kind: ``splits`` (how many), ``split`` (shares such as "60/20/20"), ``seed``. Of
        csbm: ``nodes``, ``classes``, ``degree``, ``homophily``, ``features``, ``signal``. Of
        minesweeper: ``height``, ``width``, ``mines``, ``unknown``. Of mixhop: ``mu``, ``nodes``,
        ``classes``, ``edges_per_node``, ``start``. Of worlds: ``nodes``, ``worlds``, ``degree``,
        ``crossing``, ``homophily``, ``features``, ``noise``. ``dgat generate KIND --help`` has
        their meanings and defaults.

    Returns
    -------
    Dataset
        The same for the same options and seed, on every machine.

    Raises
    ------
    ValueError
        An unknown kind or option, or a value out of range.

    Examples
    --------
    >>> import dgat
    >>> dgat.generate("mixhop", mu=0.2, nodes=500, splits=3)
    Dataset('mixhop', nodes=500, edges=2799, features=2, classes=10, splits=3)
    """
    if kind not in _core.generators:
        raise ValueError(f"generate: kind must be one of {', '.join(_core.generators)}, got {kind!r}")
    maker = _core.generators[kind]()
    for name, value in options.items():
        if name not in _options_of(maker):
            raise ValueError(f"generate: {kind} has no option {name}; it has {', '.join(_options_of(maker))}")
        try:
            setattr(maker, name, value)
        except TypeError:
            wanted = type(getattr(maker, name)).__name__
            raise ValueError(f"generate: {name}: {wanted} was expected, got {value!r}") from None
    return Dataset(maker.make())
