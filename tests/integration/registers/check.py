# SPDX-License-Identifier: MIT
"""Holds what memlag says of the samples in blocks of a program of generate.py against what the
program wrote down of these.

check.py DATABASE OUTPUT SHARE: right is the block's structure and the field at its place; open
is no type; all else is wrong, and ends with 1, as does a SHARE of right answers that is not
reached."""
import bisect
import collections
import re
import sqlite3
import sys


def main():
    with open(sys.argv[2], encoding="utf-8") as lines:
        blocks = sorted((int(line.split()[0], 16), int(line.split()[1]), line.split()[2])
                        for line in lines if line.startswith("0x"))
    starts = [block[0] for block in blocks]
    counts, wrong, opened = (collections.Counter() for _ in range(3))
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    for addr, ip, function, line, typename, field in db.execute("""
            SELECT s.addr, l.address_offset, l.function, l.line, t.name, f.name FROM sample AS s
            JOIN attribution AS a USING (sample_id) JOIN location AS l USING (location_id)
            LEFT JOIN type_field AS f USING (field_id) LEFT JOIN data_type AS t USING (type_id)
            WHERE s.addr IS NOT NULL"""):
        at = bisect.bisect(starts, addr) - 1
        if at < 0 or addr >= blocks[at][0] + blocks[at][1]:
            continue
        tag = blocks[at][2]
        name = f"t{tag[1:]}f{(addr - blocks[at][0]) // 8}"
        where = f"{function}:{line} {ip:#x}"
        if typename is None:
            counts["open"] += 1
            opened[where] += 1
        elif typename == f"struct {tag}" and field == name:
            counts["right"] += 1
        else:
            counts["wrong"] += 1
            wrong[f"{where}: {name} is {typename} {field}"] += 1
    print(sys.argv[1], " ".join(f"{kind} {counts[kind]}" for kind in ("right", "open", "wrong")))
    for text, count in (opened if "--open" in sys.argv else wrong).most_common(
            40 if "--all" in sys.argv else 6):
        print(f"  {count:6} {text}")
    sys.exit(bool(wrong) or counts["right"] < float(sys.argv[3]) * sum(counts.values()))


main()
