/* SPDX-License-Identifier: MIT */
/* Memory that an inlined function reads behind a base need not be the caller's structure. */
struct base { long kind, flags; };
struct one { struct base base; long x, y, rest[4]; };
struct other { struct base base; long u, v, w, rest[3]; };
static inline __attribute__((always_inline)) long w_of(const struct base *b)
{
        return ((const struct other *)b)->w;
}
__attribute__((noinline)) long inside(const struct base *b)
{
        const struct one *a = (const struct one *)b;
        long result = w_of(b);
        if (b->kind == 1)
                result += a->y;
        return result;
}
int main(void)
{
        enum { ALL = 4000 };
        static void *all[ALL];
        char *pool = malloc(ALL * 64L);
        long two = 2, sum = 0;
        for (long i = 0; i < ALL; i++)
                memcpy(all[i] = pool + (i * 793 % ALL) * 64, &two, sizeof(two));
        for (int pass = 0; pass < 30; pass++)
                for (long i = 0; i < ALL; i++)
                        sum += inside(all[i]);
        return sum == 1;
}
