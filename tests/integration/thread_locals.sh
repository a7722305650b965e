#!/bin/sh
# SPDX-License-Identifier: MIT
# Thread-local variables of shared libraries, linked and loaded late, in the first thread and in
# others, by both methods of the ABI. Each function of the library reads the variable in its name.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >library.c <<'END'
struct pair { long key; int value; int other; };
__thread long counter = 3;
static __thread struct pair last = {1, 2, 3};
static __thread struct pair ring[32];
static __thread const struct pair *chosen;
__thread long sums[40];
#define READS(variable, count, value) \
        __attribute__((noinline)) long read_##variable(void) \
        { \
                long sum = 0; \
                for (int i = 0; i < count; i++) \
                        sum += value; \
                return sum; \
        }
READS(counter, 50, *(volatile long *)&counter)
READS(last, 50, ((volatile struct pair *)&last)->value)
READS(ring, 32, ((volatile struct pair *)ring)[i].other)
READS(sums, 40, ((volatile long *)sums)[i])
long work(void)
{
        long sum = 0;
        chosen = &ring[3];
        for (int i = 0; i < 40; i++)
                sum += read_counter() + read_last() + read_ring() + read_sums() + chosen->key;
        return sum;
}
END
cat >loader.c <<'END'
static long (*work)(void);
static void *run(void *none)
{
        work();
        return none;
}
int main(int argc, char **argv)
{
        pthread_t thread;
        void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
        work = library ? dlsym(library, "work") : NULL;
        if (!work)
                return puts(dlerror());
        run(NULL);
        pthread_create(&thread, NULL, run, NULL);
        return pthread_join(thread, NULL);
}
END
sed 's/static long (\*work)(void);/long work(void);/; s/^        void \*library.*//
     s/^        work = library.*//; s/^        if (!work)//; s/^                return puts.*//' \
        loader.c >linked.c

# ask SQL: of the samples in the library's functions that are not on the stack, and not where
# the code reads where the variable is.
ask()
{
        sqlite3 -readonly t.db "WITH said AS (
                SELECT substr(l.function, 6) AS variable, o.kind, o.name,
                        coalesce(d.name || '.' || f.name, '') AS field
                FROM attribution JOIN location AS l USING (location_id)
                JOIN data_object AS o USING (object_id) LEFT JOIN type_field AS f USING (field_id)
                LEFT JOIN data_type AS d USING (type_id)
                WHERE l.function LIKE 'read!_%' ESCAPE '!' AND o.kind <> 'stack'
                AND o.name NOT LIKE '[.got%' AND o.name <> '[thread control block]') $1"
}

