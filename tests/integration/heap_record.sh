#!/bin/sh
# SPDX-License-Identifier: MIT
# The heap under the simulated PMU: the target behaves as alone and sees the given environment. The
# recording has its blocks as it made them.
. "$SOURCE_DIR/tests/integration/library.sh"

src=$SOURCE_DIR/tests/integration/heap
: "${CC:=cc}" "${CXX:=c++}"
$CC -D_GNU_SOURCE -O1 -g -fno-builtin -fno-inline -o calls "$src/calls.c" -pthread
$CXX -D_GNU_SOURCE -std=c++17 -O1 -g -fno-builtin -o operators "$src/operators.cc"
$CXX -D_GNU_SOURCE -std=c++17 -O2 -shared -fPIC -o plugin.so "$src/plugin.cc"
$CC -O2 -o host "$src/host.c"

# same_behaviour STATUS COMMAND...
same_behaviour() {
        wanted=$1
        shift
        ends "$wanted" "$@" >alone.out
        ends "$wanted" "$MEMLAG" record $LOADS --force -o run.db -- "$@" >recorded.out
        head -c "$(wc -c <alone.out)" recorded.out | cmp alone.out -
}

same_behaviour 42 ./calls
# From the sizes in calls.c, only for calls from its functions.
cat >wanted <<'END'
aligned_alloc 1 128
brk 1 4096
calloc 1 210
malloc 3 160
memalign 1 100
mmap 3 53248
mremap 1 1048576
posix_memalign 1 33
pvalloc 1 10
realloc 2 500050
reallocarray 1 99
sbrk 1 8192
valloc 1 10
END
sqlite3 -readonly -separator ' ' run.db "
        SELECT t.function, sum(allocations), sum(total_bytes)
        FROM allocation_total AS t JOIN stack_location USING (stack_id)
                                   JOIN location AS l USING (location_id)
        WHERE l.function IN ('plain', 'resized', 'aligned', 'mapped', 'broken', 'forked')
        GROUP BY 1 ORDER BY 1" >got
diff -u wanted got

# Every block is laid to the line that calls the function.
sqlite3 -readonly -separator ' ' run.db "
        SELECT l.line, t.function
        FROM allocation_total AS t JOIN stack_location USING (stack_id)
                                   JOIN location AS l USING (location_id)
        WHERE l.file LIKE '%/calls.c'" >sites
[ "$(wc -l <sites)" -ge 18 ]
while read -r line function; do
        sed -n "${line}p" "$src/calls.c" | grep -q "\<$function("
done <sites

same_behaviour 42 ./calls threads
same_behaviour 43 ./operators
sqlite3 -readonly -separator ' ' run.db "
        SELECT function, sum(allocations), sum(total_bytes) FROM allocation_total
        WHERE function LIKE 'operator%' GROUP BY 1 ORDER BY 1" >got
# 10 to 15 and 100 bytes; 20 to 25 bytes.
cat >wanted <<'END'
operator new 7 175
operator new[] 6 135
END
diff -u wanted got
same_behaviour 44 ./host "$PWD/plugin.so"
holds run.db 77 "SELECT total_bytes FROM allocation_total
        WHERE function = 'operator new'"

# The environment of the target and of programs that it executes. A memlag with a sanitizer (the
# variable) refuses to run behind another library.
env=$(command -v env) sh=$(command -v sh)
for preload in '' LD_PRELOAD= "LD_PRELOAD=$PWD/plugin.so"; do
        set -- env -i A=1 ${preload:+"$preload"} B=2 \
                ASAN_OPTIONS=verify_asan_link_order=0
        "$@" "$sh" -c "$env; exec $env" >wanted
        "$@" "$MEMLAG" record $LOADS --force -o run.db -- "$sh" -c "$env; exec $env" >got
        head -c "$(wc -c <wanted)" got | diff -u wanted -
done

# A thread's stack is a block among others. The thread reads another block, and the samples belong
# to that.
program stack <<'END'
enum { SIZE = 4 << 20, STACK = 1 << 20 };
static volatile char *data;
static void *run(void *unused)
{
        for (size_t i = 0; i < SIZE; i += 64)
                data[i * 7919 % SIZE]++;
        return unused;
}
int main(void)
{
        mallopt(M_MMAP_THRESHOLD, 1 << 30);
        data = malloc(SIZE);
        void *stack = aligned_alloc(4096, STACK);
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stack, STACK);
        if (pthread_create(&thread, &attributes, run, NULL) != 0)
                return 1;
        return pthread_join(thread, NULL);
}
END
record stack $LOADS --period 20 -- ./stack
holds stack.db "1|0" "SELECT sum(object_kind = 'heap') > 1000, sum(level = 'DRAM' AND object_kind = 'stack')
        FROM sample_view WHERE function = 'run'"

