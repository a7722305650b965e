#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server CPU whose load latency event needs the auxiliary event before it."""

import csv
import statistics
import unittest

import bench
from case import PERF_THRESHOLD, PebsCase
from recording import perf_script_samples

# The counters, of eight, that an event can use (Intel's list of this CPU's core events, field
# Counter). Events that are not here can use all.
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

THRESHOLD = 30
LINE_BYTES = 64

# guest/steady.txt: counts a millisecond.
STEADY = {
    "l1d_pend_miss.pending": 9000000,
    "l1d_pend_miss.fb_full": 300000,
    "mem_load_retired.l1_miss": 60000,
    "mem_load_completed.l1_miss_any": 100000,
    "mem_inst_retired.all_loads": 1000000,
    "resource_stalls.sb": 200000,
    "cycle_activity.stalls_total": 1500000,
    "memory_activity.stalls_l1d_miss": 1200000,
    "cpu_clk_unhalted.thread": 3000000,
    "inst_retired.any": 4000000,
}


def gained_in(readings, from_ns, to_ns):
    """What READINGS of one counter say of a time, when each gain was made evenly."""
    return sum(value * max(0, min(end_ns, to_ns) - max(start_ns, from_ns)) /
               (end_ns - start_ns) for _, start_ns, end_ns, value in readings)


