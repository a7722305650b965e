/* SPDX-License-Identifier: MIT */
/* A function knows only the beginning of its blocks. Its callers give them larger types. Casts
 * without a variable lead to these types. */
struct object { struct object *next; unsigned kind, size; };
struct pair { struct object object; long left, right; };
struct text { struct object object; long hash, bytes; double weight; };
enum { COUNT = 6000 };
static struct object *all;
static volatile long result;
__attribute__((noinline)) static void *make(size_t size, unsigned kind)
{
        struct object *o = malloc(size);
        *o = (struct object){all, kind, size};
        return all = o;
}
__attribute__((noinline)) static struct pair *make_pair(long value)
{
        struct pair *p = make(sizeof *p, 1);
        p->left = p->right = value;
        return p;
}
__attribute__((noinline)) static struct text *make_text(long value)
{
        struct text *t = make(sizeof *t, 2);
        t->hash = t->bytes = value;
        return t;
}
__attribute__((noinline)) static long members(struct object *o)
{
        long sum = 0;
        for (; o; o = o->next)
                sum += o->kind == 1 ? ((struct pair *)o)->right * 3 : ((struct text *)o)->hash * 5;
        return sum;
}
int main(void)
{
        for (int i = 0; i < COUNT; i++) {
                make_pair(i);
                make_text(i);
        }
        for (int i = 0; i < 10; i++)
                result += members(all);
        return 0;
}
