-- SPDX-License-Identifier: MIT
-- Threads with their samples and latency
SELECT pid, tid, count(*) AS samples,
       sum(nullif(level, 'NA') IN ('DRAM', 'REMOTE_DRAM')) AS dram_samples,
       round(avg(latency_cycles), 1) AS mean_latency_cycles,
       iif(count(s.contended + i.contended) OR count(s.contended) = count(*),
           sum(s.contended), NULL) AS contended_samples,
       count(nullif(level, 'NA')) AS level_samples
FROM sample_view AS s LEFT JOIN interval_view AS i USING (interval_id)
GROUP BY pid, tid
ORDER BY sum(latency_cycles) DESC, pid, tid;
