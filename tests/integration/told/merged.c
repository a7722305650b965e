/* SPDX-License-Identifier: MIT */
/* Compilers merge two branches' allocations of one size into one call. Its result has different
 * types on the two paths, or only one path shows a type. The type of the blocks is then
 * unknown, also for a read by a pointer to a number. With INLINED the branches are in main.
 * With UNTOLD one has only a pointer to void. In C++ the other branch's variable has no
 * location in the code that leads to the call. */
struct head { long kind, id; };
struct width { struct head head; long width; double pad; };
struct ticks { struct head head; long ticks; double pad; };
enum { COUNT = 3000 };
static struct head *all[COUNT]; /* in turns struct ticks and struct width */
static long *plain[COUNT];
static volatile long step, result;
#define ALONE __attribute__((noinline)) static
#define READS(name, from, of) \
        ALONE void name(void) \
        { \
                long sum = 0; \
                for (int i = from; i < COUNT; i += 2) \
                        sum += of; \
                result = result + sum; \
        }
READS(read_ticks, 0, plain[i][2] * 5)
READS(read_widths, 1, plain[i][2] * 7)
READS(read_heads, 0, all[i]->id * 3)
#ifdef __cplusplus
#define NEW(type) new type
#else
#define NEW(type) malloc(sizeof(struct type))
#endif
#ifdef INLINED
#define HEAD(d, kind) d->head = (struct head){kind, i}
static inline __attribute__((always_inline))
#else
#define HEAD(d, kind)
ALONE
#endif
void *make(int i)
{
        if (i & 1) {
                struct width *d = NEW(width);
                d->width = i;
                HEAD(d, 1);
                return d;
        }
#ifdef UNTOLD
        void *d = malloc(sizeof(struct ticks));
        ((long *)d)[2] = i;
#else
        struct ticks *d = NEW(ticks);
        d->ticks = i;
        HEAD(d, 2);
#endif
        return d;
}
int main(void)
{
        for (int i = 0; i < COUNT; i++) {
                void *block = make(i);
                all[i] = (struct head *)block;
                plain[i] = (long *)block;
        }
        for (int i = 0; i < 20; i++) {
                read_ticks();
                read_widths();
                read_heads();
        }
}
