#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A CPU with instruction sampling that has a latency threshold, and a kernel that can leave
itself out of the samples."""

import json
import unittest

import bench
from case import ROLES, MachineCase

FIRST_WITH_TASKS = (6, 4)  # Linux; before, IBS samples whole CPUs only


class Zen(MachineCase):
    machine = bench.Machine("zen", family=26, model=2, stepping=1, vendor="AuthenticAMD",
                            pmu="ibs=1 ibs_swfilt=1 ibs_ldlat=1", memory_mb=320)

    def knows_tasks(self):
        return tuple(int(n) for n in self.text("kernel").split(".")[:2]) >= FIRST_WITH_TASKS

    def samples_of(self, scenario):
        """All that the PMU made; only loads that missed L1 have a latency."""
        player = self.player(f"{scenario}/record.out")
        samples = self.recording(f"{scenario}/record.db").memory_samples()
        self.assert_produced(samples, self.journal(scenario))
        for sample in samples:
            missed = (sample.op, sample.level != "L1") == ("load", True)
            self.assertEqual(sample.latency is not None, missed, sample)
            access = player.access_at(sample.addr)
            self.assertEqual(sample.latency, access.latency if missed else None)
            self.assertEqual(
                (sample.ip, sample.op, sample.level, sample.tlb, sample.snoop, sample.locked,
                 sample.function, sample.object),
                (access.ip, access.op, access.level, access.tlb, access.snoop, access.locked,
                 access.site, access.array))
        return samples, player

    def test_doctor(self):
        found = self.findings("doctor.json")
        self.assertEqual(found["pebs"]["status"], "note")
        self.assertEqual(found["ibs"]["status"], "ok" if self.knows_tasks() else "missing")

    def test_task(self):
        if not self.knows_tasks():
            self.assert_refused("task", "whole CPUs only", "-a or -C", "--source sim")
            return
        samples, player = self.samples_of("task")
        self.assert_roles(samples, player)

    def test_whole_machine(self):
        self.assertEqual(self.status("all/record"), 0)
        samples, player = self.samples_of("all")
        self.assert_roles(samples, player, ROLES)
        self.assertEqual({sample.op for sample in samples}, {"load", "store"})
        self.assertGreater(len(samples), 100)
        self.assertEqual(self.recording("all/record.db").run["numbers"], "measured")

    def test_threshold(self):
        """Rounded down to a multiple of 128."""
        samples, _ = self.samples_of("threshold")
        self.assertTrue(samples)
        self.assertTrue(all(sample.latency > 256 for sample in samples))
        self.assertTrue(any(sample.latency < 300 for sample in samples))

    def test_validate_knows_the_events(self):
        self.assertEqual(self.status("validate/validate"), 0, self.text("validate/validate.err"))
        document = json.loads(self.text("validate/validate.out"))
        self.assertEqual(document["source"], "ibs")
        self.assertEqual({event["event"]: event["verdict"] for event in document["events"]},
                         {"ex_ret_instr": "exact", "ls_alloc_mab_count": "dead"})

    def test_unprivileged_whole_machine(self):
        self.assert_refused("unprivileged_all", "whole CPUs", "CAP_PERFMON")


if __name__ == "__main__":
    unittest.main()
