#!/usr/bin/env python3
"""Writes the MAT-files beside it with SciPy, whose writer is not ours. usage: make.py (needs python3-scipy)"""
import pathlib

import numpy as np
import scipy.io
import scipy.sparse

HERE = pathlib.Path(__file__).parent


def save(name, compressed, **variables):
    scipy.io.savemat(HERE / name, variables, do_compression=compressed)


# The path 0 - 1 - 2 - 3 with the weight 2.5 on its first edge, and a self loop.
weights = np.zeros((4, 4))
for a, b, w in [(0, 1, 2.5), (1, 2, 1), (2, 3, 1)]:
    weights[a, b] = weights[b, a] = w
weights[3, 3] = 1
features = scipy.sparse.csc_matrix(np.array([[1, 0, 0, 0, 0], [0, 0, 0, 0, 7], [0, 0, 0, 0, 0], [0, 0, 300, 0, 0]]))
adjacency = scipy.sparse.csc_matrix(weights)
save("deezer.mat", True, A=adjacency, label=np.array([[0, 1, 1, 0]]), features=features)
save("yelp.mat", False, homo=adjacency, label=np.array([[3], [9], [-1], [3]]), features=features, net_rur=adjacency,
     comment="a text")

# Arcs 0 -> 1 and 2 -> 1, and a node without an edge.
save("pokec.mat", True, edge_index=np.array([[0, 2], [1, 1]]), label=np.array([[1, -1, 0, 1]]),
     node_feat=np.array([[0.5, 1], [2, 3], [-4, 5], [6, 7]]), num_nodes=4)
save("genius.mat", False, edge_index=np.array([[0, 2], [1, 1]], dtype=np.int32),
     label=np.array([[0.0], [np.nan], [1.0]]), node_feat=np.array([[1.0], [2.0], [3.0]], dtype=np.float32))

# status, gender, major, second major, dormitory, year, high school; 0 is missing.
people = np.array([[1, 2, 10, 0, 5, 2004, 7], [1, 0, 10, 0, 6, 2004, 7], [2, 1, 11, 0, 5, 0, 8], [1, 1, 12, 0, 5, 2004, 9]])
save("reed.mat", True, A=scipy.sparse.csc_matrix((weights > 0).astype(float)), local_info=people.astype(float))