class SapphireRapids(PebsCase):
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
        self.assert_roles(journal.samples, player)

    def test_perf_records_the_script(self):
        self.assertEqual(self.status("perf/record"), 0)
        recorded = perf_script_samples(self.path("perf/script.out"), "cpu/mem-loads,")
        produced = [(sample.tid, sample.ip, sample.addr, sample.data_src, sample.latency)
                    for sample in self.journal("perf").samples]
        self.assertEqual(recorded, produced)

    def test_samples_by_time(self):
        """On two threads, and across fork and exec."""
        samples, player = self.samples_of("hint")
        self.assert_roles(samples, player)

    def test_steps(self):
        samples, player = self.samples_of("steps")
        self.assert_steps(samples, player, 10000, PERF_THRESHOLD)

    def test_steps_recorded_by_perf(self):
        """What perf mem record pipes into memlag import."""
        player = self.player("import/player.out")
        samples = self.recording("import/import.db").memory_samples()
        self.assert_recorded(samples, player)
        self.assert_produced(samples, self.journal("import"))
        self.assert_steps(samples, player, 10000, PERF_THRESHOLD)

    def test_record_is_what_perf_records(self):
        """One for one, with everything but the numbers of processes."""
        self.assertEqual(self.comparable("steps/record.db", "steps/record.out"),
                         self.comparable("import/import.db", "import/player.out"))

    def test_stores(self):
        samples, player = self.samples_of("stores")
        self.assertEqual({sample.op for sample in samples}, {"load", "store"})
        self.assert_steps(samples, player, 5000, THRESHOLD)
        self.assert_steps(samples, player, 5000, 0, op="store")

    # ---- counters ----

    def test_latency_of_intervals(self):
        self.assert_phases("phases/record.db")

    def test_l1_miss_latency_of_intervals(self):
        recording = self.recording("phases/record.db")
        lmrl = dict(recording.intervals("lmrl_cycles"))
        for interval, latency in recording.intervals("l1_miss_latency_cycles"):
            if abs(lmrl[interval] - 90) < 0.01:
                self.assertAlmostEqual(latency, 150, delta=0.03)
            if abs(lmrl[interval] - 20) < 0.01:
                self.assertAlmostEqual(latency, 25, delta=0.01)

    def test_memory_controller(self):
        """Each reading is the PMU's value at the time it was read, at any time. Their difference is
        the scripted rate in the time between."""
        recording = self.recording("phases/record.db")
        for name, column, config, lines_per_ms in (
                ("dram.read_bytes", "read_gbs", 0xcf05, 100000),
                ("dram.write_bytes", "write_gbs", 0xf005, 50000)):
            readings = [row for row in recording.readings() if row[0] == name]
            self.assertGreater(len(readings), 15)
            given_ns = self.controller("phases", config)  # when each count was
            lines = lines_before = 0
            for _, start_ns, end_ns, value in readings:
                lines += value // LINE_BYTES
                self.assertEqual(value % LINE_BYTES, 0)
                self.assertIn(lines, given_ns)
                if lines_before:
                    ms = (given_ns[lines] - given_ns[lines_before]) / 1e6
                    # Less where the kernel stopped the PMU for a moment, as from Linux
                    # 6.2 on when other events of the CPU come or go.
                    self.assertLessEqual(lines - lines_before, lines_per_ms * ms + 1)
                lines_before = lines
            self.assertEqual(lines, max(given_ns))
            self.assert_spread(recording, column, readings)
            # Not one by one: memlag takes the time a moment before it reads.
            rates = [value / (end_ns - start_ns) for _, start_ns, end_ns, value in readings]
            gbs = LINE_BYTES * lines_per_ms / 1e6
            self.assertAlmostEqual(statistics.median(rates), gbs, delta=0.01 * gbs)

    def controller(self, scenario, config):
        """{lines: time_ns}: each count of the event that the PMU gave, and when."""
        with open(self.path(f"{scenario}/imc.csv")) as file:
            rows = [row for row in csv.DictReader(file) if int(row["config"], 0) == config]
        self.assertEqual(len({row["event_id"] for row in rows}), 1)
        return {int(row["lines"]): int(row["time_ns"]) for row in rows}

    def assert_spread(self, recording, column, readings):
        """Intervals have all the bytes of the readings, each in its time."""
        for start_ns, end_ns, gbs in recording.rows(
                f"SELECT start_ns, end_ns, {column} FROM interval_view"):
            self.assertAlmostEqual(gbs * (end_ns - start_ns),
                                   gained_in(readings, start_ns, end_ns), delta=100)

    def test_rotation(self):
        """The CPU has too few counters: each event of guest/steady.txt counts for some of the time,
        and is scaled to all of it."""
        recording = self.recording("rotation/record.db")
        self.assertEqual(recording.rows("SELECT value FROM machine "
                                        "WHERE key = 'counter_groups'"), [(3.0,)])
        self.assertGreater(recording.ledger["multiplexed time"], 0)
        readings = {name: [] for name in STEADY}
        for row in recording.readings():
            if row[0] in readings:
                readings[row[0]].append(row)
        # Not while the player starts or ends.
        on_cpu_ms = {name: gained_in(rows, 80e6, 200e6) / STEADY[name]
                     for name, rows in readings.items()}
        self.assertTrue(90 < on_cpu_ms["cpu_clk_unhalted.thread"] < 121, on_cpu_ms)
        for name, ms in on_cpu_ms.items():
            self.assertAlmostEqual(ms / on_cpu_ms["cpu_clk_unhalted.thread"], 1, delta=0.01,
                                   msg=name)

    # ---- losses ----

    def test_throttling_is_counted(self):
        samples, _ = self.samples_of("throttled")
        ledger = self.recording("throttled/record.db").ledger
        journal = self.journal("throttled")
        self.assertGreater(journal.throttled, 10)
        self.assertEqual(ledger["times throttled"], journal.throttled)
        self.assertGreater(ledger["throttled time"], 0)
        self.assertEqual(len(samples), journal.produced)

    def test_lost_and_stored_are_all(self):
        recording = self.recording("small_ring/record.db")
        player = self.player("small_ring/record.out")
        samples = recording.memory_samples()
        self.assert_recorded(samples, player, self.latency)
        lost = recording.ledger["records lost"]
        self.assertGreater(lost, 0)
        self.assertEqual(len(samples) + lost, self.journal("small_ring").produced)
        report = self.text("small_ring/record.err").replace("\n", " ")
        self.assertIn(f"Lost: {lost} records", report)

    # ---- other targets ----

    def test_attach(self):
        """To threads that run already, and a process that they start."""
        samples, player = self.samples_of("attach", "player.out")
        self.assert_roles(samples, player, {"main", "thread", "child"})

    def test_whole_machine(self):
        """Two threads that run already, and a process that begins meanwhile."""
        samples, player = self.samples_of("all", "player.out")
        self.assert_roles(samples, player, {"main", "thread", "child"})

    # ---- rights ----

    def test_unprivileged(self):
        samples, player = self.samples_of("unprivileged")
        self.assert_roles(samples, player)
        self.assertEqual(self.recording("unprivileged/record.db").intervals("read_gbs"), [])

    def test_unprivileged_whole_machine(self):
        self.assert_refused("unprivileged_all", "whole CPUs", "CAP_PERFMON",
                            "kernel.perf_event_paranoid")

    def test_paranoid(self):
        self.assert_refused("paranoid", "kernel.perf_event_paranoid is 3", "CAP_PERFMON")

    def test_imprecise_samples_are_refused(self):
        self.assert_refused("imprecise", "max_precise is 0", "have no address")
        found = self.findings("imprecise/doctor.json")
        self.assertEqual(found["pebs"]["status"], "missing")
        self.assertIn("max_precise", found["pebs"]["finding"])


if __name__ == "__main__":
    unittest.main()
