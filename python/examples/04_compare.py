# %% [markdown]
# Comparing models. With models="all" these are the 25 of `dgat models`; a folder keeps what is finished.

# %%
import sys

import dgat

d = dgat.load(sys.argv[1] if len(sys.argv) > 1 else "texas")
models = sys.argv[2] if len(sys.argv) > 2 else "all"
study = dgat.compare(d, models=models, splits=2, hidden=32, layers=1, steps=20)
print(study.to_pandas()[["model", "test_mean", "test_std", "rank"]].to_string(index=False))
