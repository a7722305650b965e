#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memlag import beside perf on the same recording of a million samples, in one run.

Records page faults of a program with thousands of source lines, and gives each sample a
data source and a latency, so that all of them are memory samples. Times in turns: memlag
import with names and report, 'perf report -s srcline' and 'perf script' with source lines.
Prints the ratios of the medians and memlag's peak memory beside their limits; nothing here
fails because a machine is slow."""
import argparse
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

SAMPLES = 1_000_000
FUNCTIONS = 1500
LINES = 4  # of each function that touch a page

MAIN = """
int main(void)
{
        unsigned long pages = %d, at = 0;
        char *p = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (unsigned long round = 0; round < %d; round++) {
                madvise(p, pages * 4096, MADV_DONTNEED);
                for (at = 0; at < pages;)
                        at = functions[(at / %d + round) %% %d](p, at);
        }
        return 0;
}
"""


def program_text():
    """Each function touches some pages, one on each of its lines."""
    text = ["#include <sys/mman.h>", "typedef unsigned long toucher(char *, unsigned long);"]
    for i in range(FUNCTIONS):
        text.append(f"__attribute__((noinline)) static unsigned long f{i}(char *p, unsigned long at)\n{{")
        text += ["        p[at++ * 4096] = 1;"] * LINES
        text.append("        return at;\n}")
    names = ", ".join(f"f{i}" for i in range(FUNCTIONS))
    text.append(f"static toucher *const functions[] = {{{names}}};")
    pages = LINES * 10_000
    text.append(MAIN % (pages, SAMPLES // pages, LINES, FUNCTIONS))
    return "\n".join(text)


def make_recording(directory):
    source, program = directory / "touch.c", directory / "touch"
    source.write_text(program_text())
    subprocess.run(["cc", "-g", "-O1", "-o", program, source], check=True)
    recording = directory / "perf.data"
    command = ["perf", "record", "-q", "-N", "-m", "4096", "-e", "page-faults:u", "-c", "1"]
    subprocess.run([*command, "-d", "-W", "-o", recording, "--", program], check=True)
    return recording, make_memory_samples(recording)


def make_memory_samples(path):
    """Sets weight and data source, the last fields of each sample; returns how many."""
    data = bytearray(path.read_bytes())
    (begin, size) = struct.unpack_from("<2Q", data, 40)
    at, count = begin, 0
    sources = (0x68100142, 0x68100842, 0x68101042)  # L1, L3, local DRAM; TLB hit
    while at < begin + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            struct.pack_into("<2Q", data, at + length - 16, 30 + count % 700, sources[count % 3])
            count += 1
        at += length
    path.write_bytes(data)
    return count


def seconds(command, directory):
    """Wall time, and the peak memory of the command and what it started."""
    start = time.monotonic()
    with open(directory / "errors", "wb") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, cwd=directory
        )
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"import.py: {command}: status {status}\n{(directory / 'errors').read_text()}")
    return time.monotonic() - start, usage.ru_maxrss * 1024


def row(name, value, limit, good, note=""):
    state = "ok" if good else "over"
    print(f"{name:<52} {value:>8.2f} {limit:>8.2f} {state:<5} {note}".rstrip(), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("memlag", help="the program, for instance build/bin/memlag")
    parser.add_argument("--rounds", type=int, default=3, help="runs of memlag (3)")
    parser.add_argument("--perf-rounds", type=int, default=1, help="runs of perf (1)")
    options = parser.parse_args()
    if not shutil.which("perf"):
        sys.exit("import.py: perf is not installed: nothing to compare with")
    memlag = os.path.abspath(options.memlag)
    with tempfile.TemporaryDirectory(prefix="memlag-bench-") as name:
        directory = pathlib.Path(name)
        recording, samples = make_recording(directory)
        ours = [memlag, "import", "--force", "-o", "import.db", str(recording)]
        report = ["perf", "report", "-i", str(recording), "-s", "srcline", "--stdio"]
        script = ["perf", "script", "-i", str(recording), "-F", "tid,time,ip,sym,srcline"]
        mine = [seconds(ours, directory) for _ in range(options.rounds)]
        middle = statistics.median(wall for wall, _ in mine)
        print(f"{samples} samples of {FUNCTIONS * LINES} lines, "
              f"{recording.stat().st_size / 1e6:.0f} MB; memlag import {middle:.2f} s")
        for limit, command in ((3, report), (5, script)):
            theirs = statistics.median(
                seconds(command, directory)[0] for _ in range(options.perf_rounds)
            )
            name = f"time of {' '.join(command[:2])} with srcline over memlag's"
            row(name, theirs / middle, limit, theirs / middle >= limit, f"{theirs:.2f} s")
        peak = max(memory for _, memory in mine) / 1e6
        row("peak memory of memlag, MB", peak, 300, peak <= 300)


if __name__ == "__main__":
    main()
