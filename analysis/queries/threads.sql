-- SPDX-License-Identifier: MIT
-- Threads with their samples and latency
SELECT pid, tid, count(*) AS samples,
       sum(level IN ('DRAM', 'REMOTE_DRAM')) AS dram_samples,
       round(avg(latency_cycles), 1) AS mean_latency_cycles,
       sum(contended) AS contended_samples
FROM sample_view
GROUP BY pid, tid
ORDER BY sum(latency_cycles) DESC, pid, tid;
