/* SPDX-License-Identifier: MIT */
/* Two variables of one block cast one pointer to two structures: a read may be of either. The
 * header before it has a certain type. So has the target of a variable of an inner block, or of
 * a pointer plus a constant. */
#define READS __attribute__((noinline)) static
struct frame { long kind, bytes; };
struct packet { long from, to; int hops, mark; };
struct query { int op, flags; long sender; double when; };
struct list { long count; int kind, flags; };
struct wide { long first, second; double weight; };
enum { COUNT = 4000, ITEMS = 3000 };
static struct frame *frames[COUNT];
static struct list *volatile list;
static volatile double result;
READS double behind(struct frame *f)
{
        struct packet *p = (struct packet *)(f + 1);
        struct query *q = (struct query *)(f + 1);
        if (f->kind)
                return (double)p->to * 2;
        return q->when + q->op;
}
READS double at_once(char *bytes, long kind)
{
        struct packet *p = (struct packet *)bytes;
        struct query *q = (struct query *)bytes;
        return kind ? (double)(p->from + p->hops) : q->when + (double)q->sender;
}
READS double in_blocks(struct frame *f)
{
        switch (f->kind) {
        case 1: {
                struct packet *p = (struct packet *)(f + 1);
                return p->to + p->hops;
        }
        case 0: {
                struct query *q = (struct query *)(f + 1);
                return q->when * q->flags;
        }
        }
        return 0;
}
READS double items(struct list *l)
{
        struct wide *items = (struct wide *)(l + 1);
        double sum = 0;
        for (long i = 0; i < l->count; i++)
                sum += items[i].weight * items[i].first;
        return sum;
}
int main(void)
{
        struct list *all = calloc(1, sizeof *all + ITEMS * sizeof(struct wide));
        all->count = ITEMS;
        list = all;
        for (int i = 0; i < COUNT; i++) {
                frames[i] = calloc(1, sizeof(struct frame) + 24);
                frames[i]->kind = i & 1;
        }
        for (int round = 0; round < 12; round++) {
                for (int i = 0; i < COUNT; i++) {
                        struct frame *f = frames[i * 7L % COUNT];
                        result += behind(f) + in_blocks(f) + at_once((char *)(f + 1), f->kind);
                }
                result += items(list);
        }
        return 0;
}
