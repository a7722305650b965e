#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server CPU whose load latency event needs the auxiliary event before it."""

import unittest

import bench
from case import PERF_THRESHOLD, ROLES, MachineCase
from recording import perf_script_samples


class SapphireRapids(MachineCase):
    machine = bench.Machine("sapphire_rapids", family=6, model=143, stepping=8,
                            pmu="aux=1 pmu_name=sapphire_rapids")

    def test_doctor_without_a_pmu(self):
        found = self.findings("doctor-without-pmu.json")
        self.assertEqual(found["pmu"]["status"], "missing")
        self.assertEqual(found["pebs"]["status"], "missing")
        self.assertIn("family 6 model 143 stepping 8", found["cpu"]["finding"])

    def test_doctor(self):
        found = self.findings("doctor.json")
        self.assertEqual(found["pmu"]["status"], "ok")
        self.assertEqual(found["pebs"]["status"], "ok")
        self.assertIn("ldlat", found["pebs"]["finding"])
        self.assertIn("aux", found)

    def test_journal_is_the_script(self):
        journal = self.journal("perf")
        player = self.player("perf/player.out")
        accesses = [player.access_at(sample.addr) for sample in journal.samples]
        for sample, access in zip(journal.samples, accesses):
            for field in ("pid", "tid", "ip", "addr", "latency", "instruction_latency",
                          "data_src"):
                self.assertEqual(getattr(sample, field), getattr(access, field), sample)
            self.assertEqual(access.op, "load")
        self.assertEqual({access.role for access in accesses}, ROLES)
        self.assertGreater(len(accesses), 400)

    def test_perf_records_the_script(self):
        self.assertEqual(self.status("perf/record"), 0)
        recorded = perf_script_samples(self.path("perf/script.out"), "cpu/mem-loads,")
        produced = [(sample.tid, sample.ip, sample.addr, sample.data_src, sample.latency)
                    for sample in self.journal("perf").samples]
        self.assertEqual(recorded, produced)

    def test_steps_recorded_by_perf(self):
        """What perf mem record pipes into memlag import is the script, sample by sample."""
        player = self.player("import/player.out")
        samples = self.recording("import/import.db").memory_samples()
        self.assert_recorded(samples, player)
        self.assert_produced(samples, self.journal("import"))
        self.assert_steps(samples, player, PERF_THRESHOLD)


if __name__ == "__main__":
    unittest.main()
