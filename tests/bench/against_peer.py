#!/usr/bin/env python3
"""Time the engine and the PyTorch peer alternately in one session, and write one table.

    against_peer.py FOXHUNT_CLI PEER_BENCHMARK_PY [--batch 256 1024 8192] [--rounds 3] [--json FILE]
    against_peer.py FOXHUNT_CLI PEER_BENCHMARK_PY --cpu [--threads 2]

The peer is built once a batch (its graph of compiled steps, one step and eight a graph) and replayed in every round,
between two benches of the engine, so that clocks and neighbours fall on both. Figures are medians over the rounds,
microseconds a step; the ratio is that of the peer's best variant. Needs torch; exit 1 when one side could not run.
"""

import argparse
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys


def load_peer(path: pathlib.Path):
    sys.path.insert(0, str(path.parent))                 # it imports learner.py beside it
    spec = importlib.util.spec_from_file_location("peer_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def engine_us(cli: str, batch: int, a: argparse.Namespace) -> float:
    device = ["--device", "cpu", "--threads", str(a.threads)] if a.cpu else ["--device", "cuda", "--precision", a.precision]
    run = subprocess.run([cli, "bench", "--json", "--quiet", "--batch", str(batch), *device], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"the engine's bench failed: {run.stderr.strip()[-400:]}")
    return json.loads(run.stdout)["rows"][0]["us_per_step"]


def peer_variants(peer, batch: int, a: argparse.Namespace):
    """Pairs of a name and a function that times the variant once."""
    import torch
    if a.cpu:
        peer.DEV = "cpu"
        torch.set_num_threads(a.threads)
        runs = [("compile", "default")]
    else:
        torch.backends.cuda.matmul.allow_tf32 = a.precision != "fp32"
        runs = [("compile+graph", "default")]
    for name, mode in runs:
        p = peer.Peer(peer.Config(), batch, a.capacity, mode)
        if a.cpu:
            yield name, lambda p=p: peer.median_us(p.step, 10)
            continue
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(4):
                p.step()
        torch.cuda.current_stream().wait_stream(side)
        for k in (1, 8):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(k):
                    p.step()
            yield f"{name} x{k}", lambda g=graph, k=k: peer.median_us(g.replay, max(5, 50 // k)) / k


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("cli")
    ap.add_argument("peer", type=pathlib.Path)
    ap.add_argument("--batch", type=int, nargs="+")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--precision", default="tf32")
    ap.add_argument("--cpu", action="store_true")
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--json")
    a = ap.parse_args()
    a.capacity = 65536 if a.cpu else 1 << 20
    peer = load_peer(a.peer.resolve())
    rows = []
    for batch in a.batch or ([64] if a.cpu else [256, 1024, 8192]):
        variants = dict(peer_variants(peer, batch, a))
        ours, theirs = [], {name: [] for name in variants}
        for _ in range(a.rounds):
            ours.append(engine_us(a.cli, batch, a))
            for name, time in variants.items():
                theirs[name].append(time())
        ours.append(engine_us(a.cli, batch, a))
        best = min(theirs, key=lambda n: statistics.median(theirs[n]))
        row = {"batch": batch, "engine_us": statistics.median(ours), "engine_rounds": ours,
               "peer": {n: statistics.median(x) for n, x in theirs.items()}, "best_variant": best}
        row["ratio"] = row["peer"][best] / row["engine_us"]
        rows.append(row)
        peers = "  ".join(f"{n} {x:.0f}" for n, x in row["peer"].items())
        print(f"batch {batch:5d}  engine {row['engine_us']:8.1f} us  peer: {peers}  ratio {row['ratio']:.2f}", flush=True)
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
