# SPDX-License-Identifier: MIT
"""Copied stacks compared with perf script, on the same recordings, frame by frame.

A frame is a file and an offset in it. A stack is equal if every frame of its user part is. perf
shows a caller as the last byte of the call. Frames are compared within a byte, because the two show
an interrupted instruction differently."""
import bisect
import collections
import contextlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

MEMLAG = os.environ["MEMLAG"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/integration/unwind"
CC = os.environ["CC"]
DATABASE = "unwind.db"
USER_END = 2**63
STACKS_LEAST = 20


def run(command, **arguments):
    return subprocess.run(command, capture_output=True, text=True, check=True, **arguments).stdout


# ---- what perf script says ------------------------------------------------------------------

HEAD = re.compile(r"^\s*(\d+)\s+(\d+)\.(\d{9}):\s*$")
FRAME = re.compile(r"^\s+([0-9a-f]+) \((.*?)(?:\+0x([0-9a-f]+))?\)$")
FIELDS = "tid,time,ip,dso"


def perf_stacks(path):
    """(tid, time) → frames of the user part, innermost first."""
    stacks, frames = {}, None
    script = ["perf", "script", "-i", path, "--ns", "--no-inline", "-F"]
    try:  # the offsets in files; versions that do not know the field have them as "ip"
        text = run([*script, FIELDS + ",dsoff"])
    except subprocess.CalledProcessError:
        text = run([*script, FIELDS])
    for line in text.splitlines():
        head, frame = HEAD.match(line), FRAME.match(line)
        if head:
            frames = stacks.setdefault((int(head[1]), int(head[2]) * 10**9 + int(head[3])), [])
        elif frame and int(frame[1], 16) < USER_END and not frame[2].startswith("[kernel"):
            name = os.path.basename(frame[2])
            frames.append((None if name == "[unknown]" else name, int(frame[3] or frame[1], 16)))
    return stacks


# ---- what memlag says -----------------------------------------------------------------------


def query(database, sql):
    opened = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    with contextlib.closing(opened) as connection:
        return connection.execute(sql).fetchall()


def mappings_of(database):
    """By process: where code is, by address."""
    code = collections.defaultdict(list)
    for process, start, length, offset, path in query(
        database,
        "SELECT process_id, start_addr, length_bytes, file_offset_bytes, path FROM mapping"
        " JOIN module USING (module_id) WHERE protection LIKE '__x' ORDER BY start_addr",
    ):
        code[process].append((start, length, offset, os.path.basename(path)))
    return code


def placed(mappings, address):
    at = bisect.bisect_right(mappings, (address, 2**64)) - 1
    if at >= 0 and address - mappings[at][0] < mappings[at][1]:
        return mappings[at][3], address - mappings[at][0] + mappings[at][2]
    return None, address


def memlag_stacks(database):
    node = {
        stack: (parent, ip % 2**64)
        for stack, parent, ip in query(database, "SELECT stack_id, parent_id, ip FROM stack")
    }
    code = mappings_of(database)
    (start,) = query(database, "SELECT value FROM run_info WHERE key = 'clock_start_ns'")[0]
    stacks = {}
    for tid, process, time, leaf in query(
        database,
        "SELECT tid, process_id, time_ns, stack_id FROM sample JOIN thread USING (thread_id)",
    ):
        addresses, is_leaf = [], True
        while leaf is not None:
            leaf, ip = node[leaf]
            addresses.append(ip if is_leaf else ip - 1)
            is_leaf = False
        stacks[(tid, time + int(start))] = [
            placed(code[process], address) for address in addresses if address < USER_END
        ]
    return stacks


def is_equal(ours, theirs):
    return len(ours) == len(theirs) and all(
        a == c and abs(b - d) <= 1 for (a, b), (c, d) in zip(ours, theirs)
    )


def extends(ours, theirs):
    """perf gave up early: its stack is the beginning of memlag's."""
    return len(ours) > len(theirs) and is_equal(ours[: len(theirs)], theirs)


def compare(name):
    """At least 19 of 20 stacks are perf's, and no other contradicts perf."""
    theirs, ours = perf_stacks("made.data"), memlag_stacks(DATABASE)
    equal = sum(is_equal(ours.get(key, []), stack) for key, stack in theirs.items())
    wrong = [
        (ours.get(key), stack)
        for key, stack in theirs.items()
        if not is_equal(ours.get(key, []), stack) and not extends(ours.get(key, []), stack)
    ]
    said = f"{name}: {equal} of {len(theirs)} stacks as perf has them"
    assert len(theirs) >= STACKS_LEAST and equal >= 0.95 * len(theirs), said
    assert len(wrong) <= len(theirs) / 100, (said, wrong[:2])
    print(said)


# ---- who calls whom -------------------------------------------------------------------------


def function_chains():
    """The functions of each sample's user part, innermost first, as often as there are."""
    node = {
        stack: (parent, function, path)
        for stack, parent, function, path in query(
            DATABASE,
            "SELECT stack_id, parent_id, function, path FROM stack LEFT JOIN "
            "stack_location USING (stack_id) LEFT JOIN location USING (location_id) "
            "LEFT JOIN module USING (module_id)",
        )
    }
    chains = collections.Counter()
    for (leaf,) in query(DATABASE, "SELECT stack_id FROM sample WHERE stack_id IS NOT NULL"):
        chain = []
        while leaf is not None:
            leaf, function, path = node[leaf]
            if not (path and path.startswith("[kernel")):
                chain.append(function or "?")
        chains[" ".join(chain)] += 1
    return chains


def expect_chains(name, pattern):
    """Nineteen of twenty samples in burn have callers as PATTERN says: its program is made so.
    The rest may be in the first or last instructions of a function."""
    chains = {chain: n for chain, n in function_chains().items() if chain.startswith("burn")}
    right = sum(n for chain, n in chains.items() if re.fullmatch(pattern, chain))
    said = f"{name}: {right} of {sum(chains.values())} stacks are as the program calls"
    assert right >= STACKS_LEAST and right >= 0.95 * sum(chains.values()), (said, list(chains)[:3])
    print(said)


# ---- programs -------------------------------------------------------------------------------

START = r"( __libc_start_call_main)?( __libc_start_main(_impl|@.*)?)?( _start)?"
FRAMES = rf"burn ((down )+|realigned |of_any_size )main{START}"
# The inner handler runs on another stack: the interrupted one was not copied.
SIGNALS = rf"burn( inner_handler __restore_rt \S+|( handler __restore_rt( burn)?)?( interrupted)+ main{START})"

# Compiler, source, options, the calls that there are; what perf cannot unwind is held against
# the calls only.
PROGRAMS = {
    "C": ([CC, "-O1", "-g"], "frames.c", FRAMES, True),
    "C without frame pointers": ([CC, "-O3", "-fomit-frame-pointer"], "frames.c", None, True),
    "C++ exceptions": (["c++", "-O2"], "exceptions.cc", None, True),
    "Rust": (["rustc", "-O"], "unwinding.rs", None, True),
    "signals": ([CC, "-O1", "-g"], "signals.c", SIGNALS, True),
    "the kernel's vdso": ([CC, "-O2", "-fomit-frame-pointer"], "clock_reader.c", None, True),
    "a library": ([CC, "-O2", "callbacks.so"], "callbacks.c", None, True),
    "code made at run time": (
        [CC, "-O1", "-g"], "made_code.c", rf"burn work (\[JIT code\]|\?) main{START}", False),
    "static": ([CC, "-O1", "-g", "-static"], "frames.c", FRAMES, False),
    "no search table": ([CC, "-O1", "-Wl,--no-eh-frame-hdr"], "frames.c", FRAMES, False),
    "tables for debuggers": (
        [CC, "-O1", "-g", "-fno-asynchronous-unwind-tables"], "frames.c", FRAMES, False),
    "packed tables for debuggers": (
        [CC, "-O1", "-g", "-gz", "-fno-asynchronous-unwind-tables"], "frames.c", FRAMES, False),
}


def main():
    probe = ["perf", "record", "-q", "-e", "cpu-clock", "--call-graph", "dwarf", "-o", "made.data"]
    if not shutil.which("perf") or subprocess.run(
            [*probe, "true"], capture_output=True, check=False).returncode != 0:
        print("SKIPPED: perf cannot record copied stacks here")
        sys.exit(77)
    run([CC, "-O2", "-shared", "-fPIC", "-DLIBRARY", "-o", "callbacks.so", SOURCE / "callbacks.c"])
    for name, (compiler, source, calls, perf_can) in PROGRAMS.items():
        if not shutil.which(compiler[0]):
            print(f"SKIPPED: {name}: there is no {compiler[0]}")
            continue
        run([compiler[0], SOURCE / source, *compiler[1:], "-o", "program"])
        run([*probe, "-F", "2000", "./program"], env={**os.environ, "LD_LIBRARY_PATH": "."})
        run([MEMLAG, "import", "--force", "-o", DATABASE, "made.data"])
        if perf_can:
            compare(name)
        if calls:
            expect_chains(name, calls)


if __name__ == "__main__":
    main()
