#!/usr/bin/env python3
"""Writes the broken .npz files of this folder (standard library only; the output is committed).

Every file is one small data set (five nodes on a ring) with one thing wrong. What dgat must say
about it stands in expected.txt.
"""
import os
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).parent
STORED, DEFLATED, BZIP2 = 0, 8, 12


def npy(descr, shape, data, version=1, header=None):
    """A .npy array from its raw bytes."""
    text = header or f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    length = struct.pack("<H" if version == 1 else "<I", len(text) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + b"\n" + data


def array(code, values, shape=None):
    """A little-endian .npy array of numbers: code is that of the struct module."""
    descr = {"b": "|i1", "B": "|u1", "?": "|b1", "q": "<i8", "f": "<f4", "d": "<f8"}[code]
    shape = shape if shape is not None else (len(values),)
    return npy(repr(descr), shape, struct.pack(f"<{len(values)}{code}", *values))


def archive(members, **patch):
    """A zip archive of [(name, content)]. patch: fields of the last member told wrongly."""
    out, directory = b"", b""
    for k, (name, content) in enumerate(members):
        told = patch if k == len(members) - 1 else {}
        method = told.get("method", DEFLATED)
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = content if method == STORED else packer.compress(content) + packer.flush()
        packed = told.get("packed", packed)
        size = told.get("size", len(content))
        crc = told.get("crc", zlib.crc32(content))
        flags, offset = told.get("flags", 0), told.get("offset", len(out))
        extra = struct.pack("<HHQ", 1, 8, size) if size >= 0xFFFFFFFF else b""
        fields = (flags, method, 0, 33, crc, len(packed), min(size, 0xFFFFFFFF), len(name))
        out += struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, *fields, 0) + name.encode() + packed
        directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, *fields, len(extra),
                                 0, 0, 0, 0, offset) + name.encode() + extra
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(members), len(members), len(directory),
                      len(out), 0)
    return out + directory + end


def sound():
    """The arrays of a data set with nothing wrong."""
    return {
        "node_features": array("f", [float(k) for k in range(10)], (5, 2)),
        "node_labels": array("q", [0, 1, 0, -1, 1]),
        "edges": array("q", [0, 1, 1, 2, 2, 3, 3, 4, 4, 0], (5, 2)),
        "train_masks": array("?", [1, 1, 0, 0, 0], (1, 5)),
        "val_masks": array("?", [0, 0, 1, 0, 0], (1, 5)),
        "test_masks": array("?", [0, 0, 0, 0, 1], (1, 5)),
    }


def write(name, content):
    (HERE / name).write_bytes(content)


def spoiled(name, **arrays):
    """The sound data set with some arrays replaced, or left out where None is given."""
    members = {key: value for key, value in (sound() | arrays).items() if value is not None}
    write(name, archive([(key + ".npy", value) for key, value in members.items()]))


def with_last(name, key, content, **patch):
    """The sound data set with one array at the end of the archive, told of wrongly."""
    members = [(k + ".npy", v) for k, v in sound().items() if k != key]
    write(name, archive(members + [(key + ".npy", content)], **patch))


