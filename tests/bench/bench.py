#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ratios and sizes of one run of memlag, beside the limits it is built for.

Runs sqlite3, gzip, python3 and STREAM triad jobs, and a program that does nothing, under
'memlag record --source sim', with the full model and with the caches alone, and under
cachegrind with its cache simulation, in turns, and compares the medians of their CPU
seconds. Then four threads beside four times the cost of one. Then records about a million
samples of the sqlite3 job: the time that they add to a run without samples, memlag's peak
memory and the bytes of the database. Numbers of one machine at one moment: nothing here
fails because a machine is slow.
"""
import argparse
import os
import pathlib
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import typing

SAMPLES = 1_000_000

PYTHON_JOB = """
words = {}
state = 12345
for i in range(150000):
    state = (state * 1103515245 + 12345) % 2147483648
    word = 'word%d' % (state % 9973)
    words[word] = words.get(word, 0) + i
total = sum(len(w) * n for w, n in sorted(words.items()))
print(total, len(words))
"""

SQL_JOB = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
INSERT INTO item SELECT i, 'item ' || (i * 7919 % 120000), i * 31 % 1000 FROM n;
CREATE INDEX item_name ON item (name);
SELECT count(*), sum(a.price) FROM item a JOIN item b ON b.name = 'item ' || (a.id / 2);
SELECT price, count(*) FROM item GROUP BY price ORDER BY 2 DESC, 1 LIMIT 3;
"""


# The same CPU on every machine.
SIM = ["--source", "sim", "--sim-cpu", "skylake-sp", "--sim-prefetch", "off"]


def text(size_bytes):
    """Words with the unequal frequencies of a natural text, the same in every run."""
    generator = random.Random(1)
    words = [
        "".join(generator.choices("etaoinshrdlucmfwyp", k=generator.randint(2, 9)))
        for _ in range(3000)
    ]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    lines = []
    length = 0
    while length < size_bytes:
        line = " ".join(generator.choices(words, weights, k=12)) + "\n"
        lines.append(line)
        length += len(line)
    return "".join(lines)[:size_bytes]


THREADS = 4
THREAD_BYTES = 8 << 20
THREAD_PASSES = 16


def make_jobs(memlag, directory):
    """Name, command, standard input and the limits of memlag's time over cachegrind's, with
    the full model and with the caches alone (None: there is none)."""
    (directory / "job.sql").write_text(SQL_JOB)
    (directory / "job.py").write_text(PYTHON_JOB)
    (directory / "job.txt").write_text(text(8_000_000))
    return [
        ("sqlite3", ["sqlite3", "-batch", ":memory:"], directory / "job.sql", 1.0, 0.6),
        ("gzip", ["gzip", "-6", "-c"], directory / "job.txt", 1.0, 0.6),
        # Not "python3", which may be a script that finds the interpreter: cachegrind
        # would follow the script only.
        ("python3", [os.path.realpath(sys.executable), str(directory / "job.py")], None, 1.0, 0.6),
        ("triad", [memlag, "bench", "triad", "--size=24M", "--passes=40"], None, 1.5, None),
        ("start-up", ["/bin/true"], None, 1.2, None),
    ]


class Cost(typing.NamedTuple):
    cpu_s: float
    wall_s: float
    peak_bytes: int


def run(command, stdin, directory, watch_memory=False):
    """CPU and wall seconds of COMMAND and the peak resident bytes of its first process."""
    source = open(stdin, "rb") if stdin else subprocess.DEVNULL
    errors = directory / "errors"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with open(errors, "wb") as stderr:
        process = subprocess.Popen(
            command, stdin=source, stdout=subprocess.DEVNULL, stderr=stderr, cwd=directory
        )
        peak = 0
        while watch_memory and process.poll() is None:
            peak = max(peak, resident_peak(process.pid))
            time.sleep(0.005)
        status = process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.monotonic() - start
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if status != 0:
        sys.exit(f"bench: {' '.join(command)}: status {status}\n{errors.read_text()}")
    return Cost(cpu, seconds, peak)


