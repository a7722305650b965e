#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small programs as one meets them (causes.c): the verdict on the line that waits most must
be what an expert would say, and name what helps. So each is run again on a CPU on which one
thing is better: translations, buffers, memory's latency, its bandwidth or the L3."""
import collections
import os
import subprocess
import tempfile

import experiment
import verdict_cases

CPU = "skylake-sp"
HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = ["program", "prefetch", "verdict", "mean_latency_cycles", "latency_share"]

# What is changed, and to what.
BETTER = {
    "translations": ["page_walk.latency_cycles=1", "stlb.latency_cycles=0"],
    "buffers": ["core.lfb_entries=24", "l2.queue_entries=64"],
    "memory's latency": ["dram.latency_ns=45"],
    "bandwidth": ["dram.bandwidth_gbs=408"],
    "L3": ["l3.latency_cycles=37"],
}
# What shortens the time of code with a verdict. Where lines of caches or of other cores are
# waited for, a better memory does not.
CURE = {"dram-latency": "memory's latency", "in-core": "buffers", "tlb": "translations",
        "dram-contention": "bandwidth"}
MEMORY = ["memory's latency", "bandwidth"]
LEAST_GAIN = 0.1
MOST_OTHER = 0.05

Program = collections.namedtuple("Program", "name function truth settings")


def program(name, truth, function=None, settings=()):
    return Program(name, function or name, truth, settings)


FULL = {"in-core", "dram-latency"}
PROGRAMS = [
    program("btree", {"dram-latency"}),
    program("hash_join", FULL),
    program("interned", FULL),
    program("sparse", FULL),
    program("sparse-L3", {"cache", "in-core"}, "sparse"),
    program("transpose", {"cache"}),
    program("product", {"cache"}),
    program("add", {"dram-contention"}, settings=["dram.bandwidth_gbs=15"]),
    program("ring", {"sharing"}, "consume"),
    program("histogram", {"sharing"}),
    program("neighbours", {"sharing"}),
]


def record(memlag, directory, prefetch, the_program, settings):
    """Of FUNCTION: its most important line, and its time from first sample to last."""
    path = os.path.join(directory, "run.db")
    command = [memlag, "record", "--force", "-o", path, "--source", "sim", "--sim-cpu", CPU,
               "--sim-prefetch", prefetch, "--interval", "0.5", "--no-heap"]
    for setting in ["numa.nodes=1", *the_program.settings, *settings]:
        command += ["--sim-set", setting]
    subprocess.run([*command, "--", os.path.join(directory, "causes"), the_program.name],
                   check=True, capture_output=True,
                   env={**os.environ, "XDG_DATA_HOME": directory})
    with verdict_cases.opened(path) as connection:
        line = connection.execute(
            "SELECT function, verdict, mean_latency_cycles, latency_share FROM line_view"
            " ORDER BY latency_share DESC LIMIT 1").fetchone()
        ns = connection.execute(
            "SELECT max(time_ns) - min(time_ns) FROM sample_view WHERE function = ?",
            (the_program.function,)).fetchone()[0]
    return line, ns


def state_gains(statements, where, verdict, gains):
    told = ", ".join(f"{name} {gain:.0%}" for name, gain in gains.items())
    if verdict in CURE:
        statements.add(f"{where}, {verdict}: {CURE[verdict]} would save time",
                       gains[CURE[verdict]] >= LEAST_GAIN, told)
    else:
        statements.add(f"{where}, {verdict}: better memory would not",
                       max(gains[name] for name in MEMORY) <= MOST_OTHER, told)


def state(statements, memlag, directory, prefetch, the_program, better):
    (function, verdict, mean, share), ns = record(memlag, directory, prefetch, the_program, [])
    where = f"{the_program.name}, prefetching {prefetch}"
    statements.add(f"{where}: verdict of the first line",
                   function == the_program.function and verdict in the_program.truth,
                   f"{verdict}, {share:.0%} in {function} ({', '.join(sorted(the_program.truth))})")
    if better:
        gains = {name: 1 - record(memlag, directory, prefetch, the_program, settings)[1] / ns
                 for name, settings in better.items()}
        state_gains(statements, where, verdict, gains)
    return [the_program.name, prefetch, verdict, f"{mean:.0f}", f"{share:.3f}"]


def compiled(directory):
    subprocess.run(["cc", "-O2", "-g", "-pthread", "-D_GNU_SOURCE",
                    os.path.join(HERE, "causes.c"), "-o", os.path.join(directory, "causes")],
                   check=True)


def short(memlag, statements):
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as directory:
        compiled(directory)
        for the_program in PROGRAMS:
            if the_program.name in ("btree", "transpose", "ring"):
                state(statements, memlag, directory, "on", the_program, {})


def full(memlag, statements, directory):
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as scratch:
        compiled(scratch)
        rows = [state(statements, memlag, scratch, prefetch, the_program, BETTER)
                for prefetch in ("off", "on") for the_program in PROGRAMS]
    experiment.write_csv(directory / "causes.csv", HEADER, rows)


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
