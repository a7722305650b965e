#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag report --by caller and --by allocation. Two functions call one that waits, one of them
# three times as often, once through an inlined function. And the program's lines from which lines
# of libraries and of its headers were reached.
. "$SOURCE_DIR/tests/integration/library.sh"

# Included like a header, but a source by its name, in a directory with another suffix.
mkdir -p app.hpc
cat >app.hpc/chase.c <<'END_C'
__attribute__((noinline)) static struct node *chase(struct node *at, long steps)
{
        while (steps--)
                at = at->next;
        return at;
}
END_C
program tree <<'END_C'
struct node { struct node *next; long pad[30]; };
static struct node *build(size_t n)
{
        struct node *nodes = malloc(n * sizeof(*nodes));
        for (size_t i = 0; i < n; i++)
                nodes[i].next = &nodes[(i * 7919 + 13) % n];
        return nodes;
}
#include "app.hpc/chase.c"
static inline __attribute__((always_inline)) struct node *thrice(struct node *at)
{
        return chase(at, 300000)->next;
}
__attribute__((noinline)) static struct node *often(struct node *at)
{
        return thrice(at)->next;
}
__attribute__((noinline)) static struct node *rarely(struct node *at)
{
        return chase(at, 100000)->next;
}
int main(void)
{
        return !rarely(often(build(200003)));
}
END_C
"$MEMLAG" record $LOADS -o t.db -- ./tree >record.out
"$MEMLAG" report --by caller --format csv t.db >t.csv
"$MEMLAG" report -v --by caller t.db | grep -q '^ *[0-9.]*% .*    often$' || fail "no tree"


# tree SQL: of the rows of t.csv, with the functions from the program's start in path.
tree()
{
        sqlite3 -bail :memory: ".import --csv t.csv c" "WITH RECURSIVE tree AS (
                SELECT *, function AS path FROM c WHERE parent_id = ''
                UNION ALL SELECT c.*, path || ' ' || c.function
                FROM tree JOIN c ON c.parent_id = tree.caller_id) $1"
}
expect "three times as often" "$(tree "SELECT count(*), rarely >= 100, often BETWEEN 2.6 * rarely AND 3.4 * rarely
        FROM (SELECT samples + 0 AS often FROM tree WHERE path LIKE '% main often thrice chase'),
             (SELECT samples + 0 AS rarely FROM tree WHERE path LIKE '% main rarely chase')")" "1|1|1"
# Every memory sample is in the tree once, and each function includes the cost of its callees.
expect "samples in the tree" "$(tree "SELECT sum(self_samples) FROM tree")" \
        "$(answer t.db "SELECT value FROM run_info WHERE key = 'memory_samples'")"
expect "rows that are not the sum of what they call" "$(tree "SELECT count(*) FROM tree AS t
        WHERE samples + 0 <> self_samples + (SELECT total(samples) FROM c WHERE c.parent_id = t.caller_id)
        OR parent_id <> '' AND parent_id + 0 >= caller_id + 0")" 0
holds t.db 5 "SELECT count(*) FROM (SELECT sum(samples) AS all_samples FROM resolution
        WHERE subject IN ('line', 'function', 'stack', 'object', 'type') GROUP BY subject)
        WHERE all_samples = (SELECT count(*) FROM sample)"
# A source file is not taken for a header.
holds t.db "1|0" "SELECT sum(samples) > 100, count(caller_file) FROM line_view
        WHERE file LIKE '%/app.hpc/chase.c'"

# stored_once DB: each node of the tree of calls is there once, a leaf apart from a call at the
# same address.
stored_once()
{
        holds "$1" 0 "WITH leaf AS (SELECT stack_id FROM sample UNION SELECT stack_id FROM allocation
                UNION SELECT stack_id FROM allocation_total)
                SELECT count(*) FROM (SELECT 1 FROM stack LEFT JOIN leaf USING (stack_id)
                        GROUP BY parent_id, process_id, ip, leaf.stack_id IS NULL
                        HAVING count(*) > 1)"
}
stored_once t.db

