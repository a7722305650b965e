# SPDX-License-Identifier: MIT
"""Holds what memlag says of the reads of a program of generate.py against the numbers that the
program wrote down.

check.py DATABASE OUTPUT SOURCE SHARE: every load was recorded. Right is the array of that
number; open is several of which it is one, or no variable; all else is wrong, and ends with
1, as does a SHARE of right answers that is not reached."""
import collections
import re
import sqlite3
import sys

LONGS = 48
STRUCTURES = ("cell", "pair", "node")


def plain(typename):
    """The name of a structure, as in C++."""
    return (typename or "").removeprefix("struct ")


def arrays(db):
    """The objects and types of the reads of each call of read_array, in order."""
    call, last = [], None
    for addr, kind, name, typename, line in db.execute("""
            SELECT s.addr, o.kind, o.name, t.name, c.line FROM sample AS s
            JOIN attribution AS a USING (sample_id) JOIN location AS l USING (location_id)
            LEFT JOIN data_object AS o USING (object_id)
            LEFT JOIN type_field AS f USING (field_id) LEFT JOIN data_type AS t USING (type_id)
            JOIN stack AS k USING (stack_id)
            LEFT JOIN stack_location AS p ON p.stack_id = k.parent_id
            LEFT JOIN location AS c ON c.location_id = p.location_id
            WHERE l.function = 'read_array' AND l.line = 20 ORDER BY s.time_ns, s.sample_id"""):
        if last is None or addr != last + 8 or len(call) == LONGS:
            if call:
                yield call
            call = []
        call.append((kind, name, typename, line))
        last = addr
    yield call


def main():
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    with open(sys.argv[2], encoding="utf-8") as lines:
        numbers = [int(line) for line in lines if line.strip().isdigit()]
    with open(sys.argv[3], encoding="utf-8") as source:
        types = {int(number): typename for typename, number in
                 re.findall(r"(struct \w+) v(\d+)\[", source.read())}
    calls = list(arrays(db))
    if len(calls) != len(numbers) or any(len(call) != LONGS for call in calls):
        sys.exit(f"{len(calls)} calls seen, not {len(numbers)}; {collections.Counter(map(len, calls))}")
    counts, wrong, where = (collections.Counter() for _ in range(3))
    for call, number in zip(calls, numbers):
        for kind, name, typename, line in call:
            said = re.findall(r"v\d+", name or "")
            if kind == "stack" and said == [f"v{number}"] and "|" not in name:
                counts["right"] += 1
            elif not said or (len(said) > 1 and f"v{number}" in said):
                counts["open"] += 1
                counts[f"open, {len(said)} named"] += 1
                where[f"v{number} is {name}, called at line {line}"] += 1
                if plain(typename) in STRUCTURES and plain(typename) != plain(types.get(number)):
                    wrong[f"v{number} of {name} is {typename}, called at line {line}"] += 1
            else:
                wrong[f"v{number} is {name}, called at line {line}"] += 1
    total = sum(map(len, calls))
    print(f"{len(calls)} calls, {len(set(numbers))} arrays:", dict(counts),
          f"wrong: {sum(wrong.values())}")
    for text, count in (where if "--open" in sys.argv else wrong).most_common(20):
        print(f"  {count:6} {text}")
    sys.exit(bool(wrong) or counts["right"] < float(sys.argv[4]) * total)


main()
