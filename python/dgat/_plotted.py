"""The method plot() of everything that has a drawing. matplotlib is not imported."""

from __future__ import annotations

from typing import Any


class Plotted:
    """Something with a drawing."""

    __slots__ = ()

    def plot(self, ax: Any = None) -> Any:
        """Draws with matplotlib.

        The drawing of a ``Spectrum`` is the sorted entries of every eigenvector; of ``Rewired``,
        the distances of the edges and the threshold of pruning; of ``Advice``, the score over
        gamma; of ``History``, the metrics over the steps; of ``Attention``, the weights of every
        head.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: new axes.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import dgat
        >>> path = dgat.Graph.from_edge_index([[0, 1], [1, 2]])
        >>> len(dgat.spectrum(path, k=2).plot().lines)
        2
        """
        from dgat._plots import plot

        return plot(self, ax)