# Blocks of one object by the calls that allocated them, through a wrapper: their numbers
# and sizes are the program's own.
program blocks -fno-optimize-sibling-calls <<'END_C'
struct node { struct node *next; char rest[4088]; };
static struct node *list;
__attribute__((noinline)) static void *xmalloc(size_t bytes)
{
        void *block = malloc(bytes);
        if (!block)
                abort();
        return block;
}
__attribute__((noinline)) static void prepend(void)
{
        struct node *node = xmalloc(sizeof(*node));
        node->next = list;
        list = node;
}
__attribute__((noinline)) static void load(int count)
{
        while (count--)
                prepend();
}
__attribute__((noinline)) static void insert(int count)
{
        while (count--)
                prepend();
}
int main(void)
{
        load(3000);
        insert(1000);
        long n = 0;
        for (int i = 0; i < 20; i++)
                for (struct node *at = list; at; at = at->next)
                        n++;
        return n != 80000;
}
END_C
"$MEMLAG" record $LOADS --period 199 -o b.db -- ./blocks >record.out
stored_once b.db
"$MEMLAG" report --by allocation --format csv b.db >b.csv
# In the table figures stand where paths part, and the shares once for the object.
"$MEMLAG" report -v --by allocation b.db >b.txt
grep -q '^ *[0-9.]*%  *[0-9.]*%  *[0-9]*  *4000 .* xmalloc (blocks.c:5)$' b.txt &&
        grep -q '^ *[0-9]*  *1000  *4000 KiB .*     insert (blocks.c:24)$' b.txt &&
        grep -q '^ *      main (blocks.c:29)$' b.txt &&
        grep -q '^ *  prepend (blocks.c:12)$' b.txt || fail "no tree of allocations: $(cat b.txt)"

expect "blocks and bytes by caller" "$(sqlite3 :memory: ".import --csv b.csv r" "SELECT function, allocations,
        total_bytes / 4096.0, peak_bytes / 4096.0 FROM r WHERE object LIKE 'prepend%'
        AND function IN ('xmalloc', 'prepend', 'load', 'insert') ORDER BY path")" \
"xmalloc|4000|4000.0|4000.0
prepend|4000|4000.0|4000.0
load|3000|3000.0|3000.0
insert|1000|1000.0|1000.0"
touched=$(answer b.db "SELECT samples FROM object_view WHERE object LIKE 'prepend%'")
expect "samples by caller" "$(sqlite3 :memory: ".import --csv b.csv r" "
        WITH n AS (SELECT function, samples + 0 AS samples FROM r WHERE object LIKE 'prepend%')
        SELECT i.samples + l.samples = x.samples, x.samples = $touched, $touched > 100,
               1.0 * l.samples / i.samples BETWEEN 2 AND 4.5 FROM n AS i, n AS l, n AS x
        WHERE i.function = 'insert' AND l.function = 'load' AND x.function = 'xmalloc'")" "1|1|1|1"

# The cost of a line in a library's header counts for the line that uses it: three times as much in
# often() as in seldom(), inlined or called. The same holds for a header of the program and a
# function of the C library.
cat >pick.h <<'END_C'
static inline long pick(const long *from, unsigned long i)
{
        return from[i];
}
END_C
cat >uses.cc <<'END_C'
#include <cstring>
#include <list>
#include <vector>
#include "pick.h"
#define NOINLINE __attribute__((noinline))
NOINLINE static long seldom(const std::list<long> &from)
{
        long n = 0;
        for (auto at = from.begin(); at != from.end(); ++at) // seldom
                n++;
        return n;
}
NOINLINE static long often(const std::list<long> &from)
{
        long n = 0;
        for (int i = 0; i < 3; i++)
                for (auto at = from.begin(); at != from.end(); ++at) // often
                        n++;
        return n;
}
NOINLINE static long own(const std::vector<long> &from, size_t steps)
{
        const long *first = from.data();
        size_t at = 0;
        while (steps--)
                at = (size_t)pick(first, at); // own
        return (long)at;
}
NOINLINE static void copy(std::vector<long> &to, const std::vector<long> &from)
{
        memcpy(to.data(), from.data(), from.size() * sizeof(long)); // copy
}
int main()
{
        std::vector<long> ring(1 << 20), other(1 << 20);
        for (size_t i = 0; i < ring.size(); i++)
                ring[i] = (long)((i + 600011) % ring.size());
        copy(other, ring);
        std::list<long> list(60000);
        return often(list) + seldom(list) + own(ring, 30000) == 7;
}
END_C
has g++ || exit 0
for level in 2 0; do
        g++ -g "-O$level" -fno-optimize-sibling-calls -o uses uses.cc
        "$MEMLAG" record $LOADS --period 97 --force -o uses.db -- ./uses >record.out
        python <<'END_PYTHON'
marked = {line.split("// ")[1].strip(): number for number, line in enumerate(open("uses.cc"), 1)
          if "// " in line}
db = sqlite3.connect("uses.db")


def caller(condition):
    """What led to the hottest such line, and to how much of it."""
    return db.execute(f"""SELECT caller_function, caller_file, caller_line, caller_share
        FROM line_view WHERE {condition} ORDER BY latency_share DESC LIMIT 1""").fetchone()


