#!/bin/sh
# SPDX-License-Identifier: MIT
# Blocks of a native program under source clock: two threads use the same addresses again and again.
# A sample belongs to the block that lives at its time.
. "$SOURCE_DIR/tests/integration/library.sh"

"$MEMLAG" record --force -o probe.db --source clock -- true 2>err || skip "$(cat err)"

# Each sum_X reads what make_X made, and nothing else does. All blocks come from one arena,
# and are of such sizes that what one function gives back, another one gets.
program blocks -fno-builtin -fno-optimize-sibling-calls <<'END'
/* A walk is shorter than the time between two samples: many are near its ends. */
enum { BYTES = 1 << 20, ROUNDS = 1500, READS = 40000, USED = 1 << 16 };
#define SUM(name)                                                                \
        NOINLINE static long name(const long *from, unsigned long steps,         \
                                  unsigned long at)                              \
        {                                                                        \
                long sum = 0;                                                    \
                for (unsigned long i = 0; i < steps; i++) {                      \
                        at = at * 6364136223846793005 + 1442695040888963407;     \
                        sum += from[at >> 47];                                   \
                }                                                                \
                return sum;                                                      \
        }
SUM(sum_first)
SUM(sum_second)
SUM(sum_small)
SUM(sum_grown)
SUM(sum_moved)
#define MAKE(name, block)                                                        \
        NOINLINE static long *make_##name(long *old) { return old = block; }
MAKE(first, calloc(1, BYTES))
MAKE(second, calloc(1, BYTES))
MAKE(small, calloc(1, BYTES))
MAKE(grown, realloc(old, BYTES + 4096))
MAKE(moved, realloc(old, 2 * BYTES))
static unsigned users[USED], again;
/* One bit for each function that has had a block at this place. */
static void use(const long *block, unsigned user)
{
        unsigned *of = &users[(size_t)block / 4096 % USED];
        unsigned before = __atomic_fetch_or(of, 1u << user, __ATOMIC_RELAXED);
        if (before & ~(1u << user))
                __atomic_fetch_add(&again, 1, __ATOMIC_RELAXED);
}
static long end(long *block, long sum)
{
        free(block);
        return sum;
}
static void *give_back(void *sum)
{
        for (int i = 0; i < ROUNDS; i++) {
                long *first = make_first(NULL);
                use(first, 0);
                *(long *)sum += sum_first(first, READS, i) + end(first, 0);
                long *second = make_second(NULL);
                use(second, 1);
                *(long *)sum += sum_second(second, READS, i) + end(second, 0);
        }
        return NULL;
}
static void *resize(void *sum)
{
        for (int i = 0; i < ROUNDS; i++) {
                long *block = make_small(NULL);
                use(block, 2);
                *(long *)sum += sum_small(block, READS, i);
                block = make_grown(block);
                use(block, 3);
                *(long *)sum += sum_grown(block, READS, i);
                block = make_moved(block);
                use(block, 4);
                *(long *)sum += sum_moved(block, READS, i) + end(block, 0);
        }
        return NULL;
}
int main(void)
{
        pthread_t thread;
        long sums[2] = {0, 0};
        mallopt(M_ARENA_MAX, 1);
        mallopt(M_MMAP_THRESHOLD, 1 << 30);
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
        pthread_create(&thread, NULL, resize, &sums[0]);
        give_back(&sums[1]);
        pthread_join(thread, NULL);
        printf("%u\n", again);
        return sums[0] + sums[1] != 0;
}
END
"$MEMLAG" record --force -o blocks.db --source clock -- ./blocks >again 2>err || fail "$(cat err)"
# Of 7500 blocks most are where one of another function has been.
[ "$(head -n 1 again)" -gt 2500 ] || fail "only $(cat again) blocks at places of others"

# Every sample of the process is in a mapping of that time.
holds blocks.db 0 "SELECT count(*) FROM sample AS s JOIN thread AS t USING (thread_id)
        WHERE NOT EXISTS (SELECT 1 FROM mapping AS m WHERE m.process_id = t.process_id
        AND s.ip - m.start_addr BETWEEN 0 AND m.length_bytes - 1 AND m.start_ns <= s.time_ns
        AND coalesce(m.end_ns, s.time_ns) >= s.time_ns AND m.module_id IS NOT NULL)"

for name in first second small grown moved; do
        line=$(grep -n "^MAKE($name," blocks.c | cut -d: -f1)
        at="make_$name at blocks.c:$line"
        answer blocks.db "SELECT coalesce(o.kind, '-') || ' ' || coalesce(o.name, '-'), count(*)
             FROM sample JOIN attribution USING (sample_id) JOIN location AS l USING (location_id)
             LEFT JOIN data_object AS o USING (object_id)
             WHERE l.function = 'sum_$name' AND addr IS NOT NULL GROUP BY 1" >"$name.got"
        [ "$(cut -d '|' -f 1 "$name.got")" = "heap $at" ] ||
                fail "what sum_$name reads is not (only) from $at: $(cat "$name.got")"
        [ "$(cut -d '|' -f 2 "$name.got")" -gt 50 ] || fail "sum_$name: $(cat "$name.got") samples"
done
