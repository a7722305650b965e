#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulated PMU against the machine at hand, of which 'memlag calibrate' has made the
CPU model 'host'.

1. Time: what the model says that kernels and programs take, over what they take. Of
   kernels it is the time of an access or a pass, of programs the CPU time of the whole
   run. Real runs are taken in turns over all of them, with the model's in between, and
   their median counts: what else the processor has to do changes with time.
2. Ranking: how well the lines that hold the program up longest in the model (record
   --freq) are those at which a timer finds it waiting, as Spearman's rank correlation.

On a busy machine give --realtime, as root: real programs then have a CPU for themselves
while they run. Numbers of one machine at one moment: nothing here fails because a machine
is slow."""
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
from xml.sax.saxutils import escape

sys.dont_write_bytecode = True
import bench  # noqa: E402

LIMIT = 0.30
SPEARMAN_LIMIT = 0.8
# Lines that have so little of the waiting are noise to a timer.
SHARE_MINIMUM = 0.01
# Samples of each second, as programs run for parts of one: of the model's waiting for
# loads, and of the real time.
MODEL_HZ = 100000
TIMER_HZ = 10000

# The engine knows no AVX-512, so that the C library takes other functions under it: these
# are what both sides are to run. (Without AVX-512, and without fast "rep movsb".)
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


def query(database, text, *values):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute(text, values).fetchall()


class Kernel:
    """A kernel of memlag's own: the time of one access."""

    def __init__(self, memlag, name, options, passes):
        self.memlag, self.name, self.passes = memlag, name, passes
        self.command = [memlag, "bench", *options, "--format", "json"]

    def real(self, directory, before_it):
        output = run(self.command, directory, None, before_it)[1]
        return json.loads(output)["ns_per_access"] * 1e-9

    def modelled(self, record):
        """Two runs of different length, so that what goes before the passes cancels."""
        seconds = [record([*self.command, "--passes", str(passes)])[0] for passes in self.passes]
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
        return self.pass_seconds(self.MODELLED_PASSES, lambda command: record(command)[0])


class Program:
    """A whole run of a program."""

    def __init__(self, name, command, stdin=None):
        self.name, self.command, self.stdin = name, command, stdin

    def real(self, directory, before_it):
        return run(self.command, directory, self.stdin, before_it)[0]

    def modelled(self, record):
        return record(self.command, self.stdin)[0]


# Of bench.py's jobs, so that they run for one to three seconds.
TEXT_COPIES = 5
LONGER = {"sqlite3": ("120000", "1000000"), "python3": ("150000", "3500000")}


def longer_jobs(memlag, directory):
    """The commands and standard inputs of bench.py's jobs, of which those that run for
    parts of a second do more of the same."""
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


def recorder(memlag, model, directory, more=()):
    """A function that records a command, with options for the MODEL and MORE, and returns
    the model's seconds for it, and the database."""
    def record(command, stdin=None):
        database = directory / "reality.db"
        arguments = [memlag, "record", "--source", "sim", *model, "--no-heap", *more,
                     "--force", "-o", str(database), "--"]
        run(arguments + command, directory, stdin)
        (value,), = query(database, "SELECT value FROM run_info WHERE key = 'duration_ns'")
        return int(value) * 1e-9, database
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


# ---- ranking ----

SAMPLES = """
SELECT file, line, path, address_offset, sum(stall_ns)
FROM sample JOIN sample_location USING (sample_id) JOIN location USING (location_id)
JOIN module USING (module_id)
WHERE line IS NOT NULL GROUP BY location_id
"""

RETURNS = (b"\xc3", b"\xf3\xc3", b"\xf2\xc3")


def is_return(path, offset):
    """A timer reports after a return the place that was returned to, and so cannot tell
    the return's own load."""
    try:
        with open(path, "rb") as file:
            return os.pread(file.fileno(), 2, offset).startswith(RETURNS)
    except OSError:
        return False


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
    """Each line's part of the time at loads."""
    times = {}
    for file, line, path, offset, stall_ns in query(database, SAMPLES):
        if stall_ns and not is_return(path, offset):
            times[file, line] = times.get((file, line), 0) + stall_ns
    total = sum(times.values())
    return {line: time / total for line, time in times.items()}


def timer_shares(memlag, command, stdin, directory, before_it):
    database = directory / "timer.db"
    run([memlag, "record", "--source", "clock", "--freq", str(TIMER_HZ), "--no-heap",
         "--force", "-o", str(database), "--", *command], directory, stdin, before_it)
    return line_shares(database)


def mean_shares(runs):
    return {line: sum(shares.get(line, 0) for shares in runs) / len(runs)
            for line in set().union(*runs)}


def compare_lines(one, other):
    """How many lines have at least the least share in either, and Spearman's rho."""
    lines = [line for line in one.keys() | other.keys()
             if max(one.get(line, 0), other.get(line, 0)) >= SHARE_MINIMUM]
    return len(lines), correlation(ranks([one.get(line, 0) for line in lines]),
                                   ranks([other.get(line, 0) for line in lines]))