# What realloc copies is read from the block that there was, which nobody reads besides.
program grown -fno-builtin -fno-optimize-sibling-calls <<'END'
enum { SIZE = 4 << 20 };
static char *behind;
__attribute__((noinline)) static char *before(void)
{
        char *block = malloc(SIZE);
        memset(block, 1, SIZE);
        behind = malloc(16); /* so that the block cannot grow where it is */
        return block;
}
__attribute__((noinline)) static char *after(char *block)
{
        return realloc(block, 2 * SIZE);
}
int main(void)
{
        mallopt(M_MMAP_THRESHOLD, 1 << 30);
        return after(before())[0] - 1;
}
END
record grown $LOADS --period 20 -- ./grown
at='before at grown.c:5'
[ "$(sed -n 5p grown.c)" = '        char *block = malloc(SIZE);' ]
# Besides the copied bytes it reads its return address; and the C library copies its data.
in_copies="FROM sample_view WHERE op = 'load' AND object_kind NOT IN ('stack', 'global') AND (function GLOB '*mem[cm]*unaligned*' OR function GLOB '*mem[cm]*ssse3*')"
holds grown.db "heap|$at|1" "SELECT object_kind, object, count(*) > 1000 $in_copies GROUP BY 1, 2"

# The site is the first function that means something: not one named as an allocator, and
# none of Rust's own libraries.
program sites -O0 <<'END'
enum { COUNT = 2000 };
static void *kept[2 * COUNT];
static void *appMemMalloc(size_t bytes)
{
        return calloc(1, bytes);
}
static void *dbMallocRawNN(size_t bytes)
{
        return appMemMalloc(bytes);
}
static void rows(void)
{
        for (int i = 0; i < COUNT; i++)
                kept[i] = dbMallocRawNN(200);
}
static void words(void);
int main(void)
{
        long sum = 0;
        rows();
        words();
        for (int i = 0; i < 2 * COUNT; i++)
                sum += *(long *)kept[i * 7L % (2 * COUNT)];
        return sum != 0;
}
#line 1 "/rustc/0123456789abcdef/library/core/src/fmt/num.rs"
static void *to_words(size_t bytes)
{
        return calloc(1, bytes);
}
#line 1 "/rust/deps/hashbrown-0.16.1/src/raw/mod.rs"
static void *reserve(size_t bytes)
{
        return to_words(bytes);
}
#line 100 "words.rs"
static void words(void)
{
        for (int i = 0; i < COUNT; i++)
                kept[COUNT + i] = reserve(200);
}
END
record sites $LOADS --ldlat 1 --period 7 -- ./sites
sqlite3 -readonly sites.db "
        SELECT DISTINCT o.name FROM attribution JOIN data_object AS o USING (object_id)
               JOIN location AS l USING (location_id)
        WHERE l.function = 'main' AND o.kind = 'heap' ORDER BY 1" >got
printf 'rows at sites.c:%d\nwords at words.rs:103\n' \
        "$(grep -n 'dbMallocRawNN(200)' sites.c | cut -d: -f1)" | diff -u - got

# Threads, signals, fork and dlopen at once. A process that waits for ever is killed.
"$CC" -D_GNU_SOURCE -O1 -o stress "$src/stress.c" -pthread
ends 0 timeout 600 "$MEMLAG" record $LOADS -o stress.db -- ./stress "$PWD/plugin.so" >out

# Allocations that the kernel refuses fail, and the program continues.
program refused <<'END'
int main(void)
{
        enum { PAGE = 4096 };
        struct rlimit limit = {200 << 20, 200 << 20};
        char *start = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        setrlimit(RLIMIT_AS, &limit);
        int refused = mremap(start, 64 * PAGE, 1ul << 40, MREMAP_MAYMOVE) == MAP_FAILED;
        refused += mremap(start, 64 * PAGE, 400 << 20, MREMAP_MAYMOVE) == MAP_FAILED;
        refused += mremap(start, 64 * PAGE, 400 << 20, 0) == MAP_FAILED;
        madvise(start + 8 * PAGE, 8 * PAGE, MADV_DONTFORK); /* another mapping */
        refused += mremap(start, 64 * PAGE, 128 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED;
        start[63 * PAGE] = 1;
        return refused;
}
END
ends 4 "$MEMLAG" record $LOADS -o refused.db -- ./refused >out
