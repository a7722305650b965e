#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A CPU with four counters; some events can only be on one of them."""

import json
import statistics
import unittest

import bench
from case import PebsCase

# guest/haswell.txt, in counts a millisecond.
STEADY = {
    "l1d_pend_miss.pending": 9000000,
    "mem_load_uops_retired.l1_miss": 60000,
    "mem_load_uops_retired.hit_lfb": 40000,
    "l1d_pend_miss.fb_full": 300000,
    "offcore_requests_buffer.sq_full": 100000,
    "resource_stalls.sb": 200000,
    "cycle_activity.cycles_no_execute": 1500000,
    "cycle_activity.stalls_l1d_pending": 1200000,
    "cpu_clk_unhalted.thread": 3000000,
    "inst_retired.any": 4000000,
}

# Intel's list of this CPU's core events, field Counter.
CONSTRAINTS = "constraints=" + ",".join((
    "1cd:8",   # MEM_TRANS_RETIRED.LOAD_LATENCY
    "148:4",   # L1D_PEND_MISS.PENDING
    "ca3:4"))  # CYCLE_ACTIVITY.STALLS_L1D_PENDING


class Haswell(PebsCase):
    machine = bench.Machine("haswell", family=6, model=63, stepping=2,
                            pmu="pmu_name=haswell counters=4 " + CONSTRAINTS, memory_mb=320)
    extra = 0

    def test_three_groups_take_turns(self):
        recording = self.recording("rotation/record.db")
        self.assertEqual(recording.rows("SELECT value FROM machine "
                                        "WHERE key = 'counter_groups'"), [(3.0,)])
        self.assertEqual(recording.ledger["counters without a place on the CPU"], 2)
        ran_ns = {}
        gained = {}
        for name, start_ns, end_ns, value in recording.readings():
            if start_ns > 60e6 and end_ns < 200e6:  # not while the player starts or ends
                ran_ns[name] = ran_ns.get(name, 0) + end_ns - start_ns
                gained[name] = gained.get(name, 0) + value
        self.assertEqual(set(gained), set(STEADY))
        ms = {name: gained[name] / STEADY[name] / (ran_ns[name] / 1e6) for name in STEADY}
        for name, share in ms.items():
            self.assertAlmostEqual(share, ms["cpu_clk_unhalted.thread"], delta=0.02, msg=ms)

    def test_latency_is_never_mixed(self):
        """The events of LMRL and alpha / beta are in one group: exact, although it takes turns."""
        # Counts are whole numbers.
        self.assert_latencies(self.recording("rotation/record.db"), 15, 90, 150)

    def test_libpfm4_knows_the_event(self):
        samples, player = self.samples_of("no_alias")
        self.assert_steps(samples, player, 5000, 30, {"main"})

    WRONG = {"l1d_pend_miss.pending": "dead",
             "cycle_activity.stalls_l1d_pending": "counts something else",
             "cycle_activity.cycles_no_execute": "too noisy"}

    def test_validate_finds_what_the_script_did(self):
        self.assertEqual(self.status("validate/validate"), 0, self.text("validate/validate.err"))
        document = json.loads(self.text("validate/validate.out"))
        events = {event["event"]: event for event in document["events"]}
        self.assertEqual({name: event["verdict"] for name, event in events.items()},
                         {"inst_retired.any": "exact",
                          "uops_executed.stall_cycles": "within bounds",
                          **self.WRONG})
        self.assertAlmostEqual(events["inst_retired.any"]["ratio"], 1, delta=0.02)
        self.assertEqual(document["best"], {"instructions": "inst_retired.any",
                                            "stalls": "uops_executed.stall_cycles",
                                            "pending": None, "memory-stalls": None})

    def test_record_does_not_count_what_is_wrong(self):
        recording = self.recording("validate/record.db")
        names = {name for (name,) in recording.rows("SELECT name FROM counter")}
        self.assertIn("l1d_pend_miss.fb_full", names)
        for name, verdict in self.WRONG.items():
            self.assertNotIn(name, names)
            self.assertEqual(
                recording.ledger[f"not recorded: {name}, by validation: {verdict}"], 1)

    def test_record_counts_what_is_right_in_place_of_what_is_wrong(self):
        recording = self.recording("validate/record.db")
        self.assertEqual(recording.rows("SELECT name, stands_for FROM counter "
                                        "WHERE stands_for IS NOT NULL"),
                         [("uops_executed.stall_cycles", "cycle_activity.cycles_no_execute")])
        ratios = [ratio for (ratio,) in recording.rows(
            "SELECT stall_ratio FROM interval WHERE stall_ratio > 0")]
        self.assertGreater(len(ratios), 5)
        # Groups take turns: of the first and last interval they have seen different parts.
        self.assertAlmostEqual(statistics.median(ratios), 0.2, delta=0.002, msg=ratios)


if __name__ == "__main__":
    unittest.main()
