"""Arguments of fit() and predict(): node numbers, masks, targets."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from dgat._graph import _array, _index_array


def is_node_list(x: Any) -> bool:
    array = _array(x)
    return array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)


def node_numbers(x: Any, nodes: int, name: str = "nodes") -> np.ndarray:
    """From numbers, or from a mask of bool."""
    array = _array(x)
    if array.dtype == bool:
        if array.size != nodes:
            raise ValueError(f"{name}: a mask has one entry per node, got {array.size} for {nodes} nodes")
        return np.flatnonzero(array)
    numbers = _index_array(array, name).reshape(-1)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= nodes):
        wrong = numbers[(numbers < 0) | (numbers >= nodes)][0]
        raise ValueError(f"{name}: node {wrong} is outside [0, {nodes})")
    return numbers


def part_numbers(mask: Any, nodes: int, name: str) -> np.ndarray:
    if mask is None:
        return np.empty(0, dtype=np.int32)
    numbers = node_numbers(mask, nodes, name)
    if np.unique(numbers).size != numbers.size:
        raise ValueError(f"{name}: a node is named twice; a mask has the type bool")
    return numbers.astype(np.int32)


def labels_for(x: Any, y: Any, count: int) -> np.ndarray:
    """One label for each of the `count` nodes x; where x is a mask, y may have one for every node."""
    labels, chosen = _array(y).reshape(-1), _array(x)
    if chosen.dtype == bool and labels.size == chosen.size:
        labels = labels[chosen.reshape(-1)]
    if labels.size != count:
        raise ValueError(f"y: one label per node was expected, got {count} nodes and {labels.size} labels")
    return labels


def _is_label(y: Any) -> bool:
    return not (y is None or type(y).__name__ == "NAType" or y != y or (not isinstance(y, str) and y == -1))


def labelled(targets: np.ndarray) -> np.ndarray:
    """Which labels there are: -1 and, among objects, None, NaN and pandas.NA stand for none."""
    if targets.dtype == object:
        return np.array([_is_label(y) for y in targets])
    return targets != -1 if targets.dtype.kind in "if" else np.ones(targets.size, dtype=bool)


def targets_of(y: Any) -> np.ndarray:
    array = _array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        known = sys.modules.get("sklearn.exceptions")  # a caller that filters its warnings has imported it
        category = known.DataConversionWarning if known is not None else UserWarning
        text = "A column-vector y was passed when a 1d array was expected; use y.ravel()"
        warnings.warn(text, category, stacklevel=4)
    return array.reshape(-1)
