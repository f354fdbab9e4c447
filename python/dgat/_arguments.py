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


def node_numbers(x: Any, nodes: int) -> np.ndarray:
    array = _array(x)
    if array.dtype == bool and array.shape == (nodes,):
        return np.flatnonzero(array)
    numbers = _index_array(array, "nodes").reshape(-1)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= nodes):
        raise ValueError(f"nodes: numbers must lie in [0, {nodes})")
    return numbers


def part_numbers(mask: Any, nodes: int, name: str) -> np.ndarray:
    if mask is None:
        return np.empty(0, dtype=np.int32)
    numbers = node_numbers(mask, nodes)
    if np.unique(numbers).size != numbers.size:
        raise ValueError(f"{name}: a node is named twice")
    return numbers.astype(np.int32)


def targets_of(y: Any) -> np.ndarray:
    array = _array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        known = sys.modules.get("sklearn.exceptions")  # a caller that filters its warnings has imported it
        category = known.DataConversionWarning if known is not None else UserWarning
        text = "A column-vector y was passed when a 1d array was expected; use y.ravel()"
        warnings.warn(text, category, stacklevel=4)
    return array.reshape(-1)
