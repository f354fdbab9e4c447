#!/usr/bin/env python3
"""The networks of dgat against torch, through files alone.

usage: torch_oracle.py path/to/dgat       (exit code 77: torch or numpy is missing)

For every model: train a few steps with the binary, read its weights from the safetensors file (with
our own few lines), repeat forward, backward and AdamW in torch from the initial weights, and compare
weights and probabilities. The eigenvector comes from a dense decomposition in numpy.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
ALPHA, GAMMA = 0.7, 0.4
HEADS, HIDDEN, LAYERS, LR = 2, 16, 2, 1e-3
STEPS = 4


def dgat(binary, *arguments):
    result = subprocess.run([binary, *arguments, "--quiet"], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"dgat {' '.join(arguments)}: {result.stderr}")


def read_safetensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        body = file.read()
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32"
        begin, end = entry["data_offsets"]
        array = np.frombuffer(body[begin:end], dtype="<f4").reshape(entry["shape"])
        tensors[name] = torch.from_numpy(array.astype(np.float64))
    return tensors, metadata


def eigenvector(adjacency):
    """phi of L(alpha, gamma): M^(1/2 - alpha) u with S u = lambda u, unit norm, largest entry > 0."""
    degree = adjacency.sum(1)
    mass = GAMMA * degree + 1 - GAMMA
    root = 1 / np.sqrt(mass)
    laplacian = GAMMA * root[:, None] * (np.diag(degree) - adjacency) * root[None, :]
    values, vectors = np.linalg.eigh(laplacian)
    assert values[1] > 1e-9 and values[2] - values[1] > 1e-6, "connected, simple eigenvalue"
    phi = mass ** (0.5 - ALPHA) * vectors[:, 1]
    phi /= np.linalg.norm(phi)
    return phi * np.sign(phi[np.argmax(np.abs(phi))])


def edge_features(adjacency, phi):
    difference = (phi[None, :] - phi[:, None]) * adjacency
    field = difference / (np.abs(difference).sum(1, keepdims=True) + 1e-8)
    average, derivative = np.abs(field), field.copy()
    np.fill_diagonal(average, 0)
    np.fill_diagonal(derivative, -field.sum(1))
    features = np.stack([average, derivative], axis=-1).astype(np.float32)
    return torch.from_numpy(features.astype(np.float64))


class Net:
    def __init__(self, model, weights, adjacency, features):
        self.sep = model.endswith("-sep")
        base = model[:-4] if self.sep else model
        self.directional = base.startswith("d")
        self.base = base[1:] if self.directional else base
        self.w = {name: value.clone().requires_grad_(True) for name, value in weights.items()}
        self.adjacency = torch.from_numpy(adjacency)
        # gat-sep and gt-sep attend over the neighbours alone, all others also over the node itself.
        loops = model not in ("gat-sep", "gt-sep")
        self.mask = self.adjacency + loops * torch.eye(len(adjacency)) > 0
        self.edges = features

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm(self, name, x):
        return F.layer_norm(x, (HIDDEN,), self.w[name + ".weight"], self.w[name + ".bias"])

    def ffn(self, at, x):
        return self.linear(at + "ffn.1", F.gelu(self.linear(at + "ffn.0", x)))

    def attend(self, score, values):
        """score [n, n, heads], values [n, hidden]."""
        alpha = score.masked_fill(~self.mask[:, :, None], -torch.inf).softmax(dim=1)
        n = len(values)
        return torch.einsum("ijh,jhd->ihd", alpha, values.view(n, HEADS, -1)).reshape(n, -1)

    def edge_score(self, at):
        if not self.directional:
            return 0.0
        return self.linear(at + "att_edge", self.linear(at + "lin_edge", self.edges))

    def layer(self, at, x):
        y = self.norm(at + "norm", x)
        n = len(x)
        if self.base == "gat":
            y = self.linear(at + "lin", y)
            score = self.linear(at + "att_dst", y)[:, None] + self.linear(at + "att_src", y)[None]
            message = self.attend(F.leaky_relu(score + self.edge_score(at), 0.2), y)
        elif self.base == "gatv2":
            target = self.linear(at + "lin_dst", y).view(n, 1, HEADS, -1)
            y = self.linear(at + "lin_src", y)
            pairs = F.leaky_relu(target + y.view(1, n, HEADS, -1), 0.2)
            message = self.attend(
                torch.einsum("ijhd,hd->ijh", pairs, self.w[at + "att"]) + self.edge_score(at), y)
        elif self.base == "gt":
            q, k, v = (self.linear(at + "lin_" + part, y) for part in ("query", "key", "value"))
            score = torch.einsum("ihd,jhd->ijh", q.view(n, HEADS, -1), k.view(n, HEADS, -1))
            message = self.attend(score / (HIDDEN // HEADS) ** 0.5 + self.edge_score(at), v)
            if self.sep:
                message = torch.cat([y, message], dim=1)
            x = x + self.linear(at + "lin_out", message)
            return x + self.ffn(at, self.norm(at + "norm_ffn", x))
        elif self.base == "gcn":
            looped = self.adjacency + torch.eye(n)
            scale = looped.sum(1) ** -0.5
            message = scale[:, None] * (looped @ (scale[:, None] * y))
        elif self.base == "sage":
            message = torch.cat([y, self.adjacency @ y / self.adjacency.sum(1, keepdim=True)], 1)
        else:
            message = y
        if self.sep:
            message = torch.cat([y, message], dim=1)
        return x + self.ffn(at, message)

    def forward(self, x):
        x = F.gelu(self.linear("input", x))
        for layer in range(LAYERS):
            x = self.layer(f"layers.{layer}.", x)
        return self.linear("output", self.norm("norm", x))


def check(binary, folder, model, data, phi):
    common = ["--model", model, "--layers", str(LAYERS), "--hidden", str(HIDDEN), "--heads",
              str(HEADS), "--dropout", "0", "--splits", "1", "--rewire", "none", "--alpha",
              str(ALPHA), "--gamma", str(GAMMA), "--seed", "3"]
    path = os.path.join(folder, "data.npz")
    dgat(binary, "train", path, *common, "--lr", "0", "--steps", "1", "--out",
         os.path.join(folder, model + "-start"))
    dgat(binary, "train", path, *common, "--lr", str(LR), "--steps", str(STEPS), "--eval-every",
         str(STEPS), "--out", os.path.join(folder, model))
    dgat(binary, "predict", os.path.join(folder, model), "--out", os.path.join(folder, "p.npz"))
    start, _ = read_safetensors(os.path.join(folder, model + "-start", "split-0.safetensors"))
    trained, metadata = read_safetensors(os.path.join(folder, model, "split-0.safetensors"))
    assert int(metadata["dgat.best_step"]) == STEPS
    probabilities = np.load(os.path.join(folder, "p.npz"))["probabilities"]

    net = Net(model, start, data["adjacency"], edge_features(data["adjacency"], phi))
    optimizer = torch.optim.AdamW(net.w.values(), lr=LR, weight_decay=0)
    for _ in range(STEPS):
        logits = net.forward(data["x"])
        loss = F.cross_entropy(logits[data["train"]], data["labels"][data["train"]])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    # Adam divides by the root of the second moment: rounding of tiny gradients in float32 can turn an
    # update around. So weights are compared by the bulk, without those whose gradient is 0 in exact
    # arithmetic (a bias under a softmax), and probabilities by all entries.
    worst = 0.0
    for name, value in net.w.items():
        if value.grad.abs().max() < 1e-10:
            continue
        close = ((value.detach() - trained[name]).abs() < 0.1 * LR * STEPS).double().mean().item()
        worst = max(worst, 1 - close)
    expected = net.forward(data["x"]).softmax(dim=1).detach().numpy()
    error = np.abs(expected - probabilities).max()
    print(f"{model:<12} largest error of a probability {error:.1e}, weights off {100 * worst:.2f}%")
    return error < 2e-4 and worst < 0.05


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.npz")
        dgat(binary, "generate", "csbm", "--nodes", "120", "--classes", "3", "--degree", "8",
             "--splits", "1", "--seed", "5", "--out", path)
        file = np.load(path)
        n = len(file["node_labels"])
        adjacency = np.zeros((n, n))
        for a, b in file["edges"]:
            adjacency[a, b] = adjacency[b, a] = 1
        data = {"adjacency": adjacency,
                "x": torch.from_numpy(file["node_features"].astype(np.float64)),
                "labels": torch.from_numpy(file["node_labels"].astype(np.int64)),
                "train": torch.from_numpy(file["train_masks"][0].astype(bool))}
        phi = eigenvector(adjacency)
        models = ["gcn", "sage", "resnet"]
        for base in ("gat", "gatv2", "gt"):
            models += [base, base + "-sep", "d" + base, "d" + base + "-sep"]
        failed = [m for m in models if not check(binary, folder, m, data, phi)]
    if failed:
        sys.exit(f"differ from torch: {' '.join(failed)}")


if __name__ == "__main__":
    main()
