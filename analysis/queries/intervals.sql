-- SPDX-License-Identifier: MIT
-- The intervals in the order of time
SELECT interval_id, start_ns / 1e6 AS start_ms, round(lmrl_cycles, 1) AS lmrl_cycles,
       round(l1_miss_latency_cycles, 1) AS l1_miss_latency_cycles,
       round(fb_full_ratio, 3) AS fb_full_ratio, round(active_cores, 2) AS active_cores,
       round(read_gbs, 2) AS read_gbs, round(write_gbs, 2) AS write_gbs, contended,
       iif(bound = 'compute' AND other_stall_ratio >= 0.5, 'other stalls', bound) AS bound
FROM interval_view JOIN (SELECT interval_id, other_stall_ratio FROM stall_view) USING (interval_id)
ORDER BY interval_id;
