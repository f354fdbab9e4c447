#!/usr/bin/env python3
"""Writes the broken text data sets of this folder (standard library only; the output is committed).

csv_* and geom_* are folders, the others MatrixMarket files; each is one small data set with one
thing wrong. What dgat must say about it stands in expected.txt.
"""
import gzip
import shutil
from pathlib import Path

from make import archive, array

HERE = Path(__file__).parent
NODES = "id,label,x,y\na,red,1,0\nb,blue,0,2\nc,,3,0.5\n"
EDGES = "source,target\na,b\nb,c\n"
GEOM_NODES = "node_id\tfeature\tlabel\n0\t1,0,0\t0\n1\t0,1,0\t1\n2\t0,0,1\t0\n"
GEOM_EDGES = "node_id\tnode_id\n0\t1\n1\t2\n"
NODE_FILE, EDGE_FILE = "out1_node_feature_label.txt", "out1_graph_edges.txt"
BANNER = "%%MatrixMarket matrix coordinate pattern general\n"


def as_bytes(content):
    return content if isinstance(content, bytes) else content.encode()


def folder(name, **files):
    """files: name with '.' as '__'; None leaves a file out."""
    place = HERE / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for file, content in files.items():
        if content is not None:
            (place / file.replace("__", ".")).write_bytes(as_bytes(content))


def csv(name, nodes=NODES, edges=EDGES, **more):
    folder(name, nodes__csv=nodes, edges__csv=edges, **more)


def geom(name, nodes=GEOM_NODES, edges=GEOM_EDGES, splits=None):
    folder(name, **{NODE_FILE.replace(".", "__"): nodes, EDGE_FILE.replace(".", "__"): edges})
    if splits is not None:
        (HERE / name / f"{name}_split_0.6_0.2_0.npz").write_bytes(splits)


def mtx(name, content):
    (HERE / f"{name}.mtx").write_bytes(as_bytes(content))


def masks(train, val, test):
    return archive([("train_mask.npy", array("B", train)), ("val_mask.npy", array("B", val)),
                    ("test_mask.npy", array("B", test))])


def csv_cases():
    csv("csv_ragged_row", nodes="id,label,x,y\na,red,1,0\nb,blue,0\n")
    csv("csv_header_unknown", nodes="person,label,x\na,red,tall\n")
    csv("csv_feature_text", nodes="id,label,x\na,red,1\nb,blue,tall\n")
    csv("csv_feature_empty", nodes="id,label,x\na,red,1\nb,blue,\n")
    csv("csv_feature_nan", nodes="id,label,x\na,red,nan\nb,blue,1\n")
    csv("csv_feature_infinite", nodes="id,label,x\na,red,1e39\nb,blue,1\n")
    csv("csv_id_twice", nodes=NODES + "\n# again\nb,red,1,1\n")
    csv("csv_id_empty", nodes=NODES + ",red,1,1\n")
    csv("csv_edge_unknown_id", edges=EDGES + "c,nobody\n")
    csv("csv_edge_one_id", edges="source,target\na\n")
    csv("csv_quote_open", nodes='id,label,x,y\na,red,1,0\n"b,blue,0,2\nc,,3,0.5\n')
    csv("csv_quote_followed", nodes='id,label,x,y\n"a" b,red,1,0\n')
    csv("csv_nodes_empty", nodes="# nothing\n\n")
    csv("csv_no_edges_file", edges=None)
    csv("csv_only_edges_empty", nodes=None, edges="source,target\n")
    csv("csv_utf16", nodes=NODES.encode("utf-16"))
    packed = gzip.compress(NODES.encode(), mtime=0)
    csv("csv_gzip_cut", nodes=None, nodes__csv__gz=packed[: len(packed) // 2])
    csv("csv_gzip_damaged", nodes=None,
        nodes__csv__gz=packed[:-8] + bytes([packed[-8] ^ 0xFF]) + packed[-7:])
    csv("csv_split_word", splits__csv="id,split0\na,train\nb,both\n")
    csv("csv_split_unknown_id", splits__csv="id,split0\nz,train\n")
    csv("csv_split_ragged", splits__csv="id,split0,split1\na,train\n")


def geom_cases():
    geom("geom_no_edges_file", edges=None)
    geom("geom_no_nodes_file", nodes=None)
    geom("geom_nodes_empty", nodes="")
    geom("geom_header_missing", nodes=GEOM_NODES.split("\n", 1)[1])
    geom("geom_edge_header_missing", edges="0\t1\n1\t2\n")
    geom("geom_two_fields", nodes=GEOM_NODES + "3\t0,0,1\n")
    geom("geom_ragged_features", nodes=GEOM_NODES + "3\t0,1\t1\n")
    geom("geom_feature_text", nodes=GEOM_NODES + "3\t0,x,1\t1\n")
    geom("geom_feature_nan", nodes=GEOM_NODES + "3\t0,nan,1\t1\n")
    geom("geom_index_negative", nodes="node_id\tfeature(feature_amount:4)\tlabel\n0\t1,-2\t0\n")
    geom("geom_id_twice", nodes=GEOM_NODES + "1\t0,0,1\t1\n")
    geom("geom_id_too_large", nodes=GEOM_NODES + "4\t0,0,1\t1\n")
    geom("geom_id_text", nodes=GEOM_NODES + "x\t0,0,1\t1\n")
    geom("geom_label_text", nodes=GEOM_NODES + "3\t0,0,1\tred\n")
    geom("geom_label_too_small", nodes=GEOM_NODES + "3\t0,0,1\t-2\n")
    geom("geom_edge_id_too_large", edges=GEOM_EDGES + "0\t3\n")
    geom("geom_edge_id_negative", edges=GEOM_EDGES + "-1\t0\n")
    geom("geom_edge_three_ids", edges=GEOM_EDGES + "0\t1\t2\n")
    geom("geom_split_length", splits=masks([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]))
    geom("geom_split_value", splits=masks([1, 0, 0], [0, 5, 0], [0, 0, 1]))
    geom("geom_split_overlap", splits=masks([1, 0, 0], [1, 0, 0], [0, 0, 1]))
    geom("geom_split_key", splits=archive([("train_mask.npy", array("B", [1, 0, 0]))]))


def mtx_cases():
    mtx("mtx_empty", "")
    mtx("mtx_banner", "3 3 1\n1 2\n")
    mtx("mtx_array", "%%MatrixMarket matrix array real general\n1 1\n0\n")
    mtx("mtx_complex", "%%MatrixMarket matrix coordinate complex general\n1 1 0\n")
    mtx("mtx_skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n")
    mtx("mtx_no_sizes", BANNER + "% only comments\n")
    mtx("mtx_sizes_short", BANNER + "3 3\n1 2\n")
    mtx("mtx_not_square", BANNER + "3 4 1\n1 2\n")
    mtx("mtx_too_many_nodes", BANNER + "3000000000 3000000000 1\n1 2\n")
    mtx("mtx_hollow", BANNER + "2000000000 2000000000 1\n1 2\n")
    mtx("mtx_too_few_entries", BANNER + "3 3 1000000000000\n1 2\n2 3\n")
    mtx("mtx_too_many_entries", BANNER + "3 3 1\n1 2\n2 3\n")
    mtx("mtx_index_zero", BANNER + "3 3 2\n1 2\n0 3\n")
    mtx("mtx_index_too_large", BANNER + "3 3 2\n1 2\n2 4\n")
    mtx("mtx_value_missing", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2\n")
    mtx("mtx_value_text", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 x\n")


if __name__ == "__main__":
    csv_cases()
    geom_cases()
    mtx_cases()
