#!/bin/sh
# SPDX-License-Identifier: MIT
# Blocks that C++'s library asked for are items of one type, from end to end, though nothing
# reads more than the first by a pointer to that type: by pointers to a member, cast without
# a variable, and from behind. And members of an array in an object, in a loop that a compiler
# has unrolled, where the debug information has a pointer to the array's end.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >items.cc <<'END'
#include <cstddef>
#include <memory>
#include <vector>
struct link { link *next; };
struct task { long key; link ready; long weight; int state, prio; };
struct sale { long item; short shop; double amount; };
struct node { double x, weight; std::unique_ptr<node> kids[8]; };
enum { COUNT = 4000 };
static volatile double result;
/* What lies around a link, with no variable that says so. */
__attribute__((noinline)) static long tasks(link *head)
{
        long sum = 0;
        for (link *l = head; l; l = l->next)
                sum += reinterpret_cast<task *>(reinterpret_cast<char *>(l) -
                                                offsetof(task, ready))->weight;
        return sum;
}
__attribute__((noinline)) static double sales(const std::unique_ptr<sale[]> &all)
{
        double sum = 0;
        for (int i = 0; i < COUNT; i++)
                sum += all[i].amount - all[i].shop;
        return sum;
}
__attribute__((noinline)) static double nodes(const node *n)
{
        double sum = n->weight;
        for (const auto &kid : n->kids)
                if (kid)
                        sum += nodes(kid.get());
        return sum;
}
/* Collects all, in code that is inlined. */
__attribute__((noinline)) static double collected(node *root)
{
        std::vector<node *> all{root};
        for (size_t i = 0; i < all.size(); i++)
                for (auto &kid : all[i]->kids)
                        if (kid)
                                all.push_back(kid.get());
        return all.size();
}
__attribute__((noinline)) static std::unique_ptr<node> make_node(int depth)
{
        auto made = std::make_unique<node>();
        made->weight = depth;
        for (int i = 0; depth && i < 8; i += 1 + (depth & 1))
                made->kids[i] = make_node(depth - 1);
        return made;
}
__attribute__((noinline)) static std::vector<task> make_tasks()
{
        return std::vector<task>(COUNT);
}
__attribute__((noinline)) static std::unique_ptr<sale[]> make_sales()
{
        return std::make_unique<sale[]>(COUNT);
}
int main()
{
        auto all = make_tasks();
        link *head = nullptr;
        for (int i = 0; i < COUNT; i++) {
                link *l = &all[i * 7919L % COUNT].ready;
                l->next = head;
                head = l;
        }
        auto sold = make_sales();
        auto root = make_node(4);
        for (int i = 0; i < 10; i++)
                result = result + tasks(head) + sales(sold) + nodes(root.get()) +
                         collected(root.get());
        return 0;
}
END

# check NAME COMPILER [OPTION...]: every read is of the field that the source names.
check()
{
        name=$1 compiler=$2
        shift 2
        "$compiler" -g -std=c++17 "$@" -o "$name" items.cc
        record "$name" $LOADS --ldlat 1 --period 37 -- "./$name"
        said=$(sqlite3 -readonly "$name.db" "
                WITH read (stack, said) AS (SELECT CASE
                        WHEN object LIKE 'make_tasks at%' THEN 'tasks'
                        WHEN object LIKE 'make_sales at%' THEN 'sales'
                        WHEN object LIKE 'make_node at%' THEN 'nodes' END,
                        coalesce(type || '.' || substr(field || '._', 1, instr(replace(field,
                                '[', '.') || '._', '.') - 1), 'open')
                        FROM sample_view WHERE object_kind = 'heap' AND op = 'load'
                        AND (function = 'tasks' OR object NOT LIKE 'make_tasks at%'))
                SELECT stack, said, count(*) > 30 FROM read WHERE stack IS NOT NULL
                GROUP BY 1, 2")
        [ "$said" = "nodes|node.kids|1
nodes|node.weight|1
sales|sale.amount|1
sales|sale.shop|1
tasks|task.ready|1
tasks|task.weight|1" ] || fail "$name: the items are said to be $said"
}

check gcc g++ -O2
if command -v clang++ >/dev/null; then
        check clang clang++ -O2
        check clang_unrolled clang++ -O3
                if find_libcxx; then
                # shellcheck disable=SC2086 # a list of options
                check libcxx clang++ -O2 $libcxx
        fi
else
        echo "library_items.sh: SKIPPED with clang: it is not installed" >&2
fi
