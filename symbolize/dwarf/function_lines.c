/* SPDX-License-Identifier: MIT */
/* A budget of its own, and a few runs for each unit, bound what lines of single functions
 * take. */
#include "function_lines.h"

#include <errno.h>

#include "array.h"

static bool unit_is_below(const void *item, const void *key)
{
        return ((const struct dwarf_unit *)item)->die_offset < *(const uint64_t *)key;
}

/* Whether the program of UNIT's lines may run once more. */
static bool may_run(struct dwarf_file *dwarf, Dwarf_Die *unit)
{
        uint64_t offset = dwarf_dieoffset(unit);
        size_t at = array_count_before(dwarf->units, dwarf->unit_count,
                                       sizeof(*dwarf->units), unit_is_below, &offset);

        return dwarf_cu_getdwarf(unit->cu) == dwarf->dwarf && at < dwarf->unit_count &&
               dwarf->units[at].die_offset == offset &&
               dwarf->units[at].line_runs++ < DWARF_LINE_RUNS;
}

/* Takes nothing from the budget that other readers share. */
static int run_lines(struct dwarf_file *dwarf, Dwarf_Die *unit,
                     struct line_answer *answers, size_t count)
{
        uint64_t budget = dwarf->budget;
        struct line_table table;

        if (dwarf->line_budget == 0 || !may_run(dwarf, unit))
                return -ENOENT;
        dwarf->budget = dwarf->line_budget;
        int error = die_line_table(dwarf, unit, &table);

        if (!error) {
                error = line_program_run(&table, answers, count, &dwarf->budget);
                line_table_free(&table);
        }
        dwarf->line_budget = dwarf->budget;
        dwarf->budget = budget;
        return !error && dwarf->line_budget == 0 ? -ENOENT : error;
}

int function_lines(struct dwarf_file *dwarf, Dwarf_Die *function,
                   struct line_answer *answers, size_t count)
{
        Dwarf_Die unit;
        int error = dwarf_diecu(function, &unit, NULL, NULL)
                        ? run_lines(dwarf, &unit, answers, count)
                        : -ENOENT;

        return !error || error == -ENOMEM ? error : -ENOENT;
}
