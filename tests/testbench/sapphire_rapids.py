#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server CPU whose load latency event needs the auxiliary event before it."""

import json
import re
import unittest

import bench
from script import Journal, Player

MACHINE = bench.Machine("sapphire_rapids", family=6, model=143, stepping=8,
                        pmu="aux=1 pmu_name=sapphire_rapids")
EXTRA = 7  # cycles of the instruction over the load, as the scenarios play it


def findings(path):
    with open(path) as file:
        return {finding["topic"]: finding for finding in json.load(file)}


def perf_script_samples(path, event):
    """(tid, ip, addr, data_src, latency) of each sample."""
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


class SapphireRapids(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = MACHINE.boot()

    def status(self, path):
        with open(f"{self.results}/{path}.status") as file:
            return int(file.read())

    def test_doctor_without_a_pmu(self):
        found = findings(f"{self.results}/doctor-without-pmu.json")
        self.assertEqual(found["pmu"]["status"], "missing")
        self.assertEqual(found["pebs"]["status"], "missing")
        self.assertIn("family 6 model 143 stepping 8", found["cpu"]["finding"])

    def test_doctor(self):
        found = findings(f"{self.results}/doctor.json")
        self.assertEqual(found["pmu"]["status"], "ok")
        self.assertEqual(found["pebs"]["status"], "ok")
        self.assertIn("ldlat", found["pebs"]["finding"])
        self.assertIn("aux", found)

    def test_journal_is_the_script(self):
        journal = Journal(f"{self.results}/perf/journal.csv")
        player = Player(f"{self.results}/perf/record.out", EXTRA)
        roles = set()
        for sample in journal.samples:
            access = player.access_at(sample.addr)
            roles.add(access.role)
            for field in ("pid", "tid", "ip", "addr", "latency", "instruction_latency",
                          "data_src"):
                self.assertEqual(getattr(sample, field), getattr(access, field), sample)
            self.assertEqual(access.op, "load")
        self.assertEqual(roles, {"main", "thread", "child", "executed"})
        self.assertGreater(len(journal.samples), 400)

    def test_perf_records_the_script(self):
        self.assertEqual(self.status("perf/record"), 0)
        journal = Journal(f"{self.results}/perf/journal.csv")
        recorded = perf_script_samples(f"{self.results}/perf/script.out", "cpu/mem-loads,")
        produced = [(s.tid, s.ip, s.addr, s.data_src, s.latency) for s in journal.samples]
        self.assertEqual(recorded, produced)


if __name__ == "__main__":
    unittest.main()
