-- SPDX-License-Identifier: MIT
-- Phases: neighbouring intervals with the same bound, and the part of the peak bandwidth used
SELECT start_ns / 1e6 AS start_ms, end_ns / 1e6 AS end_ms,
       iif(bound = 'compute' AND other_stall_ratio >= 0.5, 'other stalls', bound) AS bound,
       intervals, round(lmrl_cycles, 1) AS lmrl_cycles, round(read_gbs, 2) AS read_gbs,
       round(write_gbs, 2) AS write_gbs,
       round(100 * bandwidth_use_ratio, 1) AS bandwidth_use_percent,
       round(100 * busy_use_ratio, 1) AS busy_use_percent
FROM phase_view JOIN (SELECT start_ns, other_stall_ratio, busy_use_ratio FROM phase_limit_view)
        USING (start_ns)
ORDER BY start_ns;
