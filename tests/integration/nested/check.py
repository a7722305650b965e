# SPDX-License-Identifier: MIT
"""check.py DATABASE TRUTH PERCENT [--all]: holds the fields of samples in blocks against TRUTH,
which has one for each function. Prints how many are right, open (none, or several of which
one is right) and wrong, and each wrong answer. Ends with 1 when one is wrong, or fewer than
PERCENT of them are right: what of a union is read an instruction does not always show."""
import collections
import sqlite3
import sys


def verdict(said_type, said, true_type, true):
    if said_type is None:
        return "open"
    same_type = said_type.removeprefix("struct ") == true_type.removeprefix("struct ")
    if same_type and (said == true or (said or "").startswith(true + ".")):
        return "right"
    before, _, last = (said or "").rpartition(".")
    several = [f"{before}.{name}" if before else name for name in last.split("|")]
    if true.endswith(".*"):  # a union as a whole: no one of its members
        return "open" if len(several) > 1 and before + ".*" == true else "wrong"
    is_one = any(true == name or true.startswith((name + ".", name + "["))
                 for name in several)
    return "open" if len(several) > 1 and is_one else "wrong"


def main():
    with open(sys.argv[2], encoding="utf-8") as lines:
        truth = {name: (of, field) for name, of, field in
                 (line.rstrip("\n").split("\t") for line in lines)}
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    rows = db.execute("""
        SELECT l.function, d.name, t.name, count(*)
        FROM sample AS s JOIN attribution AS a USING (sample_id)
        JOIN location AS l USING (location_id) JOIN data_object AS o USING (object_id)
        LEFT JOIN type_field AS t USING (field_id) LEFT JOIN data_type AS d USING (type_id)
        WHERE o.kind = 'heap' GROUP BY 1, 2, 3""")
    counts = collections.Counter()
    met = set()
    for function, said_type, said, samples in rows:
        if function not in truth:
            continue
        met.add(function)
        which = verdict(said_type, said, *truth[function])
        counts[which] += samples
        if which == "wrong" or (which == "open" and "--all" in sys.argv):
            print(f"{which}: {function} reads {' '.join(truth[function])}, said is "
                  f"{said_type} {said} ({samples})")
    total = sum(counts.values())
    print(f"{sys.argv[1]}: {len(met)} of {len(truth)} functions, {dict(counts)}")
    if counts["wrong"] or counts["right"] < int(sys.argv[3]) / 100 * total or len(met) < 0.8 * len(truth):
        sys.exit(1)


main()
