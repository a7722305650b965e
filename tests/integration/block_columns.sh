#!/bin/sh
# SPDX-License-Identifier: MIT
# Blocks of one type that one line allocates at several columns: each column is an object, with the
# compiler's column in its name. Copies of the code at one column are one object. The source below
# gives the columns.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >members.cc <<'END'
#include <cstdio>
#include <cstdlib>
#include <vector>
struct bodies {
        std::vector<double> x, y, mass;
        explicit bodies(size_t n) : x(n, 1), y(n, 2), mass(n, 3) {}
};
__attribute__((noinline)) static double sum(const double *numbers, size_t count)
{
        double all = 0;
        for (size_t i = 0; i < count; i++)
                all += numbers[i];
        return all;
}
int main()
{
        bodies one(30000), other(20000);
        double *rows[2];
        for (int i = 0; i < 2; i++) rows[i] = (double *)calloc(30000, sizeof(double));
        double all = sum(rows[0], 30000) + sum(rows[1], 30000);
        for (const bodies *b : {&one, &other})
                all += sum(&b->x[0], b->x.size()) + sum(&b->y[0], b->y.size()) +
                       sum(&b->mass[0], b->mass.size());
        printf("%g\n", all);
}
END
# column TEXT: where TEXT is in its line of the source
column()
{
        awk -v text="$1" 'index($0, text) { print index($0, text) }' members.cc
}
line=$(grep -n 'explicit' members.cc | cut -d: -f1)
rows=$(grep -n 'calloc' members.cc | cut -d: -f1)
wanted=$(for member in 'x(n, 1)' 'y(n, 2)' 'mass(n, 3)'; do
        echo "bodies::bodies at members.cc:$line:$(column "$member")|2|400000"
done; echo "main at members.cc:$rows|2|480000")

measured=
for compiler in g++ clang++; do
        command -v $compiler >/dev/null || continue
        for level in -O0 -O2; do
                name=$compiler$level
                $compiler -g $level -o "$name" members.cc
                record "$name" $LOADS --ldlat 1 --period 53 -- "./$name"
                holds "$name.db" "$wanted" "SELECT name, allocations, total_bytes
                        FROM data_object WHERE kind = 'heap' AND name LIKE '% at members.cc:%'
                        ORDER BY alloc_line, length(name), name"
                measured="$measured $name"
        done
done

# Only -O2 has the code of a loop twice, and a constructor's in its caller.
calls=$(objdump -d g++-O2 | grep -c 'call.*<calloc')
[ "$calls" -gt 1 ] || fail "calloc is called in one place, which proves nothing"
echo "measured:$measured"
