/* SPDX-License-Identifier: MIT */
/* Blocks that C++'s library asked for contain items of one type, from end to end, although only
 * the first is read by a pointer to that type. And an unrolled loop reads members of an array
 * in an object. The debug information has a pointer to the array's end. */
#include <cstddef>
#include <memory>
#include <vector>
struct link { link *next; };
struct task { long key; link ready; long weight; int state, prio; };
struct sale { long item; short shop; double amount; };
struct node { double x, weight; std::unique_ptr<node> kids[8]; };
enum { COUNT = 4000 };
static volatile double result;
/* Reads the object around a link, without a variable for it. */
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
