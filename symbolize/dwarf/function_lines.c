/* SPDX-License-Identifier: MIT */
/* A separate budget, and a few runs for each unit, bound the cost of lines of single
 * functions. */
#include "function_lines.h"

#include <errno.h>

/* Takes nothing from the budget that other readers share. */
static int run_lines(struct dwarf_file *dwarf, Dwarf_Die *unit,
                     struct line_answer *answers, size_t count)
{
        uint64_t budget = dwarf->budget;
        struct line_table table;

        if (dwarf->line_budget == 0)
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
        size_t number;
        int error = die_lines_unit(dwarf, function, &unit, &number) &&
                            dwarf->units[number].line_runs++ < DWARF_LINE_RUNS
                        ? run_lines(dwarf, &unit, answers, count)
                        : -ENOENT;

        return !error || error == -ENOMEM ? error : -ENOENT;
}