def containers():
    good = archive([(key + ".npy", value) for key, value in sound().items()])
    labels = sound()["node_labels"]
    write("empty.npz", b"")
    write("not_a_zip.npz", b"id,label\n0,1\n")
    write("single_array.npz", labels)
    write("cut_off.npz", good[: len(good) // 2])
    write("hole_in_the_middle.npz", good[:100] + good[180:])
    write("directory_overwritten.npz", good[:-80] + b"\0" * 58 + good[-22:])
    with_last("bad_checksum.npz", "node_labels", labels, crc=0x12345678)
    with_last("stored_bit_flip.npz", "node_labels", labels[:-1] + b"\x01", method=STORED,
              crc=zlib.crc32(labels))
    with_last("bad_deflate.npz", "node_labels", labels, packed=b"\xff" * 60)
    with_last("deflate_cut_off.npz", "node_labels", labels, packed=b"\x00\x10\x00\xef\xff" + b"ab")
    ten_labels = npy("'<i8'", (10,), b"\0" * 40)
    with_last("deflate_too_short.npz", "node_labels", ten_labels, size=len(ten_labels) + 40)
    with_last("encrypted.npz", "node_labels", labels, flags=1)
    with_last("method_bzip2.npz", "node_labels", labels, method=BZIP2)
    with_last("member_elsewhere.npz", "node_labels", labels, offset=7)
    with_last("member_outside.npz", "node_labels", labels, offset=10**6)
    with_last("stored_sizes_differ.npz", "node_labels", labels, method=STORED, size=len(labels) + 8)
    ten_gigabytes = npy("'<f8'", (5, 250_000_000), b"")
    with_last("claims_10_gigabytes.npz", "node_features", ten_gigabytes,
              size=len(ten_gigabytes) + 10**10)
    members = [(key + ".npy", value) for key, value in sound().items()]
    write("array_twice.npz", archive(members + members[:1]))


def arrays():
    spoiled("not_npy.npz", node_labels=b"these are not the numbers you want")
    spoiled("npy_version_9.npz", node_labels=npy("'<i8'", (5,), b"\0" * 40, version=9))
    spoiled("npy_no_shape.npz", node_labels=npy("", "", b"\0" * 40, header="{'descr': '<i8', "
                                                                       "'fortran_order': False}"))
    spoiled("npy_not_a_dictionary.npz", node_labels=npy("", "", b"\0" * 40, header="[1, 2, 3]"))
    spoiled("npy_header_too_long.npz", node_labels=b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{}")
    spoiled("shape_beyond_data.npz", node_features=npy("'<f4'", (5, 500_000_000), b"\0" * 40))
    spoiled("shape_short_of_data.npz", node_features=npy("'<f4'", (5, 1), b"\0" * 40))
    spoiled("shape_overflows.npz", node_features=npy("'<f4'", (2**40, 2**40), b"\0" * 40))
    spoiled("shape_negative.npz", node_features=npy("'<f4'", (5, -2), b"\0" * 40))
    spoiled("object_array.npz", node_labels=npy("'|O'", (5,), b"\x80\x03]q\x00."))
    spoiled("structured_array.npz", edges=npy("[('a', '<i8'), ('b', '<i8')]", (5,), b"\0" * 80))
    spoiled("text_labels.npz", node_labels=npy("'<U3'", (5,), b"\0" * 60))
    spoiled("complex_features.npz", node_features=npy("'<c8'", (5, 1), b"\0" * 40))


def data_sets():
    ring = [0, 1, 1, 2, 2, 3, 3, 4, 4, 0]
    spoiled("no_edges.npz", edges=None)
    spoiled("no_node_count.npz", node_labels=None, node_features=None)
    spoiled("edge_id_too_large.npz", edges=array("q", ring[:6] + [5, 4] + ring[8:], (5, 2)))
    spoiled("edge_id_negative.npz", edges=array("q", ring[:3] + [-1] + ring[4:], (5, 2)))
    spoiled("edge_id_negative_in_column.npz", edges=array("b", ring[:7] + [-3] + ring[8:], (2, 5)))
    spoiled("edge_id_fractional.npz", edges=array("d", ring[:4] + [1.5] + ring[5:], (5, 2)))
    spoiled("edges_with_weights.npz", edges=array("q", ring + ring[:5], (5, 3)))
    spoiled("edges_flat.npz", edges=array("q", ring))
    spoiled("label_below_minus_one.npz", node_labels=array("q", [0, 1, 0, -5, 1]))
    spoiled("label_too_large.npz", node_labels=array("q", [0, 1, 0, 1, 10**12]))
    spoiled("label_fractional.npz", node_labels=array("f", [0, 0.5, 0, 1, 1]))
    spoiled("label_nan.npz", node_labels=array("d", [0, 1, float("nan"), 1, 1]))
    spoiled("labels_one_hot.npz", node_labels=array("q", ring, (5, 2)))
    spoiled("labels_too_few.npz", node_labels=array("q", [0, 1, 0, 1]))
    spoiled("features_too_few_rows.npz", node_features=array("f", [1.0] * 8, (4, 2)))
    spoiled("features_flat.npz", node_features=array("f", [1.0] * 5))
    spoiled("feature_nan.npz", node_features=array("f", [1.0] * 7 + [float("nan")] + [1.0] * 2,
                                                   (5, 2)))
    spoiled("feature_infinite.npz", node_features=array("f", [0.0] * 99 + [float("-inf")],
                                                        (5, 20)))
    spoiled("feature_beyond_float32.npz", node_features=array("d", [1.0] * 4 + [1e300] + [0.0] * 5,
                                                              (5, 2)))
    spoiled("masks_overlap.npz", val_masks=array("?", [0, 1, 1, 0, 0], (1, 5)))
    spoiled("masks_transposed.npz", train_masks=array("?", [1, 1, 0, 0, 0], (5, 1)))
    spoiled("masks_not_all_three.npz", test_masks=None)
    spoiled("masks_not_zero_or_one.npz", train_masks=array("B", [1, 7, 0, 0, 0], (1, 5)))
    spoiled("masks_of_different_counts.npz", test_masks=array("?", [0] * 15, (3, 5)))


def places():
    folder = HERE / "folder.npz"
    folder.mkdir(exist_ok=True)
    (folder / "edges.txt").write_text("0 1\n")
    for name, target in {"dangling_link.npz": "nowhere.npz", "link_loop.npz": "link_loop.npz"}.items():
        (HERE / name).unlink(missing_ok=True)
        os.symlink(target, HERE / name)
    write("unknown_extension.graph", b"0 1\n")


if __name__ == "__main__":
    containers()
    arrays()
    data_sets()
    places()
