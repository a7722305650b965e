#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A hybrid CPU: two kinds of core, each with a separate PMU and other events."""

import json
import unittest

import bench
from case import PebsCase

THRESHOLD = 30
LARGE, SMALL = 0, 1  # CPUs

CONSTRAINTS = "constraints=" + ",".join((
    "1cd:fe", "8203:f", "81d0:f", "148:f", "248:f", "8d1:f", "40d1:f", "fd43:f", "347:f",
    "5d0:3"))  # the small core's load latency; others of it can be on all


class AlderLake(PebsCase):
    machine = bench.Machine("alder_lake", family=6, model=151, stepping=2, cpus=2,
                            pmu="hybrid=1 aux=1 pmu_name=alderlake_hybrid " + CONSTRAINTS)

    def test_doctor(self):
        found = self.findings("doctor.json")
        self.assertEqual(found["pebs"]["status"], "ok")

    def test_steps_on_both_kinds(self):
        """Each player's samples are all that its core's PMU made."""
        self.assertEqual(self.status("steps/record"), 0)
        recording = self.recording("steps/record.db")
        self.assertNotIn("records lost", recording.ledger)
        samples = recording.memory_samples()
        journal = self.journal("steps")
        self.assertEqual(len(samples), journal.produced)
        cpus = dict(recording.rows("SELECT pid, group_concat(DISTINCT cpu) FROM sample_view "
                                   "WHERE op <> 'NA' GROUP BY pid"))
        for name, cpu in (("large", LARGE), ("small", SMALL)):
            player = self.player(f"steps/{name}.out")
            pid = player.roles["main"][0]
            self.assertEqual(cpus[pid], str(cpu))
            own = [sample for sample in samples if sample.pid == pid]
            self.assert_recorded(own, player, self.latency)
            self.assert_steps(own, player, 5000, THRESHOLD, {"main"})
            self.assertEqual([(sample.tid, sample.ip, sample.addr) for sample in own],
                             [(sample.tid, sample.ip, sample.addr)
                              for sample in journal.samples if sample.pid == pid])

    def test_calibrate_measures_lmrl(self):
        """The counts of the chase are the script's at each load. Those beside it are on
        the small core, which has no such events, and so they have no LMRL."""
        self.assertEqual(self.status("calibrate/calibrate"), 0,
                         self.text("calibrate/calibrate.err"))
        loaded = json.loads(self.text("calibrate/export.out"))["loaded"]
        self.assertAlmostEqual(loaded["idle_lmrl_cycles"], 150, delta=0.01)
        # The delays, of nine, for which a slow guest has time.
        if not loaded["curve"]:
            self.skipTest("this guest had no time for any of the loads")
        for point in loaded["curve"]:
            self.assertAlmostEqual(point["lmrl_cycles"], 150, delta=0.01)
            self.assertNotIn("load_lmrl_cycles", point)

    def test_calibrate_measures_sampling_latency(self):
        """The chase's latency under each load equals the scripted loads from DRAM, exactly."""
        loaded = json.loads(self.text("calibrate/export.out"))["loaded"]
        self.assertAlmostEqual(loaded["idle_sampling_latency_cycles"], 400, delta=1e-6)
        # A slow guest may have no sample under one of the loads.
        for point in loaded["curve"]:
            self.assertAlmostEqual(point.get("sampling_latency_cycles", 400), 400, delta=1e-6)

    def test_calibrate_without_msr(self):
        """The module msr is not loaded: a message says so, with the remedy."""
        conditions = {row["condition"]: row["meaning"] for row in
                      json.loads(self.text("calibrate/export.out"))["conditions"]}
        self.assertIn("/dev/cpu/0/msr", conditions["prefetchers-on"])
        self.assertIn("load the module msr", conditions["prefetchers-on"])

    def test_recording_has_the_measured_lmrl(self):
        """As a fact of the machine, whose origin is the calibration."""
        facts = self.recording("calibrate/record.db").rows(
            "SELECT value, origin FROM machine WHERE key = 'idle_lmrl_cycles'")
        self.assertEqual(len(facts), 1)
        self.assertAlmostEqual(facts[0][0], 150, delta=0.01)
        self.assertRegex(facts[0][1], "^calibration of ")

    def counters_of(self, recording):
        """{(CPU, counter): sum of its readings}, where there is any."""
        return {(int(thread.split()[1]), name): value for thread, name, value in
                recording.rows("""SELECT t.name, c.name, sum(r.value)
                                  FROM reading AS r JOIN counter AS c USING (counter_id)
                                  JOIN thread AS t USING (thread_id)
                                  GROUP BY 1, 2 HAVING sum(r.value) > 0""")}

    def test_counters(self):
        """Each kind of core counts separate events; LMRL belongs to the large core."""
        recording = self.recording("counters/record.db")
        counted = self.counters_of(recording)
        self.assertIn((SMALL, "mem_bound_stalls.load"), counted)
        self.assertIn((LARGE, "l1d_pend_miss.pending"), counted)
        self.assertNotIn((LARGE, "mem_bound_stalls.load"), counted)
        self.assertNotIn((SMALL, "l1d_pend_miss.pending"), counted)
        self.assert_latencies(recording, 10, 150, 200)

    def test_rates_of_the_small_core(self):
        """All loads and the stalls on them, in their scripted relation."""
        counted = self.counters_of(self.recording("counters/record.db"))
        self.assertAlmostEqual(counted[SMALL, "mem_uops_retired.all_loads"] /
                               counted[SMALL, "mem_bound_stalls.load"], 10 / 7, delta=0.0002)

    def test_a_thread_that_moves(self):
        """It is sampled on both kinds of core, by the event of each."""
        samples, player = self.samples_of("moving", "player.out")
        self.assert_roles(samples, player, {"main"})
        recording = self.recording("moving/record.db")
        self.assertEqual(recording.rows("SELECT DISTINCT cpu FROM sample_view "
                                        "WHERE op <> 'NA' ORDER BY cpu"),
                         [(LARGE,), (SMALL,)])
        counted = self.counters_of(recording)
        for cpu in (LARGE, SMALL):
            self.assertGreater(counted[cpu, "cpu_clk_unhalted.thread"], 0)


if __name__ == "__main__":
    unittest.main()
