# SPDX-License-Identifier: MIT
"""The types and fields that memlag reports for samples of small programs. The first comment of each
program in told/ describes it. The table below names the reading functions and the expected fields.

told.py [SOURCE...] runs the cases of these sources."""
import collections
import functools
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import typing

sys.path.append(os.path.dirname(__file__) + "/nested")
from check import verdict  # noqa: E402

MEMLAG = os.environ["MEMLAG"]
PROGRAMS = os.environ["SOURCE_DIR"] + "/tests/integration/told/"
# The type without "struct", and the field; "open" if they are unresolved.
FIELD = "coalesce(replace(type, 'struct ', '') || coalesce('.' || field, ''), 'open')"
# In C++ names of functions may have their parameters.
FUNCTION = "substr(function, 1, instr(function || '(', '(') - 1)"
# Of blocks, the function that made them.
MAKER = "substr(object, 1, instr(object, ' at ') - 1)"


class Case(typing.NamedTuple):
    """Each key of TOLD, a value of the SQL expression KEY, has the words of the expression SAID in
    the samples that satisfy WHERE: exactly these words, or one of several alternatives. Fewer than
    IGNORED samples do not count; each word must have LEAST. CALLS: a single call instruction
    allocates all blocks. ALLOCATOR: as in 'memlag symbolize --allocator'. PERCENT: the least and
    the most of all samples that have the one word; the others are open. SOURCE_IS: the source is
    "hidden", or "newer" than the program, when names are made."""
    source: str
    builds: typing.Sequence[str]
    told: dict
    where: str = "object_kind = 'heap'"
    key: str = FUNCTION
    said: str = FIELD
    options: str = "--period 37"
    least: int = 30
    ignored: int = 0
    calls: str = ""
    allocator: str = ""
    percent: tuple = ()
    source_is: str = ""


BOTH = "gcc -O2", "clang -O2"
HEADS = {"read_heads": "head.id", "read_ticks": "open", "read_widths": "open"}
BYTES = {"gather_of_8": "open", "or_of_8": "open", "sum_of_2": "open", "swap_of_8": "open"}
WIDE = {"where": "object_kind = 'heap' AND access_bytes > 1", "least": 5, "ignored": 6}
MEMBERS = {"get_port": "record.u.service.port", "get_weight": "record.u.service.weight",
           "get_third": "record.u.address[]"}
