# SPDX-License-Identifier: MIT
"""Compares memlag's answers for each sample with the program's own output about its memory. Only
loads of the program's code count: the C library sees the memory before and after it is the
program's.

check.py DATABASE TRUTH [--all] [--fields PERCENT [--objects PERCENT]]: prints a line of JSON with
the counts, and every class of wrong answers, with --all also of open answers. An answer is open if
there is none, if it is a frame or section as a whole, or if it is several fields of a union with
the right one. --fields ends with 1 unless 95 % of the objects (or the PERCENT of --objects) and
PERCENT of the fields are right and none is wrong."""
import bisect
import collections
import json
import re
import sqlite3
import sys


def read_truth(path):
    objects, fields = [], collections.defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            what, *rest = line.rstrip("\n").split("\t")
            if what == "object":
                kind, name, typename, start, item, items, function = rest
                objects.append((int(start), int(item), int(items), kind, name, typename, function))
            else:
                typename, field, offset, size, also = rest
                answers = {(typename, field)}
                for other in also.split():
                    # At the last colon that is none of a scope's two.
                    at = [c.start() for c in re.finditer("(?<!:):(?!:)", other)][-1]
                    answers.add(tuple(part.replace("~", " ")
                                      for part in (other[:at], other[at + 1:])))
                fields[typename].append((int(offset), int(size), answers))
    return sorted(objects), fields


def object_at(objects, starts, addr, function):
    """The object that the truth has at ADDR: the last that begins at or before it."""
    i = bisect.bisect_right(starts, addr)
    while i > 0 and addr - objects[i - 1][0] < 1 << 20:
        i -= 1
        start, item, items, _, _, _, only = objects[i]
        if start <= addr < start + item * items and (only == "*" or function in only.split(",")):
            return objects[i]
    return None


def right_object(truth, kind, name):
    _, _, _, true_kind, true_name, _, _ = truth
    name = name and name.replace("[abi:cxx11]", "")  # a function that returns a std::list
    if true_name.endswith(" "):
        return kind == true_kind and name is not None and name.startswith(true_name)
    return kind == true_kind and name == true_name


def true_fields(truth, fields, addr):
    """The answers that are right at ADDR; None: padding, where no program reads."""
    start, item, _, _, _, typename, _ = truth
    if typename not in fields:
        return {(typename, "")}
    offset = (addr - start) % item
    for field_offset, size, answers in fields[typename]:
        if field_offset <= offset < field_offset + size:
            return answers
    return None


def plain(name):
    """A type's name without what compilers write differently."""
    name = re.sub(r"\bconst (\w+)", r"\1 const", name.replace("long unsigned int",
                                                               "unsigned long"))
    name = re.sub(r"\blong int\b", "long", name)
    return name.replace(" ", "")


def same_type(said, true):
    if true.endswith("*"):
        return said is not None and said.startswith(true[:-1])
    if true.endswith("}"):  # a type without a name
        return said is not None and "anonymous" in said
    return said is not None and plain(said) == plain(true)


def fields_of(said):
    """The fields in an answer: a.b and a.c for "a.b|c"; a.b, c.d and e for "a.b|c.d|.e"."""
    first, *others = (said or "").split("|")
    way = first[:first.rfind(".") + 1]
    return [first] + [name.removeprefix(".") if "." in name else way + name for name in others]


def one_of_several(field, answers):
    """Whether FIELD, "a.b|c", has a true one among its fields, and is not one itself."""
    names = fields_of(field)
    return len(names) > 1 and all(f != field for _, f in answers) and any(
        f == name for _, f in answers for name in names)


def some_of_several(field, answers):
    """Whether an answer names bit-fields, "a.b|c|d", that include FIELD. The truth does not know
    the one that a load is for; types.sh does, for a few functions."""
    return any(set(fields_of(field)) <= set(fields_of(answer)) for _, answer in answers)


def check(database, truth_path):
    objects, fields = read_truth(truth_path)
    starts = [o[0] for o in objects]
    counts = collections.Counter()
    classes = collections.Counter()
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = db.execute("""
        SELECT s.addr, o.kind, o.name, d.name, t.name, l.function, l.line
        FROM sample AS s JOIN attribution AS a USING (sample_id)
        LEFT JOIN location AS l USING (location_id)
        LEFT JOIN data_object AS o USING (object_id)
        LEFT JOIN type_field AS t USING (field_id) LEFT JOIN data_type AS d USING (type_id)
        WHERE s.addr IS NOT NULL AND l.module_id = (
            SELECT module_id FROM module WHERE path = (SELECT executable FROM process))""")
    for addr, kind, name, typename, field, function, line in rows:
        addr &= (1 << 64) - 1
        field = field and field.replace("__cc_.", "__cc.")  # of two versions of libc++
        truth = object_at(objects, starts, addr, function)
        if truth is None:
            continue
        answers = true_fields(truth, fields, addr)
        if answers is None:
            continue
        counts["samples"] += 1
        where = f"{function}:{line}"
        unnamed = kind in (None, "unknown") or (name or "").startswith("[") \
            or (name or "").endswith("stack")
        if right_object(truth, kind, name):
            counts["object right"] += 1
        elif unnamed:
            counts["object open"] += 1
            classes[f"object open: {truth[4]} is {kind} {name} in {where}"] += 1
        else:
            counts["object wrong"] += 1
            classes[f"object WRONG: {truth[4]} is {kind} {name} in {where}"] += 1
        if typename is None:
            counts["field open"] += 1
            classes[f"field open: {truth[4]} {sorted(answers)[0]} in {where}"] += 1
        elif one_of_several(field, answers):
            counts["field open"] += 1
            classes[f"field open: {truth[4]} is one of {field} in {where}"] += 1
        elif any(same_type(typename, t) and some_of_several(field, [(t, f)]) for t, f in answers):
            counts["field right"] += 1
        else:
            counts["field wrong"] += 1
            classes[f"field WRONG: {truth[4]} {sorted(answers)[0]} is {typename} {field}"
                    f" in {where}"] += 1
    return counts, classes


def share_of(option, otherwise):
    return float(sys.argv[sys.argv.index(option) + 1]) / 100 if option in sys.argv else otherwise


def main():
    counts, classes = check(sys.argv[1], sys.argv[2])
    print(json.dumps(counts))
    for text, count in classes.most_common():
        if "WRONG" in text or "--all" in sys.argv:
            print(f"  {count:6} {text}")
    if "--fields" in sys.argv:
        total = counts["samples"]
        sys.exit(not (total > 1500
                      and counts["object right"] >= share_of("--objects", 0.95) * total
                      and counts["field right"] >= share_of("--fields", 1) * total
                      and counts["object wrong"] + counts["field wrong"] == 0))


main()
