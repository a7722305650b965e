/* SPDX-License-Identifier: MIT */
/* A pointer that may lead elsewhere, or a function with a stored address, writes a pointer in
 * the frame. Or the code chooses one of two pointers of different types. */
struct first { long a0, a1, a2, a3; };
struct second { long b0, b1, b2, b3; };
struct box { long rest[2]; void *item; };
#ifdef __clang__
#define UNCHANGED __attribute__((noinline))
#else
#define UNCHANGED __attribute__((noipa))
#endif
struct two { struct first *one; struct second *other; };
enum { COUNT = 4000 };
static void *firsts[COUNT], *seconds[COUNT];
static volatile long result;
static volatile int yes = 1;
UNCHANGED long by_pointer(struct first *pa, void *pb, struct box *other, int c, int d)
{
        struct box local = {{0, 0}, NULL}, *b = c ? &local : other;
        b->item = pb;
        void *q = pa;
        if (d)
                q = local.item;
        return ((struct second *)q)->b1;
}
UNCHANGED void fill(struct two *two, int i)
{
        *two = (struct two){firsts[i], seconds[i]};
}
UNCHANGED long by_choice(int i, int c)
{
        struct two local;
        fill(&local, i);
        void **at = c ? (void **)&local.other : (void **)&local.one;
        return ((struct second *)*at)->b1;
}
/* Other functions have the address of a variable in the frame. */
static struct box *shared;
UNCHANGED void put(void *item) { shared->item = item; }
UNCHANGED long let_out_call(struct first *pa, void *pb)
{
        struct box local = {{0, 0}, pa};
        shared = &local;
        result += pa->a0;
        put(pb);
        return ((struct second *)local.item)->b1;
}
int main(void)
{
        struct box other;
        for (int i = 0; i < COUNT; i++) {
                int at = i * 7919L % COUNT;
                firsts[at] = malloc(32 + i % 3 * 16);
                seconds[at] = malloc(32 + i % 3 * 16);
                for (int k = 0; k < 4; k++)
                        ((long *)firsts[at])[k] = ((long *)seconds[at])[k] = k;
        }
        for (int round = 0; round < 4; round++)
                for (int i = 0; i < COUNT; i++)
                        result += by_pointer(firsts[i], seconds[i], &other, yes, yes) +
                                  by_choice(i, yes) + let_out_call(firsts[i], seconds[i]);
        return 0;
}
