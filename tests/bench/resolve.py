#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The speed with which memlag resolves the samples of a program with much debug information,
compared with binutils' addr2line and eu-addr2line.

For each given program or library it makes a database of samples at random addresses of the code.
memlag names them, twice, and once more a database with one sample at each address. The two
references get each distinct address once, in ascending order, and report functions and inlined
calls. All run in turns. It prints medians of the processor time (user and system) and of the wall
time, their ratios to memlag's, and the peak memory. eu-addr2line is very slow on some files and
gets only every n-th address: its ratio is a lower bound.

    resolve.py MEMLAG [OPTION...] FILE[=DEBUG-FILE]...

A FILE may be a kernel's vmlinux. DEBUG-FILE has the debug information of FILE; by default FILE
itself or, by build-id, a file below /usr/lib/debug."""
import argparse
import multiprocessing
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from agreement import ROOT, debug_file, pick_addresses, symbolize_db


def measure(command, stdin=os.devnull):
    """(processor seconds, seconds, peak resident bytes) of COMMAND."""
    with open(stdin, "rb") as source:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # eu-addr2line: 1 where an address is unknown
        sys.exit(f"resolve: {' '.join(command)}: status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss * 1024


def debug_bytes(path):
    """The unpacked size of the debug information's sections."""
    total = 0
    text = symbolize_db.output("readelf", "-StW", path)
    for section in re.split(r"\n\s+\[ *\d+\] ", text)[1:]:
        lines = section.splitlines()
        if not lines[0].startswith((".debug_", ".zdebug_")):
            continue
        packed = re.search(r"ZLIB, ([0-9a-f]+),", section) or re.search(r"ZSTD, ([0-9a-f]+),", section)
        total += int(packed[1] if packed else lines[1].split()[3], 16)
    return total


def write_addresses(path, addresses):
    with open(path, "w", encoding="ascii") as text:
        text.writelines(f"{address:#x}\n" for address in addresses)


def make_database(path, program, addresses, samples, seed):
    generator = random.Random(seed)
    rows = [(address, None) for address in addresses]
    rows += [(generator.choice(addresses), None) for _ in range(samples - len(rows))]
    symbolize_db.make(path, ROOT / "profiler/db/schema.sql", os.path.realpath(program), rows, 0)


def compare(options, program, debug, directory):
    addresses = pick_addresses(program, options.addresses, options.seed)
    made, distinct, database, all_of_them, some = (
        os.path.join(directory, name)
        for name in ("made.db", "distinct.db", "named.db", "addresses", "some"))
    # In a separate process: a process started here begins with the size of this one.
    for path, samples in ((made, options.samples), (distinct, len(addresses))):
        maker = multiprocessing.Process(target=make_database, args=(
            path, program, addresses, samples, options.seed))
        maker.start()
        maker.join()
        if maker.exitcode != 0:
            sys.exit(1)
    write_addresses(all_of_them, addresses)
    write_addresses(some, addresses[::options.eu_every])
    kernel = ["--vmlinux", program] if symbolize_db.is_kernel(program) else []
    symbolize = [options.memlag, "symbolize", *options.symbolize, *kernel, database]
    runs = {name: [] for name in ("memlag", "memlag again", "each once", "addr2line", "eu-addr2line")}
    for _ in range(options.rounds):
        shutil.copyfile(made, database)
        runs["memlag"].append(measure(symbolize))
        runs["memlag again"].append(measure(symbolize))
        shutil.copyfile(distinct, database)
        runs["each once"].append(measure(symbolize))
        runs["addr2line"].append(measure(["addr2line", "-i", "-f", "-e", debug], all_of_them))
        runs["eu-addr2line"].append(measure(["eu-addr2line", "-i", "-f", "-e", debug], some))
    print(f"{os.path.basename(program)}: {debug_bytes(debug) / 1e6:.0f} MB of debug information,"
          f" {options.samples} samples, {len(addresses)} addresses,"
          f" {len(addresses[::options.eu_every])} of them for eu-addr2line")
    middle = {name: [statistics.median(column) for column in zip(*measured)]
              for name, measured in runs.items()}
    for name, (processor, clock, peak) in middle.items():
        print(f"  {name:13} {processor:8.2f} s of processor time, {clock:8.2f} s, {peak / 1e6:6.0f} MB;"
              f" over memlag {processor / middle['memlag'][0]:7.2f} and"
              f" {clock / middle['memlag'][1]:7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("memlag")
    parser.add_argument("files", nargs="+", metavar="FILE[=DEBUG-FILE]")
    parser.add_argument("--addresses", type=int, default=50_000, help="distinct ones")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--eu-every", type=int, default=100, metavar="N",
                        help="eu-addr2line gets every Nth address")
    parser.add_argument("--symbolize", action="append", default=[], metavar="OPTION",
                        help="an option for memlag symbolize")
    options = parser.parse_args()
    for file in options.files:
        path, _, debug = file.partition("=")
        with tempfile.TemporaryDirectory() as directory:
            compare(options, path, debug or debug_file(path), directory)


main()
