# %% [markdown]
# Choosing gamma: without training, then by cross-validation.

# %%
import sys

import numpy as np
from sklearn.model_selection import GridSearchCV

import dgat

d = dgat.load(sys.argv[1] if len(sys.argv) > 1 else "texas")
advice = dgat.advise(d, gammas=[0.1, 0.3, 1], rewirings=["none", "add"], race="off")
print(advice.to_pandas().head())

# %%
labels, counts = np.unique(d.y, return_counts=True)
nodes = np.flatnonzero(np.isin(d.y, labels[counts >= 10]))
clf = dgat.DGATClassifier(d, hidden=32, layers=1, steps=50, lr=0.01, rewire="add")
search = GridSearchCV(clf, {"gamma": [0.1, 0.3, 1.0]}, cv=3).fit(nodes, d.y[nodes])
print(search.best_params_, search.cv_results_["mean_test_score"].round(3))
