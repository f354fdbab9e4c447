#!/usr/bin/env python3
"""One training step of the same network in the peers, beside step_bench.

    python3 bench/peers/step.py --data ../shared/datasets --bench build/release/bin/step_bench [--json] [CASE...]

Runs forward, backward, AdamW and one evaluation forward of the two-layer residual network (hidden
512, 8 heads) in torch (gather and scatter), PyTorch Geometric (GATConv) and DGL (GATConv), whichever
can be imported, and prints seconds per step and the ratio to dgat. Graphs without attention edge
features (gat), so that every peer can take part; step_bench runs with --model gat. --json prints an object per row.
"""

import argparse
import json
import os
import subprocess
import time

THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))

try:
    import numpy as np
    import torch
except ImportError as error:
    raise SystemExit(f"peers: {error}; nothing to compare with")

try:
    import torch_geometric.nn as pyg
except ImportError:
    pyg = None
try:
    os.environ.setdefault("DGLBACKEND", "pytorch")
    import dgl
    import dgl.nn.pytorch as dglnn
except ImportError:
    dgl = None

STEPS = {"minesweeper": 3, "tolokers": 2, "squirrel_filtered": 6, "chameleon_filtered": 12,
         "texas": 200}
HEADS = 8


def load(folder, name):
    data = np.load(os.path.join(folder, name + ".npz"))
    edges = data["edges"]
    edges = edges[edges[:, 0] != edges[:, 1]]
    arcs = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    n = data["node_features"].shape[0]
    loops = np.stack([np.arange(n), np.arange(n)], axis=1)
    arcs = np.concatenate([arcs, loops])
    arcs = arcs[np.lexsort((arcs[:, 1], arcs[:, 0]))]
    x = torch.from_numpy(data["node_features"].astype(np.float32))
    labels = torch.from_numpy(data["node_labels"].astype(np.int64))
    train = torch.from_numpy(data["train_masks"][0])
    return torch.from_numpy(arcs.T.copy()), x, labels, train


class ScatterAttention(torch.nn.Module):
    """The formulas with gather, softmax by scatter, and index_add."""

    def __init__(self, width):
        super().__init__()
        self.lin = torch.nn.Linear(width, width)
        self.src = torch.nn.Linear(width, HEADS)
        self.dst = torch.nn.Linear(width, HEADS, bias=False)

    def forward(self, x, graph):
        receiver, sender = graph
        y = self.lin(x)
        n, d = y.shape
        score = torch.nn.functional.leaky_relu(self.dst(y)[receiver] + self.src(y)[sender], 0.2)
        top = torch.full((n, HEADS), -1e30).scatter_reduce(
            0, receiver[:, None].expand(-1, HEADS), score.detach(), "amax")
        weight = (score - top[receiver]).exp()
        total = torch.zeros(n, HEADS).index_add(0, receiver, weight)
        weight = weight / total[receiver]
        message = weight[:, :, None] * y.view(n, HEADS, -1)[sender]
        return torch.zeros(n, HEADS, d // HEADS).index_add(0, receiver, message).view(n, d)


class PygAttention(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = pyg.GATConv(width, width // HEADS, HEADS, add_self_loops=False)

    def forward(self, x, graph):
        return self.conv(x, graph.flip(0))


class DglAttention(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = dglnn.GATConv(width, width // HEADS, HEADS, allow_zero_in_degree=True)

    def forward(self, x, graph):
        return self.conv(graph, x).flatten(1)


class Network(torch.nn.Module):
    def __init__(self, attention, features, width, outputs, layers=2):
        super().__init__()
        nn = torch.nn
        self.input = nn.Linear(features, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.attention = nn.ModuleList(attention(width) for _ in range(layers))
        self.ffn = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.Dropout(0.2), nn.GELU(),
                          nn.Linear(width, width), nn.Dropout(0.2)) for _ in range(layers))
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, outputs))

    def forward(self, x, graph):
        x = torch.nn.functional.gelu(torch.nn.functional.dropout(self.input(x), 0.2, self.training))
        for norm, attention, ffn in zip(self.norms, self.attention, self.ffn):
            x = x + ffn(attention(norm(x), graph))
        return self.out(x)


def seconds_per_step(attention, graph, x, labels, train, width, steps):
    torch.manual_seed(0)
    classes = int(labels.max()) + 1
    net = Network(attention, x.shape[1], width, 1 if classes == 2 else classes)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-5, weight_decay=0)
    times = []
    for _ in range(steps + 1):
        start = time.perf_counter()
        net.train()
        logits = net(x, graph)[train]
        target = labels[train]
        if classes == 2:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], target.float())
        else:
            loss = torch.nn.functional.cross_entropy(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        net.eval()
        with torch.no_grad():
            net(x, graph)
        times.append(time.perf_counter() - start)
    return sorted(times[1:])[len(times[1:]) // 2]


def dgat_seconds(bench, folder, name):
    if not bench:
        return None
    output = subprocess.run([bench, "--data", folder, "--model", "gat", "--threads", str(THREADS), "--json", name],
                            capture_output=True, text=True, check=True).stdout
    return json.loads(output.splitlines()[0])["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/datasets")
    parser.add_argument("--bench", help="step_bench, to print the ratio")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("cases", nargs="*", default=list(STEPS))
    args = parser.parse_args()
    torch.set_num_threads(THREADS)
    peers = {"torch": ScatterAttention}
    for name, module, attention in (("pyg", pyg, PygAttention), ("dgl", dgl, DglAttention)):
        if module is not None:
            peers[name] = attention
        elif not args.json:
            print(f"{name} is missing: not compared")
    if not args.json:
        print(f"{'graph':<20}{'dgat s':>10}" + "".join(f"{p + ' s':>10}{'ratio':>8}" for p in peers))
    for name in args.cases:
        graph, x, labels, train = load(args.data, name)
        ours = dgat_seconds(args.bench, args.data, name)
        record = {"dataset": name, "dgat": ours}
        line = f"{name:<20}" + (f"{ours:>10.4f}" if ours else f"{'-':>10}")
        for peer, attention in peers.items():
            form = dgl.graph((graph[1], graph[0])) if peer == "dgl" else graph
            width = 64 if name == "texas" else 512
            theirs = seconds_per_step(attention, form, x, labels, train, width, STEPS.get(name, 3))
            record[peer] = theirs
            line += f"{theirs:>10.4f}" + (f"{theirs / ours:>8.2f}" if ours else f"{'-':>8}")
        record["peer"] = min(record[peer] for peer in peers)
        record["ratio"] = record["peer"] / ours if ours else None
        print(json.dumps(record) if args.json else line, flush=True)


if __name__ == "__main__":
    main()
