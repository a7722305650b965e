-- SPDX-License-Identifier: MIT
-- Where the cycles of each interval went, in per cent: work, waits for latency or bandwidth
SELECT interval_id, start_ns / 1e6 AS start_ms,
       round(100 * productive_ratio, 1) AS productive,
       round(100 * latency_ratio, 1) AS latency,
       round(100 * bandwidth_ratio, 1) AS bandwidth,
       round(100 * other_stall_ratio, 1) AS other_stall,
       round(100 * l2_ratio, 1) AS of_these_l2,
       round(100 * beyond_l2_ratio, 1) AS beyond_l2,
       round(100 * l3_ratio, 1) AS of_these_l3,
       round(100 * dram_ratio, 1) AS dram
FROM stall_view;
