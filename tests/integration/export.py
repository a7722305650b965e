# SPDX-License-Identifier: MIT
"""export.py MEMLAG FILE: each format of memlag export, read as its reader does, has the
calls and sums of the calling-context tree of FILE."""
import collections
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from call_tree import UNITS, CallTree, named

MEMLAG, FILE = sys.argv[1:]
tree = CallTree(FILE)
database, rows = tree.database, tree.rows


def export(form, *options):
    done = subprocess.run([MEMLAG, "export", "--format", form, *options, FILE], capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(form, weight, sums):
    found, wanted = named(sums), tree.sums(weight)
    assert found == wanted and found, (form, weight, found - wanted, wanted - found)


def folded():
    """Collapsed stacks; by default their weight is the stalled time."""
    for weight, options in (("stalled", []), ("samples", ["--weight", "samples"])):
        sums = collections.Counter()
        for line in export("folded", *options).decode().splitlines():
            stack, _, value = line.rpartition(" ")
            root, *steps = stack.split(";")
            assert root.startswith("modelled by the simulated PMU (skylake-sp)"), root
            sums[tuple(steps)] += int(value)
        check("folded", weight, sums)


def callgrind():
    """What callgrind_annotate reads. Each path counts at its first call of a function."""
    with open("t.callgrind", "wb") as out:
        out.write(export("callgrind"))
    done = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "t.callgrind"],
                          capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr

    def counts(label):
        match = re.search(r"^((?: *[\d,]+ \([ \d.]+%\))+)  \S*" + label, done.stdout, re.MULTILINE)
        return [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) \(", match[1])]

    total = database.execute("SELECT value FROM run_info WHERE key = 'memory_samples'").fetchone()[0]
    assert counts("PROGRAM TOTALS")[-1] == int(total), (counts("PROGRAM TOTALS"), total)
    for function in ("main", "descend", "chase"):
        wanted = sum(row["samples"] for row in rows if row["function"] == function
                     and function not in tree.path(row["parent_id"]))
        # A recursive function has its own cost and the cost of its calls of other functions.
        if function == "descend":
            wanted = sum(row["self_samples"] for row in rows if row["function"] == function) + sum(
                row["samples"] for row in rows if tree.name.get(row["parent_id"]) == function
                and row["function"] != function)
        found = counts(f":{function} ")[-1]
        assert found == wanted > 0, (function, found, wanted)


def speedscope():
    file = json.loads(export("speedscope"))
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert len(file["profiles"]) == 3
    for profile in file["profiles"]:
        sums = collections.Counter()
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            sums[tuple(frames[frame] for frame in stack)] += weight
        assert profile["endValue"] == sum(profile["weights"])
        check("speedscope", re.match("[a-z]*", profile["name"])[0], sums)


def firefox():
    for weight in UNITS:
        file = json.loads(export("firefox", "--weight", weight))
        shared = file["shared"]
        for table in (shared["stackTable"], shared["frameTable"], shared["funcTable"], shared["resourceTable"]):
            assert all(len(column) == table["length"] for column in table.values() if isinstance(column, list))
        sums = collections.Counter()

        def steps(stack):
            function = shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]
            above = shared["stackTable"]["prefix"][stack]
            text = shared["stringArray"][shared["funcTable"]["name"][function]]
            return (steps(above) if above is not None else ()) + (text,)

        for thread in file["threads"]:
            samples = thread["samples"]
            assert len(samples["stack"]) == len(samples["time"]) == len(samples["weight"]) == samples["length"]
            assert samples["time"] == sorted(samples["time"])
            for stack, one in zip(samples["stack"], samples["weight"]):
                sums[steps(stack)] += one
            if weight == "samples":
                recorded = database.execute(
                    "SELECT count(*) FROM sample_view WHERE tid = ? AND (op <> 'NA' OR level <> 'NA')",
                    (thread["tid"],)).fetchone()[0]
                assert sum(samples["weight"]) == recorded, (thread["name"], recorded)
        if weight == "samples":
            check("firefox", weight, sums)
        else:  # parts of a millionth
            wanted = tree.sums(weight)
            for steps_of, value in named(sums).most_common(5):
                assert abs(value - wanted[steps_of]) <= 300, (weight, steps_of, value, wanted[steps_of])


def pprof():
    """What pprof itself prints of the file."""
    with open("t.pb", "wb") as out:
        out.write(export("pprof"))
    if not shutil.which("go"):
        return
    for weight in UNITS:
        text = subprocess.run(["go", "tool", "pprof", f"-sample_index={weight}", "-traces", "t.pb"],
                              capture_output=True, text=True, check=True,
                              env={"HOME": ".", "PATH": "/usr/bin:/bin", "PPROF_TMPDIR": "."}).stdout
        sums = collections.Counter()
        for block in re.split(r"^-+\+-+$", text, flags=re.MULTILINE)[1:]:
            match = re.match(r"\s*(\d+)\s*(?:millionths)?\s+(.*)", block.strip("\n"), re.DOTALL)
            if match:
                steps = tuple(line.strip() for line in match[2].strip().split("\n"))
                sums[steps[::-1]] += int(match[1])
        check("pprof", weight, sums)


def svg():
    """Each box tells its weight with all that it calls, and is as wide."""
    space = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(export("svg", "--weight", "samples"))
    total = int(database.execute("SELECT value FROM run_info WHERE key = 'memory_samples'").fetchone()[0])
    told = collections.Counter()
    for group in root.iter(space + "g"):
        match = re.fullmatch(r"(.*) \(.*\), (\d+) samples", group.find(space + "title").text)
        width = float(group.find(space + "rect").get("width"))
        assert abs(width - 1180 * int(match[2]) / total) < 0.6, (match[0], width)
        told[match[1]] += int(match[2])
    for function in ("main", "chase", "descend"):
        wanted = sum(row["samples"] for row in rows if row["function"] == function and row["samples"] * 1180 >= 0.3 * total)
        assert told[function] == wanted, (function, told[function], wanted)


for form in (folded, callgrind, speedscope, firefox, pprof, svg):
    form()
