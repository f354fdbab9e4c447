# %% [markdown]
# Own data with NetworkX: a graph, features, and a classifier.

# %%
import networkx
import numpy as np

import dgat

club = networkx.karate_club_graph()
y = np.array([club.nodes[node]["club"] for node in club.nodes])
g = dgat.Graph.from_networkx(club)
print(g, {key: round(value, 3) for key, value in dgat.homophily(g, y == "Officer").items() if isinstance(value, float)})

# %%
s = dgat.spectrum(g, gamma=1)
agree = np.mean((s.eigenvectors[:, 0] > 0) == (y == "Officer"))
print(s, "members on the side of their club:", max(agree, 1 - agree).round(2))

# %%
# The usual metric of two classes is ROC AUC. Of the few validation nodes here it would be 1 before anything is learned.
features = np.eye(g.num_nodes)
clf = dgat.DGATClassifier(g, features, hidden=32, layers=1, steps=100, lr=0.01, rewire="none", metric="accuracy")
nodes = np.arange(g.num_nodes)
train = nodes[nodes % 2 == 0]
clf.fit(train, y[train])
print("accuracy on the other half:", clf.score(nodes[1::2], y[1::2]))
