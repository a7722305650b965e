-- SPDX-License-Identifier: MIT
-- Lines that the latency of samples alone would call contended, beside their verdict
SELECT printf('%.1f', 100 * l.latency_share) AS latency_percent,
       round(s.sampling_latency_cycles, 1) AS sampling_latency_cycles,
       round(limits.cycles, 1) AS limit_cycles,
       iif(s.sampling_latency_cycles > limits.cycles, 'contended', 'not contended')
               AS by_latency_alone,
       round(s.lmrl_cycles, 1) AS lmrl_cycles, l.contended_samples, l.verdict,
       l.file, l.line, l.function
FROM line_view AS l JOIN (
        SELECT module, file, line, function, avg(latency_cycles) AS sampling_latency_cycles,
               avg(i.lmrl_cycles) AS lmrl_cycles
        FROM sample_view LEFT JOIN interval_view AS i USING (interval_id)
        WHERE level = 'DRAM' AND tlb IN ('hit', 'stlb') AND NOT locked AND latency_cycles > 0
        GROUP BY module, file, line, function) AS s
ON s.module IS l.module AND s.file IS l.file AND s.line IS l.line
   AND s.function IS l.function,
(SELECT value AS cycles FROM threshold WHERE name = 'high_latency_cycles') AS limits
WHERE l.verdict <> 'too-few-samples'
ORDER BY l.latency_share DESC, l.file, l.line
LIMIT 20;
