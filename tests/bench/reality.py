#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulated PMU against the machine at hand, of which 'memlag calibrate' has made the
CPU model 'host'.

1. Time: what the model says that kernels and programs take, over what they take. Of
   kernels it is the time of a pass, of programs that of the whole run. Real times are the
   least of several runs, since noise only adds.
2. Ranking: how well the lines that hold the program up longest in the model (record
   --freq) are those at which a timer finds it waiting, as Spearman's rank correlation.

Numbers of one machine at one moment: nothing here fails because a machine is slow."""
import argparse
import json
import os
import pathlib
import resource
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import bench  # noqa: E402

LIMIT = 0.30
SPEARMAN_LIMIT = 0.8
# Lines that have so little of the waiting are noise to a timer.
SHARE_MINIMUM = 0.01
# Samples of each second that the model waits for loads: programs run for parts of one.
MODEL_HZ = 100000

# Name, kernel with options, and two numbers of passes whose difference is modelled.
KERNELS = [
    ("chase, 256 KiB", ["chase", "--size", "256K", "--pages", "small"], (100, 300)),
    ("chase, 4 MiB", ["chase", "--size", "4M", "--pages", "small"], (2, 10)),
    ("chase, 256 MiB", ["chase", "--size", "256M", "--pages", "small"], (1, 2)),
    ("triad, 96 MiB", ["triad", "--size", "96M", "--pages", "small"], (1, 3)),
    ("gather, 256 MiB", ["gather", "--size", "256M", "--pages", "small"], (1, 2)),
]


def run(command, directory, stdin=None):
    """Wall and CPU seconds of COMMAND, and its standard output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run(command, stdin=source, capture_output=True, cwd=directory,
                              check=False)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"reality: {shlex.join(command)}: status {done.returncode}\n"
                 f"{done.stderr.decode(errors='replace')}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, done.stdout


def query(database, text, *values):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute(text, values).fetchall()


class Kernel:
    """A kernel of memlag's own: the time of one access."""

    def __init__(self, memlag, name, options, passes):
        self.memlag, self.name, self.passes = memlag, name, passes
        self.command = [memlag, "bench", *options, "--format", "json"]

    def real(self, directory):
        output = run(self.command, directory)[2]
        return (json.loads(output)["ns_per_access"] * 1e-9,)

    @staticmethod
    def least(times):
        return min(times)[0]

    def modelled(self, record):
        """Two runs of different length, so that what goes before the passes cancels."""
        seconds = [record([*self.command, "--passes", str(passes)])[0]
                   for passes in self.passes]
        _, _, output = run([*self.command, "--passes", "1"], None)
        description = json.loads(output)
        accesses = description["seconds"] / (description["ns_per_access"] * 1e-9)
        return (seconds[1] - seconds[0]) / (self.passes[1] - self.passes[0]) / accesses


class Walk:
    """A pass of matrix_walk."""

    def __init__(self, memlag, order):
        self.name = f"matrix by {order}"
        program = str(pathlib.Path(memlag).parent / "matrix_walk")
        self.commands = [[program, order, str(passes)] for passes in (0, 2)]

    def real(self, directory):
        return tuple(run(command, directory)[1] for command in self.commands)

    @staticmethod
    def least(times):
        few, many = (min(runs) for runs in zip(*times))
        return (many - few) / 2

    def modelled(self, record):
        few, many = (record(command)[0] for command in self.commands)
        return (many - few) / 2


class Program:
    """A whole run of a program."""

    def __init__(self, name, command, stdin=None):
        self.name, self.command, self.stdin = name, command, stdin

    def real(self, directory):
        return (run(self.command, directory, self.stdin)[0],)

    @staticmethod
    def least(times):
        return min(times)[0]

    def modelled(self, record):
        return record(self.command, self.stdin)[0]


def make_programs(memlag, directory):
    jobs = {name: (command, stdin) for name, command, stdin, *_ in
            bench.make_jobs(memlag, directory)}
    text = str(jobs["gzip"][1])
    return [
        Program("lz4 -9", ["lz4", "-9", "-c", text]),
        Program("lz4 -1", ["lz4", "-1", "-c", text]),
        Program("sqlite3", *jobs["sqlite3"]),
        Program("gzip", *jobs["gzip"]),
        Program("python3", *jobs["python3"]),
    ]


def recorder(memlag, prefetch, directory, more=()):
    """A function that records a command, with MORE options, and returns the model's
    seconds for it, and the database."""
    def record(command, stdin=None):
        database = directory / "reality.db"
        arguments = [memlag, "record", "--source", "sim", "--sim-cpu", "host",
                     "--sim-prefetch", prefetch, *more, "--force", "-o", str(database),
                     "--"]
        run(arguments + command, directory, stdin)
        (value,), = query(database, "SELECT value FROM run_info WHERE key = 'duration_ns'")
        return int(value) * 1e-9, database
    return record


