#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The default model's predictions for real changes, compared with their real gains: each pair of
pairs.c runs natively, before and after in turns, and each program once under 'memlag record' with
default options.

A gain is time before over time after, of the work without its setup: CPU time of real runs (the
median), virtual time of the model's. Prints a Markdown table: whether the direction is right and
the sizes are within 30 %. If some real rounds gain and others lose, the real change has no
direction, and the prediction is undecided. The figures are this machine's; nothing here fails. Real
runs need a quiet machine, the model does not: --save FILE only does the real runs and stores them,
--real FILE reads them."""
import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile

LIMIT = 0.30
# A gain within this of 1 is none: two runs of one program differ by as much.
NO_GAIN = 0.05
VARIANTS = ("before", "after")


def work_seconds(command):
    """CPU seconds of the work, which the program itself measures."""
    done = subprocess.run(command, capture_output=True, check=True)
    return int(done.stdout.split()[1]) * 1e-9


def real(pairs, name, rounds):
    """CPU seconds of each run's work, by variant, in turns."""
    times = {variant: [] for variant in VARIANTS}
    for _ in range(rounds):
        for variant in VARIANTS:
            times[variant].append(work_seconds([pairs, name, variant]))
    return times


def modelled(memlag, options, command, database):
    """Virtual seconds of a recording."""
    subprocess.run([memlag, "record", "--source", "sim", *options, "--force", "-o", database,
                    "--", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True)
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        (value,), = db.execute("SELECT value FROM run_info WHERE key = 'duration_ns'")
    return int(value) * 1e-9


def modelled_work(options, name, variant, directory):
    """Virtual seconds of the work: of the run without its setup."""
    command = [options.pairs, name, variant]
    whole, setup = (modelled(options.memlag, options.option, each, directory / f"{name}-{what}.db")
                    for what, each in ((variant, command), (f"{variant}-setup", command + ["setup"])))
    return whole - setup


def direction(gain):
    return 0 if abs(gain - 1) <= NO_GAIN else 1 if gain > 1 else -1


def decided(gains):
    """Whether the real GAINS of all rounds are on one side of 1, or all within noise of it."""
    return not min(gains) < 1 < max(gains) or all(direction(gain) == 0 for gain in gains)


def known(options, names):
    """Real times by pair: measured now, or from a file."""
    if options.real:
        return json.loads(options.real.read_text())
    times = {"load": os.getloadavg()[0]}
    for name in names:
        times[name] = real(options.pairs, name, options.rounds)
    return times


def compare(options, names, changes, times):
    right = near = undecided = 0
    print(f"Load average {times['load']:.1f}.\n")
    print("| pair | change | real | from | to | modelled | size |")
    print("|---|---|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory(prefix="memlag-pairs-") as scratch:
        directory = options.keep or pathlib.Path(scratch)
        for name in names:
            before, after = (times[name][variant] for variant in VARIANTS)
            gain = statistics.median(before) / statistics.median(after)
            gains = [one / other for one, other in zip(before, after)]
            model = [modelled_work(options, name, variant, directory) for variant in VARIANTS]
            claim = model[0] / model[1]
            unsure = not decided(gains)
            same = not unsure and direction(gain) == direction(claim)
            within = abs(claim / gain - 1) <= LIMIT
            right, near, undecided = right + same, near + within, undecided + unsure
            word = ("undecided" if unsure else "wrong direction" if not same else
                    "within 30 %" if within else "no")
            print(f"| {name} | {changes[name]} | {gain:.2f} | {min(gains):.2f} |"
                  f" {max(gains):.2f} | {claim:.2f} | {word} |", flush=True)
    print(f"\nDirection right in {right} of {len(names) - undecided}, undecided in {undecided};"
          f" size within 30 % in {near} of {len(names)}.")


def parser_of(text):
    """A parser of what programs that compare pairs have in common; TEXT tells of the program."""
    parser = argparse.ArgumentParser(description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memlag", type=os.path.abspath)
    parser.add_argument("pairs", type=os.path.abspath, help="the program, built from pairs.c")
    parser.add_argument("names", nargs="*", help="pairs; all without any")
    parser.add_argument("--option", action="append", default=[],
                        help="one more option for memlag record, such as --sim-cpu=host")
    return parser


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="real runs of each variant (5)")
    parser.add_argument("--save", type=pathlib.Path, help="write the real times here, and end")
    parser.add_argument("--real", type=pathlib.Path, help="take the real times from this file")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the recordings in this directory")
    options = parser.parse_intermixed_args()
    listed = subprocess.run([options.pairs, "list"], capture_output=True, text=True, check=True)
    changes = dict(line.split("\t") for line in listed.stdout.splitlines())
    names = options.names or list(changes)
    times = known(options, names)
    if options.save:
        options.save.write_text(json.dumps(times))
    else:
        compare(options, names, changes, times)


if __name__ == "__main__":
    main()
