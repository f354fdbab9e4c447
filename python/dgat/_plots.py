"""Plots; the only place that imports matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots()[1]


def plot_spectrum(spectrum: Any, ax: Any = None) -> Any:
    ax = _axes(ax)
    for m, value in enumerate(spectrum.eigenvalues):
        ax.plot(np.sort(spectrum.eigenvectors[:, m]), label=f"eigenvalue {value:.4g}")
    ax.set_xlabel("nodes, sorted")
    ax.set_ylabel("entry of the eigenvector")
    ax.legend()
    return ax


def plot_distances(rewired: Any, ax: Any = None) -> Any:
    ax = _axes(ax)
    ax.hist(rewired.distances(), bins=50)
    if "prune" in rewired.report["mode"]:
        ax.axvline(rewired.report["epsilon"], linestyle="--", color="black", label="threshold")
        ax.legend()
    ax.set_xlabel("spectral distance")
    ax.set_ylabel("edges")
    return ax


def plot_gammas(advice: Any, ax: Any = None) -> Any:
    ax = _axes(ax)
    rows = sorted(advice.gammas, key=lambda row: row["gamma"])
    ax.semilogx([row["gamma"] for row in rows], [row["score"] for row in rows], "o-")
    ax.axhline(advice.reference["score"], linestyle="--", label="graph as it is")
    ax.set_xlabel("gamma")
    ax.set_ylabel("score of the best candidate")
    ax.legend()
    return ax


def plot_history(history: Any, ax: Any = None) -> Any:
    ax = _axes(ax)
    for part in ("train", "val"):
        ax.plot(history["step"], history[part], label=part)
    ax.set_xlabel("step")
    ax.set_ylabel("metric")
    ax.legend()
    return ax


def plot_attention(weights: np.ndarray, ax: Any = None) -> Any:
    ax = _axes(ax)
    for head in range(weights.shape[1]):
        ax.hist(weights[:, head], bins=50, histtype="step", label=f"head {head}")
    ax.set_xlabel("attention weight")
    ax.set_ylabel("arcs")
    ax.legend()
    return ax