EVERY, SEVENTH = "--ldlat 1 --period 37", "--ldlat 1 --period 7"
CASES = [
    Case("cast.c", BOTH, {"named": "leaf.up node.key node.weight", "unnamed": "leaf.up open"}),
    Case("made.c", ["gcc -O2"], {
        "members": "pair.object.kind pair.object.next pair.right"
                   " text.hash text.object.kind text.object.next"}, least=100),
    Case("bases.cc", ["g++ -O1"], {"walk": "Task.Hook<1>::next Task.priority"}, least=100),
    # Nothing may be wrong.
    Case("slots.c", BOTH, {name: "right" for name in ("by_choice", "by_pointer", "let_out_call")},
         said="iif(type = 'struct first' AND field <> 'a0', 'wrong', 'right')", options=EVERY,
         least=100),
    Case("casts.c", BOTH, {
        "at_once 16": "open", "at_once 24": "open", "at_once 32": "open",
        "behind 0": "frame.kind", "behind 16": "open", "behind 24": "open", "behind 32": "open"},
         key="function || ' ' || object_offset_bytes", options=EVERY, least=20, ignored=21),
    Case("casts.c", ["gcc -O2"], {
        "in_blocks 0": "frame.kind", "in_blocks 20": "query.flags", "in_blocks 24": "packet.to",
        "in_blocks 32": "packet.hops query.when",
        "items 0": "open", "items 16": "open"},
         key="""function || ' ' || iif(function = 'items', (object_offset_bytes - 16) % 24,
                object_offset_bytes)""",
         where="object_kind = 'heap' AND (function = 'in_blocks' OR object_offset_bytes > 15)",
         options=EVERY, least=20, ignored=21),
    Case("derived.c", BOTH, {"derived": "list.items"}, options=EVERY,
         where="access_bytes = 8 AND object LIKE 'main%' AND instruction LIKE 'mov    0x18(%'"),
    Case("inside.c", BOTH, {"w_of": "open"}, options=EVERY,
         where="object LIKE 'main%' AND instruction LIKE '%0x20(%'"),
    # What gcc merges keeps the line and the variables of one branch; what LLVM merges, none.
    *(Case("merged.c", [build], HEADS, options="--period 7", least=100, calls=calls)
      for build, calls in (("gcc -O2", "malloc"), ("gcc -O2 -DUNTOLD", "malloc"),
                           ("g++ -O2 -x c++", "_Znwm"), ("clang -O2 -DINLINED", "malloc"))),
    Case("vectors.c", ["gcc -O3", "gcc -O3 -march=x86-64-v3", "clang -O3 -march=x86-64-v3"],
         BYTES | {"sum_of_1": "char"}, **WIDE),
    # It loads four bytes as one number.
    Case("vectors.c", ["clang -O3"], BYTES | {"sum_of_1": "open"}, **WIDE),
    Case("storage.c", ["gcc -O0", "gcc -O2", "clang -O0", "clang -O2"], {
        "pool_value": "wide.value", "pool_id": "wide.id", "pool_y": "narrow.y",
        "pool_count": "narrow.count", "pool_flag": "narrow.flag",
        "pool_bytes": ["char", "char open"],  # clang loads four bytes as one number
        "own_value": ["wide.value", "open"],
        "own_bytes": ["unsigned_char", "open unsigned_char", "open"],
        "frame": ["open", "narrow.count narrow.x", "narrow.count open", "narrow.x open"]},
         where="(object LIKE '%pool' OR object = 'frame::buffer') AND op = 'load'",
         options=EVERY, least=0),
    Case("storage.cc", [f"{compiler} -std=c++17 {level}" for compiler in ("g++", "clang++")
                        for level in ("-O0", "-O2")],
         {"price": ["tick.price", "open"]}, where="object = 'ticks' AND op = 'load'",
         options=EVERY, least=0),
    Case("hoisted.c", ["gcc -O2"], {"choice": "message.u.index|last|lag", "lags": "message.u.lag",
                                    "step": "message.u.index|last|lag"},
         where="object_kind = 'heap' AND field LIKE 'u.%'"),
    # Of a whole number of headers, and not.
    Case("file.c", [f"{compiler} -DSIZE={size}" for compiler in ("gcc -O2", "clang -O1", "clang -O2")
                    for size in ("(1<<18)", "(1<<18)+4104")],
         {"sum_records": "right", "sum_texts": "right"}, where="object_kind = 'mmap'",
         said="iif(type = 'struct header' AND object_offset_bytes >= 32, 'wrong', 'right')",
         options="--ldlat 1 --period 17"),
    # By pointers to bytes records are compared, which they are not; which of a pair is copied
    # nobody knows.
    Case("copies.c", [f"{build} -fno-builtin -fno-optimize-sibling-calls" for build in (
        "gcc -O2", "gcc -O2 -fno-plt -no-pie", "clang -O2", "gcc -O0")], {
            "ints": "int", "doubles": "double", "texts": "char", "large": "large",
            "records": "bytes_without_a_type", "pairs": "open"},
         where="(function LIKE '%memmove%' OR function LIKE '%memcpy%' OR function LIKE '%memcmp%')",
         key=MAKER, options="--ldlat 1 --period 7", least=300, allocator="make",
         said="""coalesce(replace(type, 'struct ', ''), (SELECT reason FROM untyped
                 WHERE untyped.untyped_id = attribution.untyped_id
                 AND object LIKE 'records at %'), 'open')"""),
    Case("members.c", BOTH, MEMBERS, options=SEVENTH, percent=(99, 100)),
    Case("members.c", [*BOTH, "gcc -O2 -flto"], {"cases": "record.u.service.ttl",
                                                 "chosen": "record.u.service.ttl"},
         options=SEVENTH, percent=(0, 100)),
    # Of equal members gcc may have made one access.
    Case("members.c", ["clang -O2"], {"get_refresh": "record.u.zone.refresh",
                                      "get_compared": "record.u.zone.serial"},
         options=SEVENTH, percent=(99, 100)),
    # Lines may have moved in a source that is newer than the program.
    Case("members.c", BOTH, MEMBERS, options=SEVENTH, percent=(0, 98), source_is="newer"),
    Case("pages.c", BOTH, {"search": "page.u.outer.items[].key", "rows": "row.balance"},
         options=SEVENTH, percent=(99, 100), source_is="hidden"),
    # Of four copies of the loop clang reads two before what its pointer is to.
    *(Case("pages.c", [build], {"walk": "page.u.outer.items[].value"}, options=SEVENTH,
           percent=(least, 100), source_is="hidden") for build, least in zip(BOTH, (99, 45))),
    # Of arrays of members the first name.
    Case("items.cc", ["g++ -std=c++17 -O2", "clang++ -std=c++17 -O2", "clang++ -std=c++17 -O3",
                      "libc++ -std=c++17 -O2"], {
        "make_node": "node.kids node.weight", "make_sales": "sale.amount sale.shop",
        "make_tasks": "task.ready task.weight"},
         where="""object_kind = 'heap' AND op = 'load'
                  AND (function LIKE 'tasks%' OR object NOT LIKE 'make_tasks at%')""",
         key=MAKER, options=EVERY,
         said="""coalesce(type || '.' || substr(field || '._', 1,
                 instr(replace(field, '[', '.') || '._', '.') - 1), 'open')"""),
]


