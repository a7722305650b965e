#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An Intel CPU that is newer than this version of memlag, which knows only the events that the
kernel names."""

import unittest

import bench
from case import PebsCase


class UnknownCpu(PebsCase):
    machine = bench.Machine("unknown_cpu", family=6, model=254, stepping=1, pmu="pmu_name=future")
    extra = 0

    def test_samples_by_time(self):
        samples, player = self.samples_of("hint")
        self.assert_roles(samples, player)

    def test_precision_not_told(self):
        samples, player = self.samples_of("no_caps")
        self.assert_steps(samples, player, 5000, 30, {"main"})

    def test_refused_without_alias(self):
        self.assert_refused("no_alias", "family 6 model 254", "load latency event")
        self.assertEqual(self.findings("no_alias/doctor.json")["pebs"]["status"], "missing")


if __name__ == "__main__":
    unittest.main()
