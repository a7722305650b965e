/* SPDX-License-Identifier: MIT */
/* Memory of one known type that also contains another: headers before objects, structures
 * and arrays behind each other in one block. Also functions and allocations that are
 * equal for two types, so compilers merge them. */
#include "truth.h"

enum { ITEMS = 2000, ROUNDS = 4 };

#define READS __attribute__((noinline)) static

static volatile double result;

/* ---- arrays behind each other ---- */

READS double add_arrays(char *block, int items)
{
        double *real = (double *)block;
        long *wide = (long *)(real + items);
        float *half = (float *)(wide + items);
        int *narrow = (int *)(half + items);
        double sum = 0;

        for (int i = 0; i < items; i++)
                sum += real[i];
        for (int i = 0; i < items; i++)
                sum += wide[i];
        for (int i = 0; i < items; i++)
                sum += half[i];
        for (int i = 0; i < items; i++)
                sum += narrow[i];
        return sum;
}

ONE_FUNCTION char *make_arrays(void)
{
        char *block = calloc(ITEMS, 24);

        TRUTH_ITEMS("make_arrays", double, block, ITEMS);
        TRUTH_ITEMS("make_arrays", long, block + ITEMS * 8, ITEMS);
        TRUTH_ITEMS("make_arrays", float, block + ITEMS * 16, ITEMS);
        TRUTH_ITEMS("make_arrays", int, block + ITEMS * 20, ITEMS);
        return block;
}

/* ---- a header, and one structure behind another ---- */

struct head {
        int length;
        int flags;
        long capacity;
};

struct object {
        long live;
        double value;
};

READS long add_objects(struct object **objects)
{
        long sum = 0;

        for (int i = 0; i < ITEMS; i++) {
                struct head *head = (struct head *)objects[i] - 1;

                sum += head->length;
                sum += head->capacity;
                sum += objects[i]->live;
        }
        return sum;
}

ONE_FUNCTION struct object **make_objects(void)
{
        struct object **objects = malloc(ITEMS * sizeof(*objects));

        for (int i = 0; i < ITEMS; i++) {
                struct head *head = calloc(1, sizeof(*head) + sizeof(struct object));

                head->length = i;
                objects[i] = (struct object *)(head + 1);
                TRUTH_ITEMS("make_objects", struct head, head, 1);
                TRUTH_ITEMS("make_objects", struct object, head + 1, 1);
        }
        return objects;
}

/* The same with numbers of one kind and size. The place that stores the pointer to the
 * object shows that the allocation's type is only the header's. */
struct tag {
        long uses;
        long bytes;
};

struct item {
        long key;
        long value;
};

READS long add_items(struct item **items)
{
        long sum = 0;

        for (int i = 0; i < ITEMS; i++) {
                struct tag *tag = (struct tag *)items[i] - 1;

                sum += tag->uses;
                sum += items[i]->key;
        }
        return sum;
}

ONE_FUNCTION struct item **make_items(void)
{
        struct item **items = malloc(ITEMS * sizeof(*items));

        for (int i = 0; i < ITEMS; i++) {
                struct tag *tag = calloc(1, sizeof(*tag) + sizeof(struct item));

                tag->uses = 1;
                items[i] = (struct item *)(tag + 1);
                TRUTH_ITEMS("make_items", struct tag, tag, 1);
                TRUTH_ITEMS("make_items", struct item, tag + 1, 1);
        }
        return items;
}

/* ---- merged allocations ---- */

struct base {
        int kind;
        struct base *next;
};

struct real {
        struct base base;
        double real;
        long number;
};

struct whole {
        struct base base;
        long whole;
        double number;
};

READS double add_list(struct base *base)
{
        double sum = 0;

        for (; base; base = base->next) {
                if (base->kind == 1)
                        sum += ((struct real *)base)->real;
                else
                        sum += ((struct whole *)base)->whole;
        }
        return sum;
}

ONE_FUNCTION struct base *make_list(void)
{
        struct base *list = NULL;

        for (unsigned i = 0; i < ITEMS; i++) {
                const char *type = "struct whole";

                if (i * 2654435761u >> 31) {
                        struct real *real = malloc(sizeof(*real));

                        real->base.kind = 1;
                        real->base.next = list;
                        real->real = i;
                        list = &real->base;
                        type = "struct real";
                } else {
                        struct whole *whole = malloc(sizeof(*whole));

                        whole->base.kind = 2;
                        whole->base.next = list;
                        whole->whole = i;
                        list = &whole->base;
                }
                /* Of a merged call no line is known. */
                truth_object("heap", "make_list ", type, list, 32, 1, "*");
        }
        return list;
}

/* ---- merged functions ---- */

struct left {
        struct left *next;
        long left;
};

struct right {
        struct right *after;
        long right;
};

ADDS(long, walk_left, (const struct left *at), (; at; at = at->next), at->left)

ADDS(long, walk_right, (const struct right *at), (; at; at = at->after), at->right)

ONE_FUNCTION struct left *make_left(void)
{
        struct left *left = calloc(ITEMS, sizeof(*left));

        for (int i = 0; i + 1 < ITEMS; i++)
                left[i].next = &left[i + 1];
        TRUTH_HEAP("make_left", "struct left", left, ITEMS);
        return left;
}

ONE_FUNCTION struct right *make_right(void)
{
        struct right *right = calloc(ITEMS, sizeof(*right));

        for (int i = 0; i + 1 < ITEMS; i++)
                right[i].after = &right[i + 1];
        TRUTH_HEAP("make_right", "struct right", right, ITEMS);
        return right;
}

static void write_fields(void)
{
        TRUTH_FIELDS(head, length, flags, capacity);
        TRUTH_FIELDS(object, live, value);
        TRUTH_FIELDS(tag, uses, bytes);
        TRUTH_FIELDS(item, key, value);
        /* A read through a pointer to the base belongs to the base, too. */
        TRUTH_INNER(real, base, base, kind), TRUTH_INNER(real, base, base, next);
        TRUTH_INNER(whole, base, base, kind), TRUTH_INNER(whole, base, base, next);
        TRUTH_FIELDS(real, real, number);
        TRUTH_FIELDS(whole, whole, number);
        TRUTH_FIELDS(left, next, left);
        TRUTH_FIELDS(right, after, right);
}

int main(void)
{
        truth_open();
        write_fields();

        char *arrays = make_arrays();
        struct object **objects = make_objects();
        struct item **items = make_items();
        struct base *list = make_list();
        struct left *left = make_left();
        struct right *right = make_right();

        truth_close();
        for (int i = 0; i < ROUNDS; i++) {
                result += add_arrays(arrays, ITEMS);
                result += (double)add_objects(objects);
                result += (double)add_items(items);
                result += add_list(list);
                result += (double)(walk_left(left) + walk_right(right));
        }
        return result == 1;
}
