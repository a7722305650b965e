#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulated PMU compared with this machine. 'memlag calibrate' has made its CPU model 'host'.
The result is the model's time for kernels and programs over the real time.

Of kernels it is the time of an access or a pass, of programs the CPU time of the whole run. Real
runs of all programs alternate with the model's runs, and their median counts, because the
processor's other work changes with time. On a busy machine give --realtime, as root: real programs
then have a CPU for themselves while they run. Numbers of one machine at one moment: nothing here
fails because a machine is slow."""
import argparse
import json
import os
import pathlib
import resource
import shlex
import sqlite3
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bench  # noqa: E402

LIMIT = 0.30

# Valgrind knows no AVX-512, so the C library takes other functions under it. Both sides are to run
# these. (Without AVX-512, and without fast "rep movsb".)
SAME_CODE = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,"
                               "-AVX512DQ,-ERMS,-FSRM"}

# Name, kernel with options, and two numbers of passes whose difference is modelled.
KERNELS = [
    ("chase, 256 KiB", ["chase", "--size", "256K", "--pages", "small"], (100, 300)),
    ("chase, 4 MiB", ["chase", "--size", "4M", "--pages", "small"], (2, 10)),
    ("chase, 256 MiB, huge pages", ["chase", "--size", "256M", "--pages", "huge"], (1, 2)),
    ("chase, 256 MiB, small pages", ["chase", "--size", "256M", "--pages", "small"], (1, 2)),
    ("triad, 96 MiB", ["triad", "--size", "96M", "--pages", "small"], (1, 3)),
    ("gather, 256 MiB, huge pages", ["gather", "--size", "256M", "--pages", "huge"], (1, 2)),
    ("gather, 256 MiB, small pages", ["gather", "--size", "256M", "--pages", "small"], (1, 2)),
]


def real_time():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def run(command, directory, stdin=None, before_it=None):
    """CPU seconds of COMMAND, and its standard output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run(command, stdin=source, capture_output=True, cwd=directory,
                              check=False, preexec_fn=before_it, env=os.environ | SAME_CODE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"reality: {shlex.join(command)}: status {done.returncode}\n"
                 f"{done.stderr.decode(errors='replace')}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, done.stdout


class Kernel:
    """A kernel of memlag's own: the time of one access."""

    def __init__(self, memlag, name, options, passes):
        self.memlag, self.name, self.passes = memlag, name, passes
        self.command = [memlag, "bench", *options, "--format", "json"]

    def real(self, directory, before_it):
        output = run(self.command, directory, None, before_it)[1]
        return json.loads(output)["ns_per_access"] * 1e-9

    def modelled(self, record):
        """Two runs of different length: the time before the passes cancels out."""
        seconds = [record([*self.command, "--passes", str(passes)]) for passes in self.passes]
        _, output = run([*self.command, "--passes", "1"], None)
        description = json.loads(output)
        accesses = description["seconds"] / (description["ns_per_access"] * 1e-9)
        return (seconds[1] - seconds[0]) / (self.passes[1] - self.passes[0]) / accesses


class Walk:
    """A pass of matrix_walk, as the difference of runs with passes and without."""

    REAL_PASSES, MODELLED_PASSES = 20, 2

    def __init__(self, memlag, order):
        self.name = f"matrix by {order}"
        self.program = [str(pathlib.Path(memlag).parent / "matrix_walk"), order]

    def pass_seconds(self, passes, seconds_of):
        few, many = (seconds_of([*self.program, str(count)]) for count in (0, passes))
        return (many - few) / passes

    def real(self, directory, before_it):
        return self.pass_seconds(self.REAL_PASSES, lambda command: run(
            command, directory, None, before_it)[0])

    def modelled(self, record):
        return self.pass_seconds(self.MODELLED_PASSES, record)


class Program:
    """A whole run of a program."""

    def __init__(self, name, command, stdin=None):
        self.name, self.command, self.stdin = name, command, stdin

    def real(self, directory, before_it):
        return run(self.command, directory, self.stdin, before_it)[0]

    def modelled(self, record):
        return record(self.command, self.stdin)


# Changes to bench.py's jobs that make them run for one to three seconds.
TEXT_COPIES = 5
LONGER = {"sqlite3": ("120000", "1000000"), "python3": ("150000", "3500000")}


def longer_jobs(memlag, directory):
    """The commands and standard inputs of bench.py's jobs. Jobs that take less than a second repeat
    their work."""
    jobs = {name: (command, stdin) for name, command, stdin, *_ in
            bench.make_jobs(memlag, directory)}
    text = directory / "job.txt"
    text.write_text(text.read_text() * TEXT_COPIES)
    for name, file in (("sqlite3", "job.sql"), ("python3", "job.py")):
        path = directory / file
        path.write_text(path.read_text().replace(*LONGER[name]))
    return jobs


def make_programs(memlag, directory):
    jobs = longer_jobs(memlag, directory)
    return [
        Program("lz4 -9", ["lz4", "-9", "-c", str(directory / "job.txt")]),
        *(Program(name, *jobs[name]) for name in ("gzip", "sqlite3", "python3")),
    ]


def recorder(memlag, model, directory):
    """A function that records a command, with options for the MODEL, and returns the model's
    seconds for it."""
    def record(command, stdin=None):
        database = directory / "reality.db"
        run([memlag, "record", "--source", "sim", *model, "--no-heap", "--force", "-o", str(database),
             "--", *command], directory, stdin)
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            (value,), = connection.execute("SELECT value FROM run_info WHERE key = 'duration_ns'")
        return int(value) * 1e-9
    return record


def readable(seconds):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def compare_times(memlag, record, rounds, directory, before_it):
    """Real runs of all in turns, and between the turns the model's."""
    items = [Kernel(memlag, *kernel) for kernel in KERNELS]
    items += [Walk(memlag, order) for order in ("rows", "columns")]
    items += make_programs(memlag, directory)
    real, modelled = {item: [] for item in items}, {}
    for turn in range(rounds):
        for item in items:
            real[item].append(item.real(directory, before_it))
        for item in items[turn::rounds]:
            modelled[item] = item.modelled(record)
    print("| kernel or program | real | from | to | modelled | modelled / real | within ±30 % |")
    print("|---|---|---|---|---|---|---|")
    for item in items:
        median = statistics.median(real[item])
        ratio = modelled[item] / median
        times = map(readable, (median, min(real[item]), max(real[item]), modelled[item]))
        print(f"| {item.name} | {' | '.join(times)} | {ratio:.2f}"
              f" | {'yes' if abs(ratio - 1) <= LIMIT else 'no'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memlag", help="the program, for instance build/bin/memlag")
    parser.add_argument("--rounds", type=int, default=10, help="real runs of each (10)")
    parser.add_argument("--realtime", action="store_true",
                        help="run the real programs at real-time priority")
    parser.add_argument("--sim-cpu", default="host", metavar="CPU", help="the model's CPU (host)")
    parser.add_argument("--sim-prefetch", default="on", metavar="LIST",
                        help="the model's prefetchers (on)")
    parser.add_argument("--sim-detail", default="branches", metavar="DETAIL",
                        help="what the model follows (branches)")
    options = parser.parse_args()
    memlag = os.path.abspath(options.memlag)
    model = ["--sim-cpu", options.sim_cpu, "--sim-prefetch", options.sim_prefetch,
             "--sim-detail", options.sim_detail]
    before_it = real_time if options.realtime else None
    with tempfile.TemporaryDirectory(prefix="memlag-reality-") as name:
        directory = pathlib.Path(name)
        compare_times(memlag, recorder(memlag, model, directory), options.rounds, directory,
                      before_it)


if __name__ == "__main__":
    main()