def compare_ranking(memlag, record, programs, rounds, directory, before_it):
    """Beside the model: how well one half of the timer's recordings agrees with the
    other, beyond which agreement means nothing. Half of them are made before the model's
    run and half after, as what else the machine does changes what programs wait for."""
    print("| program | lines | Spearman | at least 0.8 | the timer with itself |")
    print("|---|---|---|---|---|")
    half = (rounds + 1) // 2
    for name, command, stdin in programs:
        runs = [timer_shares(memlag, command, stdin, directory, before_it) for _ in range(half)]
        modelled = line_shares(record(command, stdin)[1])
        runs += [timer_shares(memlag, command, stdin, directory, before_it) for _ in range(half)]
        timer = mean_shares(runs)
        count, rho = compare_lines(modelled, timer)
        _, itself = compare_lines(mean_shares(runs[::2]), mean_shares(runs[1::2]))
        holds = "yes" if rho >= SPEARMAN_LIMIT else "no"
        print(f"| {name} | {count} | {rho:.2f} | {holds} | {itself:.2f} |", flush=True)
        lines = timer.keys() | modelled.keys()
        for line in sorted(lines, key=lambda line: -max(
                timer.get(line, 0), modelled.get(line, 0)))[:24]:
            print(f"  {line[0]}:{line[1]}: timer {timer.get(line, 0):.3f},"
                  f" modelled {modelled.get(line, 0):.3f}", file=sys.stderr)


LUA_JOB = """
local words, state = {}, 12345
for i = 1, 1400000 do
   state = (state * 1103515245 + 12345) % 2147483648
   local word = 'word' .. (state % 49999)
   words[word] = (words[word] or 0) + i
end
local names = {}
for name in pairs(words) do names[#names + 1] = name end
table.sort(names)
local function tree(depth)
   if depth == 0 then return {} end
   return {tree(depth - 1), tree(depth - 1)}
end
local function count(t) return t[1] and 1 + count(t[1]) + count(t[2]) or 1 end
print(#names, names[1], count(tree(18)))
"""

AWK_JOB = """
{ for (i = 1; i <= NF; i++) { count[$i]++; pair[$i " " $(i - 1)]++ } }
END { for (w in count) total += length(w) * count[w]; for (p in pair) n++; print total, n }
"""

PART_BYTES = 8_000_000


def ranked_files(memlag, directory):
    """What stands for a file in a command of --rank: the file, written to DIRECTORY. Each
    is work of one to three seconds for the program that it was chosen for."""
    longer_jobs(memlag, directory)
    (directory / "part.txt").write_text((directory / "job.txt").read_text()[:PART_BYTES])
    python = bench.PYTHON_JOB.replace("150000", "1000000").replace("9973", "199999")
    (directory / "job.py").write_text(python)
    (directory / "job.lua").write_text(LUA_JOB)
    (directory / "job.awk").write_text(AWK_JOB)
    with open(directory / "job.txt") as text, open(directory / "job.xml", "w") as file:
        file.write("<text>\n")
        for number, line in enumerate(text):
            file.write(f'<line number="{number}">{escape(line.strip())}</line>\n')
        file.write("</text>\n")
    files = {"text": "job.txt", "part": "part.txt", "sql": "job.sql", "py": "job.py",
             "lua": "job.lua", "awk": "job.awk", "xml": "job.xml"}
    return {f"{{{word}}}": str(directory / file) for word, file in files.items()}


def ranked_programs(arguments, files):
    """Of NAME=COMMAND, in which '{text}' and so on stand for FILES to work on."""
    for argument in arguments:
        name, _, command = argument.partition("=")
        for word, file in files.items():
            command = command.replace(word, file)
        yield name, shlex.split(command), None


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
    parser.add_argument("--rank", action="append", default=[], metavar="NAME=COMMAND",
                        help="compare the ranking of lines of this program, which has to "
                        "have debug information, in place of times; {text} and {part} "
                        "(40 and 8 MB), {sql}, {py}, {lua}, {awk} and {xml} are input files")
    options = parser.parse_args()
    memlag = os.path.abspath(options.memlag)
    model = ["--sim-cpu", options.sim_cpu, "--sim-prefetch", options.sim_prefetch,
             "--sim-detail", options.sim_detail]
    before_it = real_time if options.realtime else None
    with tempfile.TemporaryDirectory(prefix="memlag-reality-") as name:
        directory = pathlib.Path(name)
        if options.rank:
            programs = ranked_programs(options.rank, ranked_files(memlag, directory))
            by_time = recorder(memlag, model, directory, ["--freq", str(MODEL_HZ)])
            compare_ranking(memlag, by_time, programs, options.rounds, directory, before_it)
        else:
            compare_times(memlag, recorder(memlag, model, directory), options.rounds,
                          directory, before_it)


if __name__ == "__main__":
    main()
