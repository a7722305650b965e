-- SPDX-License-Identifier: MIT
-- Where each source line's data came from: samples by level
SELECT file, line, function, count(*) AS samples,
       sum(level = 'L1') AS L1, sum(level = 'LFB') AS LFB, sum(level = 'L2') AS L2,
       sum(level = 'L3') AS L3, sum(level = 'DRAM') AS DRAM,
       sum(level LIKE 'REMOTE%') AS remote,
       sum(level NOT IN ('L1', 'LFB', 'L2', 'L3', 'DRAM', 'NA')
           AND level NOT LIKE 'REMOTE%') AS other,
       sum(level = 'NA') AS unknown,
       sum(tlb = 'miss') AS tlb_misses
FROM sample_view
GROUP BY file, line, function
ORDER BY sum(latency_cycles) DESC, file, line
LIMIT 50;