def libcxx():
    """The options for libc++, from the system or from where tests/run.sh unpacked its headers."""
    unpacked = f"-nostdinc++ -isystem {os.environ['BINARY_DIR']}/libc++/usr/include/c++/v1"
    linked = "-nostdlib++ -l:libc++.so.1 -l:libc++abi.so.1"
    for options in ("-stdlib=libc++", f"-stdlib=libc++ {unpacked} {linked}"):
        command = ["clang++", "-x", "c++", "-", *options.split(), "-o", "headers"]
        if not subprocess.run(command, input="#include <vector>\nint main() {}\n", text=True,
                              stderr=subprocess.DEVNULL, check=False).returncode:
            return options.split()
    return None


@functools.cache
def recorded(source, build, options):
    """The database, or None where the compiler or library is not installed."""
    compiler, *flags = build.split()
    library = []
    if compiler == "libc++" and shutil.which("clang++"):
        compiler, library = "clang++", libcxx()
    if not shutil.which(compiler) or library is None:
        print(f"told.py: SKIPPED with {build}: it is not installed")
        return None
    name = re.sub(r"[^\w.+-]", "_", f"{source}.{build}")
    included = ["-include", PROGRAMS + "../target.h"] if source.endswith(".c") else []
    subprocess.run([compiler, "-g", "-w", *included, *flags, source, "-o", name, *library], check=True)
    done = subprocess.run([MEMLAG, "record", *os.environ["LOADS"].split(), *options.split(), "--force",
                           "-o", name + ".db", "--", "./" + name],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, (name, done.stderr)
    return name


def one_call(name, function):
    code = subprocess.run(["objdump", "-d", name], capture_output=True, text=True, check=True).stdout
    calls = sum("call" in line and f"<{function}@plt>" in line for line in code.splitlines())
    assert calls == 1, f"{name}: {function} is called at {calls} places, which proves nothing"


def judge(case, name):
    """The samples' fields are the case's fields, or open."""
    if case.source_is == "newer":
        os.utime(case.source, (time.time() + 1e7,) * 2)
    if case.source_is == "hidden":
        os.remove(case.source)
    if case.source_is:
        subprocess.run([MEMLAG, "symbolize", "--drop-names", name + ".db"], check=True)
    counts = collections.Counter()
    with sqlite3.connect(f"file:{name}.db?mode=ro", uri=True) as db:
        for key, kind, field, samples in db.execute(
                f"SELECT {case.key}, type, field, count(*) FROM sample_view WHERE {case.where} GROUP BY 1, 2, 3"):
            if key in case.told:
                counts[key, verdict(kind, field, *case.told[key].split(".", 1))] += samples
    right = sum(samples for (_, answer), samples in counts.items() if answer == "right")
    least, most = case.percent
    assert least <= 100 * right / counts.total() <= most, (name, counts)
    assert {key for key, _ in counts} == set(case.told), (name, counts)
    assert all(answer != "wrong" for _, answer in counts), (name, counts)


def check(case, build):
    shutil.copy(PROGRAMS + case.source, case.source)
    name = recorded(case.source, build, case.options)
    if not name:
        return
    if case.calls:
        one_call(name, case.calls)
    if case.allocator:
        subprocess.run([MEMLAG, "symbolize", f"--allocator={case.allocator}", name + ".db"], check=True)
    (judge if case.percent else compare)(case, name)
    print(f"{case.source}, {build}: as it is known", flush=True)


def compare(case, name):
    """Each of the case's keys has its words."""
    told = {key: {} for key in case.told}
    with sqlite3.connect(f"file:{name}.db?mode=ro", uri=True) as db:
        for key, said, samples in db.execute(
                f"SELECT {case.key}, replace({case.said}, ' ', '_'), count(*) FROM sample_view"
                " JOIN attribution USING (sample_id)"
                f" WHERE {case.where} GROUP BY 1, 2 HAVING count(*) >= ?", (case.ignored,)):
            if key in told:
                told[key][said] = samples
    for key, wanted in case.told.items():
        words = " ".join(sorted(told[key]))
        assert words in ([wanted] if isinstance(wanted, str) else wanted), (name, key, told[key])
        assert min(told[key].values()) > case.least, (name, key, told[key])


for case in CASES:
    if case.source in (sys.argv[1:] or case.source):
        for build in case.builds:
            check(case, build)
