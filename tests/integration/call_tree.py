# SPDX-License-Identifier: MIT
"""Sums of the calling-context tree of a recording, by path of function names."""
import collections
import sqlite3

UNITS = {"samples": ("self_samples", 1), "stalled": ("self_stalled_ratio", 1e6), "latency": ("self_latency_share", 1e6)}


class CallTree:
    def __init__(self, file):
        self.database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        self.database.row_factory = sqlite3.Row
        self.rows = self.database.execute("SELECT * FROM caller_view ORDER BY caller_id").fetchall()
        self.parent = {row["caller_id"]: row["parent_id"] for row in self.rows}
        self.name = {row["caller_id"]: row["function"] for row in self.rows}

    def path(self, caller):
        return self.path(self.parent[caller]) + (self.name[caller],) if caller else ()

    def sums(self, weight):
        """Without functions that have no name."""
        column, unit = UNITS[weight]
        sums = collections.Counter()
        for row in self.rows:
            path = self.path(row["caller_id"])
            if all(path):
                sums[path] += round((row[column] or 0) * unit)
        return +sums


def named(sums):
    """SUMS without functions that have no name."""
    return +collections.Counter({steps: weight for steps, weight in sums.items()
                                 if not any("[" in step or "+0x" in step for step in steps)})