def readable(seconds):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def compare_times(memlag, record, rounds, directory):
    items = [Kernel(memlag, *kernel) for kernel in KERNELS]
    items += [Walk(memlag, order) for order in ("rows", "columns")]
    items += make_programs(memlag, directory)
    # In turns, so that a disturbance does not hit one of them alone.
    real = {item.name: [] for item in items}
    for _ in range(rounds):
        for item in items:
            real[item.name].append(item.real(directory))
    print("| kernel or program | real | modelled | modelled / real | within ±30 % |")
    print("|---|---|---|---|---|")
    for item in items:
        least = item.least(real[item.name])
        modelled = item.modelled(record)
        ratio = modelled / least
        holds = "yes" if abs(ratio - 1) <= LIMIT else "no"
        print(f"| {item.name} | {readable(least)} | {readable(modelled)} | {ratio:.2f}"
              f" | {holds} |", flush=True)


# ---- ranking ----

LINES = """
SELECT file, line, sum(latency_share) FROM line_view
WHERE line IS NOT NULL GROUP BY file, line
"""


def ranks(values):
    """Ranks from 1, equal values sharing the mean of theirs."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for i in order[at:end]:
            result[i] = (at + end + 1) / 2
        at = end
    return result


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    product = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    square_a = sum((x - mean_a) ** 2 for x in a)
    square_b = sum((y - mean_b) ** 2 for y in b)
    return product / (square_a * square_b) ** 0.5


def line_shares(database):
    return {(file, line): share or 0 for file, line, share in query(database, LINES)}


def timer_shares(memlag, command, stdin, rounds, directory):
    """Mean shares of ROUNDS recordings with the timer."""
    total = {}
    for _ in range(rounds):
        database = directory / "timer.db"
        run([memlag, "record", "--source", "clock", "--force", "-o", str(database), "--",
             *command], directory, stdin)
        for line, share in line_shares(database).items():
            total[line] = total.get(line, 0) + share / rounds
    return total


def compare_ranking(memlag, record, programs, rounds, directory):
    print("| program | lines | Spearman | at least 0.8 |")
    print("|---|---|---|---|")
    for name, command, stdin in programs:
        modelled = line_shares(record(command, stdin)[1])
        timer = timer_shares(memlag, command, stdin, rounds, directory)
        lines = sorted(line for line in modelled.keys() | timer.keys()
                       if max(modelled.get(line, 0), timer.get(line, 0)) >= SHARE_MINIMUM)
        rho = correlation(ranks([modelled.get(line, 0) for line in lines]),
                          ranks([timer.get(line, 0) for line in lines]))
        holds = "yes" if rho >= SPEARMAN_LIMIT else "no"
        print(f"| {name} | {len(lines)} | {rho:.2f} | {holds} |", flush=True)
        for line in sorted(lines, key=lambda line: -timer.get(line, 0))[:12]:
            print(f"  {line[0]}:{line[1]}: timer {timer.get(line, 0):.3f},"
                  f" modelled {modelled.get(line, 0):.3f}", file=sys.stderr)


def ranked_programs(arguments, directory):
    """Of NAME=COMMAND; '{text}' and '{sql}' in COMMAND are files to work on."""
    text, job = str(directory / "job.txt"), str(directory / "job.sql")
    for argument in arguments:
        name, _, command = argument.partition("=")
        words = [word.replace("{text}", text).replace("{sql}", job)
                 .replace("{py}", str(directory / "job.py"))
                 for word in shlex.split(command)]
        yield name, words, None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memlag", help="the program, for instance build/bin/memlag")
    parser.add_argument("--rounds", type=int, default=10, help="real runs of each (10)")
    parser.add_argument("--sim-prefetch", default="on", metavar="LIST",
                        help="the model's prefetchers (on)")
    parser.add_argument("--rank", action="append", default=[], metavar="NAME=COMMAND",
                        help="compare the ranking of lines of this program, which has to "
                        "have debug information, in place of times; {text}, {sql} and "
                        "{py} are input files")
    options = parser.parse_args()
    memlag = os.path.abspath(options.memlag)
    with tempfile.TemporaryDirectory(prefix="memlag-reality-") as name:
        directory = pathlib.Path(name)
        record = recorder(memlag, options.sim_prefetch, directory)
        if options.rank:
            bench.make_jobs(memlag, directory)
            by_time = recorder(memlag, options.sim_prefetch, directory,
                               ["--freq", str(MODEL_HZ)])
            compare_ranking(memlag, by_time,
                            ranked_programs(options.rank, directory), options.rounds,
                            directory)
        else:
            compare_times(memlag, record, options.rounds, directory)


if __name__ == "__main__":
    main()
