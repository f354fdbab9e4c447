# %% [markdown]
# To PyTorch Geometric and back. Works on any object with edge_index; with torch, tensors stay tensors.

# %%
import sys
import types

import dgat
import dgat.pyg

d = dgat.load(sys.argv[1] if len(sys.argv) > 1 else "texas")
data = types.SimpleNamespace(edge_index=d.graph.edge_index, num_nodes=d.graph.num_nodes, x=d.x, y=d.y)
data = dgat.pyg.DirectionalRewiring(gamma=0.3, epsilon="q0.8")(data)
print(data.edge_index.shape, data.edge_attr.shape, data.phi.shape)
# conv = GATConv(d.num_features, 8, heads=8, edge_dim=2, add_self_loops=False, bias=False)

# %%
options = {"recipe": "classic", "hidden": 64, "heads": 8, "rewire": "none"}
clf = dgat.DGATClassifier(layers=2, steps=50, **options).fit(d)
layers = [dgat.pyg.state_dict(clf, layer) for layer in (0, 1)]  # conv.load_state_dict(layers[0])
back = dgat.pyg.from_state_dict(layers, model="dgat", features=d.num_features, classes=d.classes, **options)
print("the same predictions:", bool((back.predict(d) == clf.predict()).all()))
