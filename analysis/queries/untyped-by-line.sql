-- SPDX-License-Identifier: MIT
-- Lines whose samples have no type, and why
SELECT u.reason, count(*) AS samples, s.file, s.line, s.function, s.module
FROM unresolved_view AS u JOIN sample_view AS s USING (sample_id)
WHERE u.subject = 'type' AND s.addr IS NOT NULL
GROUP BY u.reason, s.file, s.line, s.function, s.module
ORDER BY samples DESC, u.reason, s.file, s.line, s.function, s.module
LIMIT 50;