# check COMPILER PERCENT COMMAND...: so many of the objects and fields, and none wrong.
check()
{
        name="$1, $3 $4" percent=$2
        shift 2
        record t $LOADS --ldlat 1 --period 7 -- "$@"
        all=$(ask 'SELECT count(*) FROM said')
        [ "$all" -gt 1000 ] || fail "$name: $all samples"
        expect "wrong in $name" "$(ask "SELECT * FROM said WHERE name NOT LIKE '[%' AND (kind, name) <>
                ('tls', variable) OR field NOT IN ('', 'struct pair.' ||
                iif(variable = 'last', 'value', 'other')) LIMIT 3")" ""
        right=$(ask "SELECT count(*) FROM said WHERE name = variable
                AND (field <> '' OR variable NOT IN ('last', 'ring'))")
        [ $((100 * right)) -ge $((percent * all)) ] || fail "$name: $right of $all"
        echo "$name: $right of $all"
}

for compiler in gcc clang; do
        has "$compiler" || continue
        for model in global-dynamic initial-exec; do
                "$compiler" -g -O2 -fPIC -shared -ftls-model=$model -o library.so library.c
                "$compiler" -g -O2 -pthread -include "$SOURCE_DIR/tests/integration/target.h" -o loader loader.c
                "$compiler" -g -O2 -pthread -include "$SOURCE_DIR/tests/integration/target.h" -o linked linked.c ./library.so
                check "$compiler $model" 95 ./loader ./library.so
                check "$compiler $model" 95 ./linked ''
        done
done

# By descriptors, which clang 14 has not.
gcc -g -O2 -fPIC -shared -mtls-dialect=gnu2 -o library.so library.c
readelf -rW library.so | grep -q R_X86_64_TLSDESC || fail "no descriptors"
check "gcc descriptors" 95 ./loader ./library.so
check "gcc descriptors" 95 ./linked ''

# Sources without the thread pointer: the variables of a created thread lie at the end of its stack.
# None is reported as the stack or as a frame. Each function of the thread reads the variable in its
# name.
"$MEMLAG" record --force -o t.db --source clock -- true >out 2>&1 || {
        echo "thread_locals.sh: SKIPPED by clock: $(cat out)" >&2
        exit 0
}
cat >ends.c <<'END'
#include <pthread.h>
struct pair { long hits, misses; int classes[4]; };
enum { ITEMS = 20000, TURNS = 30000000 };
static __thread struct pair only[ITEMS];
#ifdef SECOND
static __thread struct pair second[ITEMS];
#endif
#define READS(name, array)                                                               \
        __attribute__((noinline)) static long read_##name(struct pair *frame)            \
        {                                                                                \
                long sum = 0;                                                            \
                unsigned x = 1;                                                          \
                for (int i = 0; i < TURNS; i++) {                                        \
                        x = x * 1664525u + 1013904223u;                                  \
                        struct pair *pair = &array[(x >> 8) % ITEMS];                    \
                        pair->misses++;                                                  \
                        sum += pair->classes[2];                                         \
                }                                                                        \
                return sum;                                                              \
        }
READS(only, only)
READS(frame, frame)
#ifdef SECOND
READS(second, second)
#endif
static void *run(void *none)
{
        struct pair frame[ITEMS];
        for (int i = 0; i < ITEMS; i++)
                frame[i] = (struct pair){i, i, {0}};
        volatile long sum = read_only(frame) + read_frame(frame);
#ifdef SECOND
        sum += read_second(frame);
#endif
        return none;
}
int main(void)
{
        pthread_t thread;
        pthread_create(&thread, 0, run, 0);
        return pthread_join(thread, 0);
}
END
# of WHAT CONDITION: samples with an object in functions that read it.
of()
{
        sqlite3 -readonly t.db "SELECT count(*) FROM attribution JOIN location AS l USING (location_id)
                JOIN data_object AS o USING (object_id) WHERE l.function LIKE 'read!_$1' ESCAPE '!' AND $2"
}
for compiler in gcc clang; do
        command -v "$compiler" >/dev/null || continue
        for second in '' -DSECOND; do
                name="clock, $compiler $second"
                "$compiler" -g -O2 -pthread $second -o ends ends.c
                record t --source clock -- ./ends
                variables="l.function <> 'read_frame'"
                expect "other names, $name" "$(of % "$variables AND (o.kind, o.name) <> ('tls', substr(l.function, 6))
                        AND o.name NOT LIKE '[stack or thread-local memory of thread %]'")" 0
                [ "$(of frame "o.kind <> 'stack'")" = 0 ] || fail "$name: a frame is no stack"
                [ "$(of frame "o.kind = 'stack'")" -gt 20 ] || fail "$name: too few in the frame"
                # clang's operands are relative to the thread pointer, which clock does not know:
                # they tell nothing where a second array may be meant.
                [ "$compiler$second" = clang-DSECOND ] || [ "$(of % "$variables")" -gt 20 ] ||
                        fail "$name: too few of the variables"
                # In one thread, all offsets in an array agree on the array's start.
                holds t.db 0 "SELECT count(*) FROM (SELECT object_id FROM attribution
                        JOIN sample USING (sample_id) JOIN data_object AS o USING (object_id)
                        WHERE o.kind = 'tls' AND addr <> 0 GROUP BY object_id
                        HAVING count(DISTINCT addr - object_offset_bytes) > 1)"
                # Later versions of clang add the array's place to the thread pointer beforehand.
                told=all
                [ $compiler = gcc ] || told=$(by_version clang 14 all some)
                [ "$told$second" != all ] || {
                        [ "$(of only "o.kind <> 'tls'")" = 0 ] || fail "$name: not all are named"
                        holds t.db 1 "SELECT count(*) > 0 FROM attribution JOIN data_object AS o
                                USING (object_id) WHERE o.name = 'only' AND field_id IS NOT NULL"
                }
                holds t.db 1 "SELECT (SELECT count(*) FROM unresolved_view
                        WHERE subject = 'object' AND reason = 'stack or thread-local memory') =
                        (SELECT coalesce(sum(value), 0) FROM ledger
                        WHERE kind = 'samples in stack or thread-local memory')"
        done
done
