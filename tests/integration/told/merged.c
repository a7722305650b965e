/* SPDX-License-Identifier: MIT */
/* Compilers make one call of two branches' allocations of one size. What it returns is one
 * type on one way and another on the other, or only one of them says what it has got: nothing
 * is known of the blocks, and what reads them by a pointer of a number's type is open.
 * With INLINED the branches are in main; with UNTOLD one has but a pointer to void; in C++
 * the other branch's variable is nowhere, in code that leads to the call. */
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
