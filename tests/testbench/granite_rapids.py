#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A CPU that libpfm4 does not know, under a kernel that names no events: memlag's own table
has them."""

import filecmp
import unittest

import bench
from case import PebsCase


class GraniteRapids(PebsCase):
    machine = bench.Machine("granite_rapids", family=6, model=173, stepping=1,
                            pmu="pmu_name=granite_rapids constraints=1cd:fe,148:f,fd43:f,8d1:f")
    extra = 0

    def test_loads(self):
        samples, player = self.samples_of("no_alias")
        self.assert_steps(samples, player, 5000, 30, {"main"})

    def test_latency(self):
        self.assert_latencies(self.recording("steady/record.db"), 7, 150, 200)

    def test_the_bench_repeats_itself(self):
        """Two runs bring back the same bytes: databases, times and all."""
        self.machine.boot("again")
        for name in ("initramfs", "console.log", "results.tar"):
            self.assertTrue(filecmp.cmp(name, f"again/{name}", shallow=False), name)


if __name__ == "__main__":
    unittest.main()
