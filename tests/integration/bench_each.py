# SPDX-License-Identifier: MIT
"""Kernels of 'memlag bench' under the simulated PMU, many in one recording. The program bench_each
runs each in a separate process."""
import json
import os
import sqlite3
import subprocess
import tempfile


def arguments(runs):
    """RUNS: (kernel, its options) of each, as bench_each takes them."""
    words = []
    for kernel, options in runs:
        words += ["--", kernel, *map(str, options), "--format", "json"]
    return words[1:]


class Recording:
    """OPTIONS belong to 'memlag record --source sim'."""

    def __init__(self, memlag, program, runs, options):
        self.directory = tempfile.TemporaryDirectory(dir=".")
        path = os.path.join(self.directory.name, "run.db")
        command = [memlag, "record", "--source", "sim", "--no-heap", "--loads-only", *options,
                   "-o", path, "--", program, *arguments(runs)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                              stderr=subprocess.DEVNULL)
        self.told = [json.loads(line) for line in done.stdout.splitlines()]
        self.connection = sqlite3.connect(path)
        parent, *self.processes = [process for process, in self.rows(
            "SELECT process_id FROM process ORDER BY 1")]
        assert len(self.told) == len(self.processes) == len(runs), (len(self.told), runs)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.connection.close()
        self.directory.cleanup()

    def rows(self, query, values=()):
        return self.connection.execute(query, values).fetchall()

    def counters(self, number):
        """Totals of run NUMBER."""
        return dict(self.rows("""
            SELECT counter.name, sum(value) FROM reading JOIN counter USING (counter_id)
            JOIN thread USING (thread_id) WHERE process_id = ? GROUP BY 1""",
                              (self.processes[number],)))


def gained(few, many, passes):
    """What each counter gains in a pass, between two runs that differ by PASSES."""
    return {name: (value - few.get(name, 0)) / passes for name, value in many.items()}


def per_pass(memlag, program, runs, options):
    """For each of RUNS, (kernel, its options, few passes, many): the increments of the counters in
    one pass, and the kernel's own counts for one pass. Start-up and preparation, which are in both,
    cancel out."""
    pairs = [(kernel, [*own, "--passes", passes])
             for kernel, own, *both in runs for passes in both]
    with Recording(memlag, program, pairs, options) as recording:
        counters = map(recording.counters, range(len(pairs)))
        return [(gained(few, many, run[3] - run[2]), told["per_pass"])
                for run, few, many, told in zip(runs, counters, counters, recording.told[::2])]
