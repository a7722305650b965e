#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small programs as one meets them (causes.c): the verdict on the report's first line, whose
loads stalled the program for longest, must be what an expert would say, and name what helps.
So each is run again on a CPU on which one thing is better: translations, buffers, memory's
latency, its bandwidth, the L3 or the way from other cores. What the verdict names must save
time, and nothing else may save more."""
import collections
import os
import subprocess
import tempfile

import experiment
import verdict_cases

CPU = "skylake-sp"
HERE = os.path.dirname(os.path.abspath(__file__))

# What is changed, and to what: translations to none, bandwidth to plenty, the others to half
# the way and twice the room.
BETTER = {
    "translations": ["page_walk.latency_cycles=1", "stlb.latency_cycles=0"],
    "buffers": ["core.lfb_entries=24", "l2.queue_entries=64"],
    "memory's latency": ["dram.latency_ns=45"],
    "bandwidth": ["dram.bandwidth_gbs=408"],
    "L3": ["l3.latency_cycles=28", "l3.bytes_per_cycle=20"],
    "other cores": ["hitm.latency_cycles=50"],
}
# What shortens the time of code with a verdict.
CURE = {"dram-latency": "memory's latency", "in-core": "buffers", "tlb": "translations",
        "dram-contention": "bandwidth", "cache": "L3", "sharing": "other cores"}
# Where lines of caches or of other cores are waited for, a better memory helps little.
NOT_MEMORY = {"cache", "sharing"}
MEMORY = ["memory's latency", "bandwidth"]
LEAST_GAIN = 0.1
MOST_OTHER = 0.05

HEADER = ["program", "prefetch", "verdict", "mean_latency_cycles", "latency_share",
          "stalled_ratio"]
GAINS_HEADER = [f"gain_{name.replace(' ', '_')}".replace("'s", "") for name in BETTER]

Program = collections.namedtuple("Program", "name functions truth settings timed")
Run = collections.namedtuple("Run", "memlag directory prefetch program")


def program(name, truth, functions=None, settings=(), timed=True):
    return Program(name, functions or [name], truth, settings, timed)


FULL = {"in-core", "dram-latency"}
PROGRAMS = [
    program("btree", {"dram-latency"}),
    program("hash_join", FULL),
    program("interned", FULL),
    program("sparse", FULL),
    program("sparse-L3", {"cache", "in-core"}, ["sparse"]),
    program("transpose", {"cache"}),
    program("product", {"cache"}),
    program("add", {"dram-contention"}, settings=["dram.bandwidth_gbs=15"]),
    # Its threads wait for each other, for which the model has no time of its own.
    program("ring", {"sharing"}, ["produce", "consume"], timed=False),
    program("histogram", {"sharing"}),
    program("neighbours", {"sharing"}),
]


def record(run, options=(), settings=()):
    path = os.path.join(run.directory, "run.db")
    command = [run.memlag, "record", "--force", "-o", path, "--source", "sim", "--sim-cpu",
               CPU, "--sim-prefetch", run.prefetch, "--interval", "0.5", "--no-heap",
               *verdict_cases.LOADS_ALONE, *options]
    for setting in ["numa.nodes=1", *run.program.settings, *settings]:
        command += ["--sim-set", setting]
    subprocess.run([*command, "--", os.path.join(run.directory, "causes"), run.program.name],
                   check=True, capture_output=True,
                   env={**os.environ, "XDG_DATA_HOME": run.directory})
    return verdict_cases.opened(path)


def first_line(run):
    with record(run) as connection:
        return connection.execute(
            "SELECT function, verdict, mean_latency_cycles, latency_share, stalled_ratio"
            " FROM line_view ORDER BY stalled_ratio DESC, latency_share DESC LIMIT 1").fetchone()


def time_ns(run, settings=()):
    """From the function's first sample to its last: of all loads, as what is better has
    fewer slow ones."""
    with record(run, ["--ldlat", "1", "--period", "500"], settings) as connection:
        return connection.execute(
            "SELECT max(time_ns) - min(time_ns) FROM sample_view WHERE function = ?",
            (run.program.functions[0],)).fetchone()[0]


def gains_of(run, names):
    """The parts of the time that what is better would save."""
    ns = time_ns(run)
    return {name: 1 - time_ns(run, BETTER[name]) / ns for name in names}


def state_verdict(statements, run):
    """Gives where that was, the verdict, and the row of the table."""
    function, verdict, mean, share, stalled = first_line(run)
    where = f"{run.program.name}, prefetching {run.prefetch}"
    truth = ", ".join(sorted(run.program.truth))
    statements.add(f"{where}: verdict of the first line",
                   function in run.program.functions and verdict in run.program.truth,
                   f"{verdict}, {share:.0%} of the latency and stalled {stalled:.0%} in {function}"
                   f" ({truth})")
    return where, verdict, [run.program.name, run.prefetch, verdict, f"{mean:.0f}",
                            f"{share:.3f}", f"{stalled:.3f}"]


def state_cure(statements, run):
    where, verdict, _ = state_verdict(statements, run)
    cure = CURE.get(verdict)
    gains = gains_of(run, [cure] if cure else [])
    statements.at_least(f"{where}, {verdict}: part of the time that {cure} would save",
                        gains.get(cure, 0), LEAST_GAIN)


def state_all(statements, run):
    where, verdict, row = state_verdict(statements, run)
    if not run.program.timed:
        return row + [""] * len(BETTER)
    cure = CURE.get(verdict)
    gains = gains_of(run, BETTER)
    told = ", ".join(f"{name} {gain:.0%}" for name, gain in gains.items())
    statements.add(f"{where}, {verdict}: {cure} would save time",
                   gains.get(cure, 0) >= LEAST_GAIN, told)
    statements.add(f"{where}, {verdict}: nothing else would save more",
                   gains.get(cure, 0) == max(gains.values()), told)
    if verdict in NOT_MEMORY:
        statements.add(f"{where}, {verdict}: better memory would save little",
                       max(gains[name] for name in MEMORY) <= MOST_OTHER, told)
    return row + [f"{gain:.3f}" for gain in gains.values()]


def compiled(directory):
    subprocess.run(["cc", "-O2", "-g", "-pthread", "-D_GNU_SOURCE",
                    os.path.join(HERE, "causes.c"), "-o", os.path.join(directory, "causes")],
                   check=True)


def short(memlag, statements):
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as directory:
        compiled(directory)
        for the_program in PROGRAMS:
            if the_program.name in ("btree", "transpose", "histogram"):
                state_cure(statements, Run(memlag, directory, "on", the_program))


def full(memlag, statements, directory):
    with tempfile.TemporaryDirectory(prefix="memlag-experiment-") as scratch:
        compiled(scratch)
        rows = [state_all(statements, Run(memlag, scratch, prefetch, the_program))
                for prefetch in ("off", "on") for the_program in PROGRAMS]
    experiment.write_csv(directory / "causes.csv", HEADER + GAINS_HEADER, rows)


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
