/* SPDX-License-Identifier: MIT */
/* An inlined function takes the base of a structure, and its debug information names the
 * register further on. Memory behind the base still belongs to the structure. */
struct base { long count; void *type; long size; };
struct list { struct base base; long **items; long allocated; };
static inline __attribute__((always_inline)) long size_of(struct base *b)
{
        struct base *same = (struct base *)b;
        return same->size;
}
typedef int visit(long *, void *);
__attribute__((noinline)) int first(long *p, void *q) { *(long *)q += *p; return 0; }
__attribute__((noinline)) int second(long *p, void *q) { *(long *)q -= *p; return 0; }
__attribute__((noinline)) int derived(struct list *list, visit *visit, void *arg)
{
        for (long i = size_of((struct base *)list); --i >= 0;)
                if (list->items[i]) {
                        int result = visit == first ? first(list->items[i], arg)
                                                    : visit(list->items[i], arg);
                        if (result)
                                return result;
                }
        return 0;
}
int main(void)
{
        enum { LISTS = 4000 };
        static struct list *all[LISTS];
        char *pool = malloc(LISTS * 64L);
        long number = 1, sum = 0;
        for (long i = 0; i < LISTS; i++) {
                all[i] = (struct list *)(pool + (i * 793 % LISTS) * 64);
                all[i]->base.size = 2;
                all[i]->items = malloc(2 * sizeof(*all[i]->items));
                all[i]->items[0] = all[i]->items[1] = &number;
        }
        for (int pass = 0; pass < 30; pass++)
                for (long i = 0; i < LISTS; i++)
                        derived(all[i], pass & 1 ? first : second, &sum);
        return sum == 1;
}
