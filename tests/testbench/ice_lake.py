#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server CPU without an auxiliary event, under a kernel that does not know
PERF_SAMPLE_WEIGHT_STRUCT."""

import unittest

import bench
from case import PERF_THRESHOLD, MachineCase


class IceLake(MachineCase):
    machine = bench.Machine("ice_lake", family=6, model=106, stepping=6,
                            pmu="pmu_name=icelake weight_struct=0")
    extra = 0

    def test_doctor(self):
        found = self.findings("doctor.json")
        self.assertEqual(found["pebs"]["status"], "ok")
        self.assertNotIn("aux", found)

    def test_steps_recorded_by_perf(self):
        player = self.player("import/player.out")
        samples = self.recording("import/import.db").memory_samples()
        self.assert_recorded(samples, player)
        self.assert_produced(samples, self.journal("import"))
        self.assert_steps(samples, player, 20000, PERF_THRESHOLD)


if __name__ == "__main__":
    unittest.main()
