#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag whatif with another layout of the program's data in the model: it takes as long as the
# rewritten program. And refusals.
. "$SOURCE_DIR/tests/integration/library.sh"

SKYLAKE="--sim-cpu skylake-sp --sim-set numa.nodes=1"

# built NAME FLAG...: builds the test's program as NAME. Aligned loops take as long wherever the
# rewriting puts them: one that lies in two lines of code takes longer.
built()
{
        name=$1
        source=$2
        shift 2
        "${CC:-cc}" -g -O2 -fno-tree-vectorize -falign-loops=64 -pthread "$@" -o "$name" "$SOURCE_DIR/tests/$source"
}

# like_rewritten FIX SOURCE FLAG REWRITING PER_CENT [OPTION...]: the run with the fix takes as long
# as the rewritten program.
like_rewritten()
{
        fix=$1 source=$2 flag=$3 rewriting=$4 most=$5
        shift 5
        built before "$source" "$flag"
        built after "$source" "$flag" "$rewriting"
        "$MEMLAG" whatif "$@" --force -o before.db --fix "$fix" -- ./before >/dev/null 2>err </dev/null ||
                fail "$fix: $(cat err)"
        record after "$@" -- ./after
        told=$(sqlite3 -readonly before.db "SELECT cycles FROM whatif_run WHERE fix = '$fix'")
        expect "$fix as the rewritten program: $told, $(cycles_of after.db), before $(cycles_of before.db)" \
                "$(awk "BEGIN { d = $told / $(cycles_of after.db) - 1; print (d < 0 ? -d : d) <= $most / 100 }")" 1
}

# Blocks of one element keep their address: nothing differs.
like_rewritten "type:node=reorder(key,next)" experiments/layouts.c -DLIST -DREWRITTEN 0.1 $SKYLAKE
"$MEMLAG" report before.db | grep -q 'If key,next came first in node: ' || fail "$("$MEMLAG" report before.db)"
like_rewritten "type:row=pad(64)" experiments/layouts.c -DCOLUMNS -DREWRITTEN 1 $SKYLAKE
# The rows crowd in one set no more, with the same layout.
like_rewritten cache-sets experiments/layouts.c -DCOLUMNS -DREWRITTEN 2 $SKYLAKE
# A static array; each access is to a member of a nested struct.
like_rewritten "type:struct item=soa" experiments/layouts.c -DFLAGS -DREWRITTEN 5 $SKYLAKE

SMALL="--sim-set l3.size_bytes=2097152 --sim-set l3.ways=16"
like_rewritten "object:allocate=hugepages" integration/whatif_objects.c -DBEFORE -DHUGE 1 $SKYLAKE
like_rewritten "object:allocate=nontemporal" integration/whatif_objects.c -DBEFORE -DAROUND 2 $SKYLAKE $SMALL
like_rewritten "object:allocate=local" integration/whatif_objects.c -DBEFORE -DLOCAL 2 --sim-cpu skylake-sp \
        --sim-set numa.nodes=2 --sim-set numa.spread=1 $SMALL

# By default the objects get the fix that fits. Page faults take next to no time here: by some
# compilers' code they take longer than the waits for the data.
NO_FAULTS="--sim-set kernel.fault_ns=0 --sim-set kernel.copy_gbs=10000"
tried()
{
        "$MEMLAG" whatif $SKYLAKE $NO_FAULTS --force -o tried.db -- ./before >/dev/null 2>err </dev/null || fail "$(cat err)"
        holds tried.db 1 "SELECT count(*) FROM whatif_run WHERE fix LIKE '$1'"
}
built before experiments/layouts.c -DCOUNTERS
tried "type:counter=align(64)"
built before experiments/layouts.c -DSEARCH
tried "type:entry=soa"

# No gain can be given for these.
program refused <<'END'
struct point { double x, y; };
struct outer { long a; char name[120]; struct point inner; long b; };
struct tail { long n; char text[]; };
static __attribute__((noipa)) double sum(const struct point *all, long n)
{
        double s = 0;
        for (long i = 0; i < n; i++)
                s += all[i].x;
        return s;
}
static __attribute__((noinline)) long texts(struct tail **all, long n)
{
        long s = 0;
        for (long i = 0; i < n; i++)
                s += all[i]->n;
        return s;
}
static __attribute__((noinline)) double inner(const struct outer *all, long n)
{
        double s = 0;
        for (long i = 0; i < n; i++)
                s += all[i].a + sum(&all[i].inner, n > 0);
        return s;
}
int main(int argc, char **argv)
{
        if (argv[1][0] == 's') {
                struct point on_stack[20000];
                for (long i = 0; i < 20000; i++)
                        on_stack[i].x = argc;
                return sum(on_stack, 20000) < 0;
        }
        if (argv[1][0] == 'i') {
                struct outer *all = calloc(20000, sizeof(*all));
                return inner(all, 20000) > 1;
        }
        struct tail **all = malloc(5000 * sizeof(*all));
        for (long i = 0; i < 5000; i++)
                (all[i] = malloc(sizeof(**all) + 64 + i % 5))->n = argc;
        return texts(all, 5000) < 0;
}
END

# refused FIX WORD REASON [PERIOD]: of the program with the argument WORD.
refused()
{
        ends 1 "$MEMLAG" whatif $SKYLAKE --period "${4-97}" --force -o refused.db --fix "$1" -- ./refused "$2" >out </dev/null
        says "$3"
        holds refused.db 0 "SELECT count(*) FROM whatif_run"
}

refused type:nothing=soa s "no sample is of a type 'nothing'"
refused object:nothing=local s "no sample is of an object of 'nothing'"
refused type:point=soa s "only global variables and heap blocks"
refused "type:point=split(z)" s "it has no member 'z'"
# A part counts as the larger type, even if samples show no second item of it.
for period in 97 100003; do
        refused type:point=soa i "no sample is of a type 'point'" $period
done
refused "type:tail=pad(8)" t "of variable length"
for fix in type:point=wide "type:point=align(3)" "type:point=pad()" object:x=soa line:x=in-time; do
        refuses 2 "is no fix; give " "$MEMLAG" whatif --fix "$fix" -- true </dev/null
done
