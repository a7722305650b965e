#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memlag bench beside likwid-bench (Debian's likwid) on the same loops, in one run.

Both go over the same bytes with the same number of passes in one process, in turns: each run of
likwid-bench is compared with the mean of memlag bench's just before it and just after it, and
the median of these ratios counts. So what changes within seconds is as good for one as for the
other, and the pages that a process happens to get differ from turn to turn. Beside it stands
the same of likwid-bench with itself: the median ratio of two of its runs one after the other,
and how far half of these ratios lie apart; a ratio means nothing where that is as large.

A hypervisor may have the CPUs now on cores that share a cache and now on ones that do not, where
two threads have another bandwidth. memlag bench --places tells which, before and after each of
its runs: a comparison of several threads counts when all four readings around it say the same.

On a busy machine 'chrt -r 1' before the command keeps other programs away. Not 'chrt -f': threads
of likwid-bench wait for each other in loops, and on one CPU that would never end.

The page kind is the system's for likwid-bench, so memlag bench takes small pages where those
are not always huge. Nothing here fails because a machine is slow."""
import argparse
import itertools
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

# likwid-bench's loop, memlag bench's: the same instructions, and both count the bytes that
# the program reads and writes.
LOOPS = [
    ("load_sse", ["load", "--width", "128"]),
    ("load_avx", ["load", "--width", "256"]),
    ("stream_sse", ["triad"]),
]
LIMIT = 0.10
# Runs of likwid-bench in a round of a case, each between two of memlag bench.
TURNS = 2
# A round trip of a line so many times the least one: the CPUs are apart.
APART = 2
ONE_CORE, ONE_CORE_SLOWDOWN = "one core", 1.2  # as in microbench/survey/places.c


def likwid(loop, megabytes, threads, passes):
    command = ["likwid-bench", "-t", loop, "-w", f"N:{megabytes}MB:{threads}", "-i", str(passes)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"MByte/s:\s+([0-9.]+)", text).group(1)) / 1000


def memlag(program, kernel, megabytes, threads, passes, pages):
    """GB/s, and the round trips before and after, ONE_CORE for each of two threads of one core."""
    # likwid-bench's MB are 10^6 bytes.
    command = [program, "bench", *kernel, "--size", str(megabytes * 1000000), "--passes",
               str(passes), "--threads", str(threads), "--pages", pages, "--format", "json"]
    done = subprocess.run(command + ["--places"] * (threads > 1), capture_output=True, text=True,
                          check=True)
    result = json.loads(done.stdout)
    nothing = {"before": [], "after": []}
    trips, slowdowns = result.get("round_trips_ns", nothing), result.get("slowdowns", nothing)
    return result["gbs"], *(
        [ONE_CORE if slowdown is not None and slowdown > ONE_CORE_SLOWDOWN else ns
         for ns, slowdown in zip(trips[when], slowdowns[when])] for when in ("before", "after"))


class Round:
    """Of one case: memlag bench, likwid-bench, memlag bench, ... memlag bench."""

    def __init__(self, options, pages, threads, loop, kernel):
        megabytes = options.megabytes * threads
        self.ours = [memlag(options.memlag, kernel, megabytes, threads, options.passes, pages)]
        self.theirs = []
        for _ in range(TURNS):
            self.theirs.append(likwid(loop, megabytes, threads, options.passes))
            self.ours.append(memlag(options.memlag, kernel, megabytes, threads, options.passes,
                                    pages))

    def trips(self):
        return [trips for _, before, after in self.ours for trips in (before, after)]

    def states(self, nearest):
        """Of each run of memlag bench and of each gap: 'together', 'apart', or None for moved or
        on one core."""
        def state(*readings):
            if any(ONE_CORE in trips for trips in readings):
                return None
            apart = {any(None not in (ns, least) and ns > APART * least
                         for ns, least in zip(trips, nearest)) for trips in readings}
            return ("apart" if apart.pop() else "together") if len(apart) == 1 else None
        return [state(*self.ours[i][1:], *self.ours[i + 1][1:]) for i in range(TURNS)]

    def ratios(self, nearest):
        """(ratio, state) of each comparison that counts."""
        return [((self.ours[i][0] + self.ours[i + 1][0]) / 2 / self.theirs[i], state)
                for i, state in enumerate(self.states(nearest)) if state]

    def itself(self, nearest):
        """likwid-bench's bandwidth in one run over that in the next."""
        states = self.states(nearest)
        return [self.theirs[i] / self.theirs[i + 1] for i in range(TURNS - 1)
                if states[i] and states[i] == states[i + 1]]


def least_trips(rounds):
    trips = [trips for one in rounds for trips in one.trips()]
    return [min((ns for ns in pair if ns not in (None, ONE_CORE)), default=None) for pair in zip(*trips)]


def median(values):
    return statistics.median(values) if values else float("nan")


def half_of(values):
    """From the lower to the upper quartile."""
    if len(values) < 4:
        return "-"
    low, _, high = statistics.quantiles(values, n=4)
    return f"{low:.2f} to {high:.2f}"


def show(threads, loop, rounds):
    nearest = least_trips(rounds)
    pairs = [pair for one in rounds for pair in one.ratios(nearest)]
    ratios = [ratio for ratio, _ in pairs]
    itself = [ratio for one in rounds for ratio in one.itself(nearest)]
    ratio = median(ratios)
    apart = sum(state == "apart" for _, state in pairs)
    places = f"{len(ratios) - apart} + {apart}" if threads > 1 else f"{len(ratios)}"
    verdict = "within" if abs(ratio - 1) <= LIMIT else "beyond"
    print(f"{threads:>7} {loop:<11} {median([gbs for one in rounds for gbs in one.theirs]):7.2f} "
          f"{median([ours[0] for one in rounds for ours in one.ours]):7.2f} {places:>9} {ratio:6.3f} "
          f"{half_of(ratios):>13} {median(itself):7.3f} {half_of(itself):>13}  {verdict} {LIMIT:.0%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("memlag")
    parser.add_argument("--megabytes", type=int, default=48, help="of each thread")
    parser.add_argument("--passes", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    if not shutil.which("likwid-bench"):
        sys.exit("likwid-bench is missing: apt-get install likwid")
    enabled = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    always = enabled.exists() and "[always]" in enabled.read_text()
    pages = "huge" if always else "small"
    cases = list(itertools.product(options.threads, LOOPS))
    rounds = [[] for _ in cases]
    # All cases in turns, so that each is spread over all the time.
    for _ in range(options.rounds):
        for index, (threads, (loop, kernel)) in enumerate(cases):
            rounds[index].append(Round(options, pages, threads, loop, kernel))
    print(f"{pages} pages, {options.passes} passes, {options.rounds} rounds of {TURNS}, load "
          f"average {os.getloadavg()[0]:.2f}; GB/s are medians; of several threads, comparisons "
          "with the CPUs together + apart")
    print(f"{'threads':>7} {'loop':<11} {'likwid':>7} {'memlag':>7} {'compared':>9} {'ratio':>6} "
          f"{'half of them':>13} {'likwid to itself':>21}")
    for index, (threads, (loop, _)) in enumerate(cases):
        show(threads, loop, rounds[index])


main()
