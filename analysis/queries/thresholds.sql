-- SPDX-License-Identifier: MIT
-- The limits that the verdicts used, and where they come from
SELECT name, value, unit, origin FROM threshold ORDER BY name;
