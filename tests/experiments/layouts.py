#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Layout fixes of 'memlag whatif' beside the rewriting: small programs (layouts.c) are run with
the fix, and rewritten programs are recorded. Both must take as many cycles, unless the compiler
finds other instructions for the rewritten program."""
import collections
import contextlib
import os
import sqlite3
import subprocess
import tempfile

import experiment

CPU = "skylake-sp"
HERE = os.path.dirname(os.path.abspath(__file__))
MOST_ERROR = 0.05

Program = collections.namedtuple("Program", "name fix alike")
PROGRAMS = [
    Program("particles", "type:particle=soa", True),
    Program("flags", "type:item=soa", True),
    Program("accounts", "type:account=split(key,next,rate)", True),
    Program("columns", "type:row=pad(64)", True),
    Program("counters", "type:counter=align(64)", True),
    Program("list", "type:node=reorder(key,next)", True),
    # The rewritten program multiplies no index.
    Program("search", "type:entry=split(key,limit)", False),
]
HEADER = ["program", "fix", "prefetch", "cycles", "cycles_with_fix", "cycles_rewritten", "error",
          "gain_with_fix", "gain_rewritten", "instructions", "instructions_rewritten"]
TOTAL = "SELECT sum(value) FROM reading JOIN counter USING (counter_id) WHERE name = ?"
CYCLES, INSTRUCTIONS = "cpu_clk_unhalted.thread", "inst_retired.any"


def built(directory, program, *flags):
    path = os.path.join(directory, "_".join([program.name, *flags]).replace("-D", ""))
    subprocess.run(["cc", "-O2", "-g", "-fno-tree-vectorize", "-pthread",
                    f"-D{program.name.upper()}", *flags, "-o", path,
                    os.path.join(HERE, "layouts.c")], check=True)
    return path


def run(directory, prefetch, command, options, program):
    """The database of a run."""
    path = os.path.join(directory, "run.db")
    subprocess.run([*command, "--sim-cpu", CPU, "--sim-set", "numa.nodes=1", "--sim-prefetch",
                    prefetch, "--force", "-o", path, *options, "--", program],
                   check=True, capture_output=True, stdin=subprocess.DEVNULL,
                   env={**os.environ, "XDG_DATA_HOME": directory})
    return contextlib.closing(sqlite3.connect(path))


def totals(connection):
    return [connection.execute(TOTAL, (name,)).fetchone()[0] for name in (CYCLES, INSTRUCTIONS)]


def compare(memlag, statements, directory, prefetch, program):
    """Adds a statement; gives the row of the table."""
    with run(directory, prefetch, [memlag, "whatif"], ["--fix", program.fix],
             built(directory, program)) as connection:
        before, instructions = totals(connection)
        with_fix, = connection.execute("SELECT cycles FROM whatif_run").fetchone()
    with run(directory, prefetch, [memlag, "record", "--source", "sim"], [],
             built(directory, program, "-DREWRITTEN")) as connection:
        after, instructions_after = totals(connection)
    if program.alike:
        statements.near(f"{program.name}, prefetching {prefetch}: cycles with {program.fix}",
                        with_fix, after, MOST_ERROR)
    return [program.name, program.fix, prefetch, before, f"{with_fix:.0f}", after,
            f"{with_fix / after - 1:.4f}", f"{1 - with_fix / before:.4f}",
            f"{1 - after / before:.4f}", instructions, instructions_after]


def short(memlag, statements):
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as directory:
        for program in PROGRAMS:
            if program.name in ("accounts", "counters", "flags"):
                compare(memlag, statements, directory, "on", program)


def full(memlag, statements, directory):
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as scratch:
        rows = [compare(memlag, statements, scratch, prefetch, program)
                for prefetch in ("off", "on") for program in PROGRAMS]
    experiment.write_csv(directory / "layouts.csv", HEADER, rows)


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