def resident_peak(pid):
    """VmHWM: the process's own peak, without its children's."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def row(name, value, limit, note=""):
    state = "" if limit is None else ("ok" if value <= limit else "over")
    shown = "" if limit is None else f"{limit:.2f}"
    print(f"{name:<44} {value:>10.2f} {shown:>8} {state:<5} {note}".rstrip(), flush=True)


def recording(memlag, detail="full"):
    return [memlag, "record", *SIM, f"--sim-detail={detail}", "--force"] + ["-o", "job.db", "--"]


def median_cpu(costs):
    return statistics.median(cost.cpu_s for cost in costs)


def compare_with_cachegrind(memlag, jobs, rounds, directory):
    cachegrind = ["valgrind", "--tool=cachegrind", "--cache-sim=yes"]
    cachegrind += ["--cachegrind-out-file=/dev/null"]
    tools = [[], cachegrind, recording(memlag), recording(memlag, "cache")]
    for name, command, stdin, limit, caches_limit in jobs:
        costs = [[] for _ in tools]
        for _ in range(rounds):
            for tool, of_tool in zip(tools, costs):
                of_tool.append(run(tool + command, stdin, directory))
        native, theirs, full, caches = (median_cpu(of_tool) for of_tool in costs)
        note = f"native {native:.2f} s, cachegrind {theirs:.2f} s, memlag "
        row(f"{name}: time over cachegrind's", full / theirs, limit, f"{note}{full:.2f} s")
        row(
            f"{name}: the same, caches only",
            caches / theirs,
            caches_limit,
            f"memlag {caches:.2f} s",
        )


def cost_of_threads(memlag, rounds, directory):
    """Start-up, which comes once, is left out on both sides."""

    def kernel(threads):
        size = f"--size={threads * THREAD_BYTES}"
        passes = f"--passes={THREAD_PASSES}"
        return [memlag, "bench", "memread", f"--threads={threads}", size, passes]

    commands = [["/bin/true"], kernel(1), kernel(THREADS)]
    costs = [[] for _ in commands]
    for _ in range(rounds):
        for command, of_command in zip(commands, costs):
            of_command.append(run(recording(memlag) + command, None, directory))
    start, one, several = (median_cpu(of_command) for of_command in costs)
    row(
        f"{THREADS} threads: time over {THREADS} times one's",
        (several - start) / (THREADS * (one - start)),
        1.3,
        f"one {one - start:.2f} s, {THREADS} {several - start:.2f} s",
    )


def sample_count(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute("SELECT count(*) FROM sample").fetchone()[0]


def cost_of_samples(memlag, job, rounds, directory):
    _, command, stdin, *_ = job
    database = directory / "many.db"

    def record(period):
        arguments = ["record", *SIM, "--force", "-o", str(database)]
        arguments += ["--ldlat", "1", "--period", str(period), "--"]
        return run([memlag] + arguments + command, stdin, directory, watch_memory=True)

    # A coarse run tells how many loads there are, hence the period for the wanted count.
    record(10_000)
    period = max(1, sample_count(database) * 10_000 // SAMPLES)
    few, many = [], []
    for _ in range(rounds):
        few.append(record(1_000_000_000).wall_s)
        many.append(record(period))
    samples = sample_count(database)
    size = database.stat().st_size
    beyond = statistics.median(cost.wall_s for cost in many) - statistics.median(few)
    note = f"{samples} samples, one in {period} loads"
    row("seconds that a million samples add", beyond * SAMPLES / samples, 10, note)
    row("peak memory of memlag, MB", max(cost.peak_bytes for cost in many) / 1e6, 500)
    row("bytes in the database for each sample", size / samples, 80)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("memlag", help="the program, for instance build/bin/memlag")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind (5)")
    parser.add_argument("--only", choices=["time", "threads", "samples"], help="one part of it")
    options = parser.parse_args()
    memlag = os.path.abspath(options.memlag)
    with tempfile.TemporaryDirectory(prefix="memlag-bench-") as name:
        directory = pathlib.Path(name)
        jobs = make_jobs(memlag, directory)
        print(f"{'':<44} {'value':>10} {'limit':>8}")
        if options.only in (None, "time"):
            compare_with_cachegrind(memlag, jobs, options.rounds, directory)
        if options.only in (None, "threads"):
            cost_of_threads(memlag, options.rounds, directory)
        if options.only in (None, "samples"):
            cost_of_samples(memlag, jobs[0], options.rounds, directory)


if __name__ == "__main__":
    main()
