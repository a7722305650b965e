-- SPDX-License-Identifier: MIT
-- Neighbouring intervals with the same bound, joined to phases
WITH step AS (
        SELECT *, bound IS NOT lag(bound) OVER (ORDER BY interval_id) AS begins
        FROM interval_view),
numbered AS (
        SELECT *, sum(begins) OVER (ORDER BY interval_id) AS phase FROM step)
SELECT min(start_ns) / 1e6 AS start_ms, max(end_ns) / 1e6 AS end_ms, bound,
       count(*) AS intervals, round(avg(read_gbs), 2) AS read_gbs,
       round(avg(write_gbs), 2) AS write_gbs, round(avg(lmrl_cycles), 1) AS lmrl_cycles
FROM numbered
GROUP BY phase
ORDER BY start_ms;
