# SPDX-License-Identifier: MIT
"""check.py DATABASE TRUTH PERCENT [--all]: compares the fields of samples in blocks with TRUTH,
which has one field for each function. Prints the numbers of right, open (no field, or several with
the right one) and wrong samples, and each wrong answer. Ends with 1 if one is wrong or fewer than
PERCENT are right. An instruction does not always determine the member of a union."""
import collections
import re
import sqlite3
import sys


def fields_of(said):
    """The fields in an answer: a.b and a.c for "a.b|c"; a.b, c.d and e for "a.b|c.d|.e"."""
    first, *others = (said or "").split("|")
    way = first[:first.rfind(".") + 1]
    return [first] + [name.removeprefix(".") if "." in name else way + name for name in others]


def verdict(said_type, said, true_type, true):
    if said_type is None:
        return "open"
    same_type = said_type.removeprefix("struct ") == true_type.removeprefix("struct ")
    if same_type and (said == true or (said or "").startswith(true + ".")):
        return "right"
    several = fields_of(said)
    if true.endswith(".*"):  # a union as a whole: no one of its members
        whole = all(name.startswith(true[:-1]) for name in several)
        return "open" if len(several) > 1 and whole else "wrong"
    is_one = any(true == name or name.startswith((true + ".", true + "[")) for name in several)
    if re.search(r"\|\d+ more$", said or ""):  # which, is not said
        return "open"
    if true.startswith(f"{said}."):
        return "open"  # the structure that it is in
    return "open" if len(several) > 1 and is_one else "wrong"


def main():
    with open(sys.argv[2], encoding="utf-8") as lines:
        truth = {name: (of, field) for name, of, field in
                 (line.rstrip("\n").split("\t") for line in lines)}
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    rows = db.execute("""
        SELECT l.function, d.name, t.name, u.reason, count(*)
        FROM sample AS s JOIN attribution AS a USING (sample_id)
        JOIN location AS l USING (location_id) JOIN data_object AS o USING (object_id)
        LEFT JOIN type_field AS t USING (field_id) LEFT JOIN data_type AS d USING (type_id)
        LEFT JOIN untyped AS u ON u.untyped_id = a.untyped_id
        WHERE o.kind = 'heap' GROUP BY 1, 2, 3, 4""")
    counts = collections.Counter()
    met = set()
    for function, said_type, said, reason, samples in rows:
        if function not in truth:
            continue
        met.add(function)
        which = verdict(said_type, said, *truth[function])
        counts[which] += samples
        if which == "wrong" or (which == "open" and "--all" in sys.argv):
            print(f"{which}: {function} reads {' '.join(truth[function])}, said is "
                  f"{said_type} {said} {reason or ''} ({samples})")
    total = sum(counts.values())
    print(f"{sys.argv[1]}: {len(met)} of {len(truth)} functions, {dict(counts)}")
    if counts["wrong"] or counts["right"] < int(sys.argv[3]) / 100 * total or len(met) < 0.8 * len(truth):
        sys.exit(1)


if __name__ == "__main__":
    main()
