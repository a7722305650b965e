-- SPDX-License-Identifier: MIT
-- Samples by where their data came from
SELECT level, count(*) AS samples,
       round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent,
       round(avg(latency_cycles), 1) AS mean_latency_cycles,
       max(latency_cycles) AS max_latency_cycles,
       sum(tlb = 'miss') AS tlb_misses, sum(contended) AS contended_samples
FROM sample_view
GROUP BY level
ORDER BY samples DESC, level;
