-- SPDX-License-Identifier: MIT
-- Each interval's bandwidth, in per cent of the peak of as many cores
SELECT interval_id, start_ns / 1e6 AS start_ms, round(active_cores, 2) AS active_cores,
       saturating_cores, round(peak_gbs, 2) AS peak_gbs,
       round(100 * read_use_ratio, 1) AS read_percent,
       round(100 * write_use_ratio, 1) AS write_percent,
       round(100 * use_ratio, 1) AS percent, round(100 * busy_use_ratio, 1) AS busy_percent
FROM utilisation_view;
