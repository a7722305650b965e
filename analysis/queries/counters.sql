-- SPDX-License-Identifier: MIT
-- Totals of all counters
SELECT name, coalesce(sum(value), 0) AS total, unit, stands_for
FROM counter LEFT JOIN reading USING (counter_id)
GROUP BY counter_id
ORDER BY name;