for condition, name, least, most in (
        ("file LIKE '%/stl_list.h' AND function LIKE '%operator++%'", "often", 0.72, 0.78),
        ("module LIKE '%/libc.so%' AND caller_function LIKE 'copy%'", "copy", 1, 1)):
    function, file, line, share = caller(condition) or (None, "", 0, 0)
    assert function and function.split("(")[0] == name and file.endswith("/uses.cc"), (name, function, file)
    assert line == marked[name] and least <= share <= most, (name, line, share)
inlined = caller("file LIKE '%/pick.h'")
by_function = db.execute("""SELECT caller_function, caller_file, caller_share
    FROM function_finding WHERE function LIKE '%operator++%' ORDER BY latency_share DESC""").fetchone()
assert by_function[0].split("(")[0] == "often" and by_function[1].endswith("/uses.cc"), by_function
assert 0.72 <= by_function[2] <= 0.78, by_function
# A function or line of the program itself is from no other.
assert db.execute("SELECT count(caller_file) FROM function_finding"
                  " WHERE function LIKE 'often%' OR function LIKE 'own%'").fetchone() == (0,)
assert inlined[2:] == (marked["own"], 1.0), inlined
uses = caller("file LIKE '%/uses.cc'")
assert not uses or uses[0] is None, uses
END_PYTHON
        "$MEMLAG" report -v uses.db >uses.txt
        says "::operator++, 7[2-8]% from often at uses.cc:[0-9]*\$" uses.txt
        "$MEMLAG" report -v --by function uses.db >uses.txt
        says "::operator++, 7[2-8]% from often at uses.cc\$" uses.txt
        grep -q '^from: the function' uses.txt || fail "that table does not say what 'from' is"
        "$MEMLAG" report -v uses.db >uses.txt
        grep -q '^>.* // often$\|^ *> .* // often$' uses.txt || fail "no source text of the caller"
        # Stalled time counts if samples have it: of the list only the part that is walked seldom.
        sqlite3 uses.db "
                WITH RECURSIVE of AS (
                        SELECT stack_id FROM stack JOIN stack_location USING (stack_id)
                        WHERE location_id IN (
                                SELECT location_id FROM code_location JOIN name
                                        ON name_id = function_id WHERE text LIKE 'seldom%'
                                UNION SELECT location_id FROM code_frame JOIN name
                                        ON name_id = function_id WHERE text LIKE 'seldom%')
                        UNION SELECT stack.stack_id FROM of JOIN stack ON parent_id = of.stack_id)
                UPDATE sample SET retire_latency_cycles =
                        iif(stack_id IN (SELECT stack_id FROM of), 100, 0)"
        "$MEMLAG" analyze uses.db
        for finding in line function; do
                holds uses.db "1|1.0" "SELECT caller_function LIKE 'seldom%', caller_share
                        FROM ${finding}_finding WHERE function LIKE '%operator++%'
                        ORDER BY latency_share DESC LIMIT 1"
        done
done
grep -q '^from: the line' uses.txt || fail "the table does not say what 'from' is"
# ---- a signal handler: below the function that the kernel makes it return to ----------
cat >signal.c <<'END_C'
static volatile long *table, sum;
static void handler(int number)
{
        for (unsigned long i = 0, x = 1; i < 20000; i++)
                sum += table[(x = x * 6364136223846793005UL + 1) >> 45];
}
__attribute__((noinline)) static void work(void)
{
        for (int i = 0; i < 5; i++)
                kill(getpid(), SIGUSR1);
}
int main(void)
{
        table = malloc((1L << 19) * sizeof(*table));
        for (long i = 0; i < 1L << 19; i += 64)
                table[i] = 1;
        signal(SIGUSR1, handler);
        work();
        return sum == 0;
}
END_C
for link in "" -static; do
        compile $link -o signal signal.c
        record s $LOADS --no-heap --period 97 -- ./signal
        path=$(answer s.db "WITH RECURSIVE up AS (
                SELECT caller_id, parent_id, function, 0 AS n FROM caller_view WHERE function = 'handler'
                UNION ALL SELECT c.caller_id, c.parent_id, c.function, n + 1
                FROM up JOIN caller_view AS c ON c.caller_id = up.parent_id)
                SELECT group_concat(coalesce(function, '?'), ' ') FROM (SELECT * FROM up ORDER BY n LIMIT 4)")
        expect "callers of a handler" "$(echo "$path" | sed 's/__kill/kill/')" "handler __restore_rt kill work"
done
