#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server CPU whose load latency event needs the auxiliary event before it."""

import unittest

import bench
from case import PERF_THRESHOLD, ROLES, MachineCase
from recording import perf_script_samples

# Which of the eight counters events can be on (Intel's list of this CPU's core events,
# field Counter); those that are not here can be on all.
CONSTRAINTS = "constraints=" + ",".join(f"{code:x}:{counters:x}" for code, counters in {
    0x01cd: 0xfe,  # MEM_TRANS_RETIRED.LOAD_LATENCY
    0x02cd: 0x01,  # MEM_TRANS_RETIRED.STORE_SAMPLE
    0x8203: 0x0f,  # LD_BLOCKS.STORE_FORWARD
    0x81d0: 0x0f,  # MEM_INST_RETIRED.ALL_LOADS
    0x0148: 0x0f,  # L1D_PEND_MISS.PENDING
    0x0248: 0x0f,  # L1D_PEND_MISS.FB_FULL
    0x08d1: 0x0f,  # MEM_LOAD_RETIRED.L1_MISS
    0x40d1: 0x0f,  # MEM_LOAD_RETIRED.FB_HIT
    0xfd43: 0x0f,  # MEM_LOAD_COMPLETED.L1_MISS_ANY
    0x0347: 0x0f,  # MEMORY_ACTIVITY.STALLS_L1D_MISS
}.items())


class SapphireRapids(MachineCase):
    machine = bench.Machine("sapphire_rapids", family=6, model=143, stepping=8,
                            pmu="aux=1 pmu_name=sapphire_rapids "
                            "imc_reads_per_ms=100000 imc_writes_per_ms=50000 " + CONSTRAINTS)

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
