#!/bin/sh
# SPDX-License-Identifier: MIT
# Variables of a frame that the compiler puts at one place, in programs that
# shared/generate.py makes: of blocks next to each other and within each other, of branches
# whose calls it merges, of inlined functions, and what has no name. What is said of a read
# must be right, or that it is one of several.
set -eu

fail()
{
        echo "shared_places.sh: $*" >&2
        exit 1
}

# measure SEED LANGUAGE SHARE COMPILER OPTION...: SHARE of the reads have the right variable
# alone.
measure()
{
        seed=$1 language=$2 share=$3 compiler=$4
        shift 3
        name=shared_${seed}_$compiler
        case $language in
        c) source=$name.c ;;
        *) source=$name.cc ;;
        esac
        python3 "$SOURCE_DIR/tests/integration/shared/generate.py" "$seed" 12 "$language" >"$source"
        "$@" -g -w -o "$name" "$source"
        "$MEMLAG" record -o "$name.db" $LOADS --sim-detail cache --ldlat 1 --period 1 \
                -- "./$name" >"$name.out" 2>"$name.err" || fail "$name: $(cat "$name.err")"
        python3 "$SOURCE_DIR/tests/integration/shared/check.py" "$name.db" "$name.out" "$source" \
                "$share" || fail "$name: not as it is known to be"
}

measure 1 c 0.08 gcc -O2
measure 2 c++ 0.1 g++ -O2
if command -v clang >/dev/null; then
        measure 1 c 0.08 clang -O2
        measure 1 c++ 0.1 clang++ -O2
else
        echo "shared_places.sh: SKIPPED with clang: it is not installed" >&2
fi

# What is certain: variables of one place are named together, whether calls were merged or not.
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
"$MEMLAG" record -o merged.db $LOADS --ldlat 1 --period 3 -- ./merged >merged.out 2>&1 ||
        fail "merged: $(cat merged.out)"
said=$(sqlite3 -readonly merged.db "SELECT DISTINCT
        caller.function || ' ' || o.name || ' ' || (t.name LIKE 'struct%')
        FROM sample AS s JOIN attribution AS a USING (sample_id)
        JOIN location AS l USING (location_id) JOIN data_object AS o USING (object_id)
        JOIN type_field AS f USING (field_id) JOIN data_type AS t USING (type_id)
        JOIN stack AS k USING (stack_id) JOIN stack_location AS p ON p.stack_id = k.parent_id
        JOIN location AS caller ON caller.location_id = p.location_id
        WHERE l.function = 'sum_up' AND o.kind = 'stack' ORDER BY 1")
[ "$said" = "merged merged::cells|pairs 0
within within::pairs|cells 0" ] || fail "merged and within are read as $said"

# Parameters of two inlined functions, copied to one place before the code of either: which
# one the merged rest reads is not known.
cat >by_value.c <<'END'
struct red { long r[8]; };
struct blue { long b[8]; };
static struct red all_red;
static struct blue all_blue;
static inline __attribute__((always_inline)) long of_red(struct red red)
{
        __asm__ volatile("" : : "r"(&red) : "memory");
        return red.r[3] + red.r[5] * red.r[6];
}
static inline __attribute__((always_inline)) long of_blue(struct blue blue)
{
        __asm__ volatile("" : : "r"(&blue) : "memory");
        return blue.b[3] + blue.b[5] * blue.b[6];
}
__attribute__((noinline, noipa)) static long pick(long which)
{
        long sum;
        if (which)
                sum = of_red(all_red);
        else
                sum = of_blue(all_blue);
        return sum * 3;
}
int main(void)
{
        long sum = 0;
        for (int i = 0; i < 3000; i++)
                sum += pick(1);
        return sum != 0;
}
END
gcc -g -O2 -o by_value by_value.c
objdump -d --no-show-raw-insn by_value | sed -n '/<pick>:/,/^$/p' >code
[ "$(grep -c imul code)" -eq 1 ] || fail "gcc has not merged what reads the two: $(cat code)"
"$MEMLAG" record -o by_value.db $LOADS --ldlat 1 --period 3 -- ./by_value >by_value.out 2>&1 ||
        fail "by_value: $(cat by_value.out)"
said=$(sqlite3 -readonly by_value.db "SELECT count(*) > 1000, count(type), min(object), max(object)
        FROM sample_view WHERE object_kind = 'stack' AND function LIKE 'of_%'")
# Later versions leave no trace of the one function: a known error.
[ "$said" = "1|0|of_red::red|of_blue::blue|of_red::red|of_blue::blue" ] ||
        [ "$(readelf --debug-dump=info by_value | grep -c '(DW_TAG_inlined_subroutine)')" -eq 1 ] ||
        fail "parameters at one place are read as $said"

# Variables that clang says are there until the function has returned, at a constant distance
# from a stack pointer that moves before it does: what is taken back there was saved.
cat >returns.c <<'END'
__attribute__((noinline)) static long returns(long depth, long *sum)
{
        long kept = depth * 3;
        char room[200];
        __asm__ volatile("" : : "r"(room) : "memory", "rbx", "rbp", "r12", "r13", "r14", "r15",
                         "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
        long result = depth ? returns(depth - 1, sum) : 0;
        *sum += kept;
        return result + 1;
}
int main(void)
{
        long sum = 0, depth = 0;
        for (int i = 0; i < 20; i++)
                depth += returns(1000, &sum);
        return depth + sum == 1;
}
END
for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        $compiler -g -O2 -o returns returns.c
        "$MEMLAG" record --force -o returns.db $LOADS --ldlat 1 --period 3 -- \
                ./returns >returns.out 2>&1 || fail "returns: $(cat returns.out)"
        said=$(sqlite3 -readonly returns.db "SELECT count(*) > 1000, count(type),
                count(DISTINCT object), min(object) FROM sample_view WHERE function = 'returns'
                AND (instruction LIKE 'pop %' OR instruction LIKE 'ret%')")
        [ "$said" = "1|0|1|returns's stack" ] ||
                fail "what $compiler has saved is said to be $said"
done
