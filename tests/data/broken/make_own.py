#!/usr/bin/env python3
"""Writes the broken edge lists, GraphML, GML and CSR archives of this folder (standard library only; the output is
committed). What dgat must say about each stands in expected.txt.
"""
import gzip
from pathlib import Path

from make import archive, array

HERE = Path(__file__).parent


def text(name, content):
    (HERE / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def graphml(name, inside, keys=""):
    text(name, f"<graphml>\n{keys}<graph>\n{inside}</graph></graphml>\n")


def main():
    text("list_one_id.txt", "0 1\n2\n")
    text("list_weight_negative.txt", "0 1 1\n1 2 -2\n")
    text("list_weight_zero.edges", "source,target,weight\n0,1,1\n1,2,0\n")
    text("list_weight_missing.edgelist", "0 1 1\n1 2\n")
    text("list_weight_nan.txt", "0 1 1\n1 2 nan\n")
    text("list_empty.txt", "# nothing\n")
    # 100 MB of blank lines in 100 KB
    text("gzip_bomb.txt.gz", gzip.compress(b"\n" * 100_000_000, 9, mtime=0))
    text("mtx_value_negative.mtx",
         "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -1\n")
    graphml("xml_cut.graphml", "<node id='a'>")
    text("xml_entity.graphml", "<!DOCTYPE g [<!ENTITY a 'b'>]><graphml><graph/></graphml>")
    text("xml_no_graph.graphml", "<html></html>")
    graphml("xml_key_unknown.graphml", "<node id='a'><data key='k'>1</data></node>\n")
    graphml("xml_node_unknown.graphml", "<node id='a'/>\n<edge source='a' target='b'/>\n")
    graphml("xml_hyperedge.graphml", "<node id='a'/>\n<hyperedge/>\n")
    graphml("xml_weight_text.graphml",
            "<node id='a'/><node id='b'/>\n<edge source='a' target='b'><data key='w'>x</data></edge>\n",
            "<key id='w' for='edge' attr.name='weight'/>\n")
    text("gml_open.gml", "graph [\n  node [ id 1\n")
    text("gml_no_id.gml", "graph [\n  node [ label \"a\" ]\n]\n")
    text("gml_deep.gml", "graph " + "[ x " * 1000)
    csr = {"adj_indptr.npy": array("q", [0, 1, 1]), "adj_indices.npy": array("q", [1]),
           "adj_shape.npy": array("q", [2, 2]), "adj_data.npy": array("d", [1.0])}
    for name, change in {
            "csr_not_square": ("adj_shape.npy", array("q", [2, 3])),
            "csr_column": ("adj_indices.npy", array("q", [2])),
            "csr_weight": ("adj_data.npy", array("d", [-1.0])),
            "csr_indptr": ("adj_indptr.npy", array("q", [0, 2, 1])),
            "csr_too_large": ("adj_shape.npy", array("q", [1 << 40, 1 << 40]))}.items():
        text(f"{name}.npz", archive(list({**csr, change[0]: change[1]}.items())))
    ring = array("q", [0, 1, 1, 2], (2, 2))
    text("weights_too_few.npz", archive([("node_labels.npy", array("q", [0, 1, 0])), ("edges.npy", ring),
                                         ("edge_weights.npy", array("d", [1.0]))]))
    text("weights_zero.npz", archive([("node_labels.npy", array("q", [0, 1, 0])), ("edges.npy", ring),
                                      ("edge_weights.npy", array("d", [1.0, 0.0]))]))


if __name__ == "__main__":
    main()
