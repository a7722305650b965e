-- SPDX-License-Identifier: MIT
-- The ledger: everything that is missing, by the stage that noticed
SELECT stage, kind, value, unit FROM ledger ORDER BY stage, kind;
