"""Tables inside the docs: between <!-- table: ID --> and <!-- end -->."""

import re

from record.manifest import RecordError

BEGIN = re.compile(r"<!-- table: (\S+) -->$")
END = "<!-- end -->"


def pages(root):
    return sorted(str(path.relative_to(root)) for path in [*root.glob("*.md"), *root.glob("docs/*.md")])


def marked(root):
    """Yields (doc, id, first line, last line) of every marked table; lines count from 0, both exclusive of markers."""
    for doc in pages(root):
        path = root / doc
        lines = path.read_text().splitlines()
        begin = None
        for number, line in enumerate(lines):
            match = BEGIN.match(line)
            if match or line == END:
                if bool(match) == (begin is not None):
                    raise RecordError(f"{doc}:{number + 1}: '{line}' has no counterpart; every "
                                      f"'<!-- table: ID -->' needs one '{END}' behind it")
                if match:
                    begin = (match[1], number + 1)
                else:
                    yield doc, begin[0], begin[1], number
                    begin = None
        if begin:
            raise RecordError(f"{doc}:{begin[1]}: table '{begin[0]}' has no end; add '{END}' behind it")


def write(root, tables):
    """Puts the tables between their markers. Returns the docs that changed."""
    changed = []
    for doc in pages(root):
        places = [place for place in marked(root) if place[0] == doc]
        if not places:
            continue
        path = root / doc
        lines = path.read_text().splitlines()
        for _, name, begin, end in reversed(places):
            if name in tables:
                lines[begin:end] = tables[name]
        text = "\n".join(lines) + "\n"
        if text != path.read_text():
            path.write_text(text)
            changed.append(doc)
    return changed


def difference(found, wanted):
    """The first difference of two tables as (line offset, words), or None."""
    for offset in range(max(len(found), len(wanted))):
        ours = found[offset] if offset < len(found) else None
        theirs = wanted[offset] if offset < len(wanted) else None
        if ours == theirs:
            continue
        if ours is None or theirs is None:
            return offset, f"the doc has {len(found)} lines, the ledger gives {len(wanted)}"
        cells = [part.strip() for part in ours.split("|")], [part.strip() for part in theirs.split("|")]
        if len(cells[0]) == len(cells[1]) > 2:
            place = next(index for index, pair in enumerate(zip(*cells)) if pair[0] != pair[1])
            titles = [part.strip() for part in wanted[0].split("|")]
            title = titles[place] if place < len(titles) else str(place)
            return offset, (f"row '{cells[1][1]}', column '{title}': the doc says '{cells[0][place]}', "
                            f"the ledger '{cells[1][place]}'")
        return offset, f"the doc says '{ours}', the ledger '{theirs}'"
    return None
