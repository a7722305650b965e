#!/bin/sh
# SPDX-License-Identifier: MIT
# Variables of a frame that share a stack slot: of adjacent blocks, and of branches whose calls the
# compiler merges. Samples there have no name or type.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >merged.c <<'END'
#define ONE_FUNCTION __attribute__((noinline, noipa))
enum { COUNT = 128 };
struct cell { long key, mass; };
struct pair { double left, right; };
static volatile int way;
ONE_FUNCTION static long sum_up(const void *bytes, int items, int words, volatile int *last)
{
        const volatile long *from = bytes;
        long sum = 0;
        for (int i = 0; i < items * words; i++)
                sum += from[i];
        *last = items;
        return sum;
}
ONE_FUNCTION static void fill_cells(struct cell *cells)
{
        for (int i = 0; i < COUNT; i++)
                cells[i] = (struct cell){i, i};
}
ONE_FUNCTION static void fill_pairs(struct pair *pairs)
{
        for (int i = 0; i < COUNT; i++)
                pairs[i] = (struct pair){i, i};
}
ONE_FUNCTION static long merged(int which)
{
        if (which) {
                struct cell cells[COUNT];
                fill_cells(cells);
                long sum = sum_up(cells, COUNT, 2, &way);
                way = COUNT;
                return sum * 3 + way;
        } else {
                struct pair pairs[COUNT];
                fill_pairs(pairs);
                long sum = sum_up(pairs, COUNT, 2, &way);
                way = COUNT;
                return sum * 3 + way;
        }
}
ONE_FUNCTION static long within(int times)
{
        long sum = 0;
        for (int i = 0; i < times; i++) {
                struct cell cells[COUNT];
                fill_cells(cells);
                sum += sum_up(cells, COUNT, 2, &way);
        }
        struct pair pairs[COUNT];
        fill_pairs(pairs);
        return sum + 3 * sum_up(pairs, COUNT, 2, &way);
}
int main(void)
{
        long sum = 0;
        for (int i = 0; i < 8; i++)
                sum += merged(i & 1) + within(2);
        return sum == 1;
}
END
gcc -g -O2 -o merged merged.c
objdump -d --no-show-raw-insn merged | sed -n '/<merged>:/,/^$/p' >code
[ "$(grep -c 'call.*<sum_up>' code)" -eq 1 ] || fail "gcc has not merged the calls: $(cat code)"
record merged $LOADS --ldlat 1 --period 3 -- ./merged
holds merged.db "merged merged's stack 0
within within's stack 0" "SELECT DISTINCT
        caller.function || ' ' || o.name || ' ' || (t.name LIKE 'struct%')
        FROM sample AS s JOIN attribution AS a USING (sample_id)
        JOIN location AS l USING (location_id) JOIN data_object AS o USING (object_id)
        JOIN type_field AS f USING (field_id) JOIN data_type AS t USING (type_id)
        JOIN stack AS k USING (stack_id) JOIN stack_location AS p ON p.stack_id = k.parent_id
        JOIN location AS caller ON caller.location_id = p.location_id
        WHERE l.function = 'sum_up' AND o.kind = 'stack' ORDER BY 1"
