# SPDX-License-Identifier: MIT
"""What recordings of the scenarios hold: memlag's sample databases through their
published views, and what perf script prints."""

import re
import sqlite3
from collections import namedtuple

Sample = namedtuple("Sample", "time_ns pid tid ip addr op latency level tlb snoop locked "
                              "function object_kind object")


class Recording:
    """The sample database PATH."""

    def __init__(self, path):
        self._db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.run = dict(self._db.execute("SELECT key, value FROM run_info"))
        self.ledger = {kind: value for kind, value in
                       self._db.execute("SELECT kind, value FROM ledger")}

    def rows(self, query, *values):
        return self._db.execute(query, values).fetchall()

    def memory_samples(self):
        """In the order of their numbers."""
        return [Sample(row[0], row[1], row[2], int(row[3], 16), int(row[4], 16), *row[5:])
                for row in self.rows("""
                    SELECT time_ns, pid, tid, ip, addr, op, latency_cycles, level, tlb, snoop,
                           locked, function, object_kind, object
                    FROM sample_view WHERE op <> 'NA' ORDER BY sample_id""")]

    def readings(self):
        """(name, start_ns, end_ns, value) of each counter, in the order of time."""
        return self.rows("""
            SELECT c.name, r.start_ns, r.end_ns, r.value
            FROM reading AS r JOIN counter AS c USING (counter_id) ORDER BY r.start_ns""")

    def intervals(self, column):
        """(interval_id, value) where there is one."""
        return self.rows(f"""SELECT interval_id, {column} FROM interval_view
                             WHERE {column} IS NOT NULL ORDER BY interval_id""")


def perf_script_samples(path, event):
    """(tid, ip, addr, data_src, latency) of each sample of EVENT that
    perf script -F tid,time,event,ip,addr,data_src,weight printed."""
    line = re.compile(r"\s*(\d+)\s+[\d.]+:\s+(\S+):\s+([0-9a-f]+)\s+([0-9a-f]+) "
                      r"\|OP.*\s(\d+)\s+([0-9a-f]+)\s*$")
    samples = []
    with open(path) as file:
        for text in file:
            tid, name, addr, data_src, latency, ip = line.match(text).groups()
            if name.startswith(event):
                samples.append((int(tid), int(ip, 16), int(addr, 16), int(data_src, 16),
                                int(latency)))
    return samples
