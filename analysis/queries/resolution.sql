-- SPDX-License-Identifier: MIT
-- How many samples got a line, function, stack, object and type, and why others did not
SELECT subject, outcome, samples,
       round(100.0 * samples / sum(samples) OVER (PARTITION BY subject), 2) AS percent
FROM resolution
ORDER BY subject, outcome <> 'resolved', samples DESC, outcome;
