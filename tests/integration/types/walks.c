/* SPDX-License-Identifier: MIT */
/* Lists and trees whose heads are local variables, or members of structures in the frame.
 * All nodes are taken from chunks of memory that has no type, so that nothing but the
 * pointers of the code tells what is read. */
#include <string.h>

#include "truth.h"

enum { NODES = 2000, ROUNDS = 20, BUCKETS = 64, CHUNK_BYTES = 65536 };

#define READS ONE_FUNCTION static

static volatile long result;
static unsigned seed = 1;
static char *chunk, *chunk_end;

struct node {
        long key;
        struct node *next;
        double weight;
        int flags;
};

struct tree {
        struct tree *left, *right;
        long key;
        short rank;
        long more;
};

struct item {
        int count;
        float part;
        long value;
        struct item *chain;
};

struct queue {
        struct node *head, *tail;
        size_t length;
};

struct table {
        struct item *buckets[BUCKETS];
        long count;
};

static unsigned next_random(void)
{
        seed = seed * 1103515245u + 12345u;
        return seed >> 8;
}

ONE_FUNCTION static void *take(size_t bytes, const char *type)
{
        if (!chunk || chunk + bytes > chunk_end) {
                chunk = malloc(CHUNK_BYTES);
                chunk_end = chunk + CHUNK_BYTES;
        }
        void *taken = chunk;

        chunk += (bytes + 15) / 16 * 16;
        truth_object("heap", "take at ", type, taken, bytes, 1, "*");
        return taken;
}

static struct node *make_node(long key)
{
        struct node *node = take(sizeof(*node), "struct node");

        *node = (struct node){.key = key, .weight = 1.5 * (double)key, .flags = key & 7};
        return node;
}

static struct tree *make_tree(long key)
{
        struct tree *tree = take(sizeof(*tree), "struct tree");

        *tree = (struct tree){.key = key, .rank = (short)(key & 15)};
        return tree;
}

/* ---- lists ---- */

READS long local_head(void)
{
        struct node *head = NULL, *node;
        long sum = 0;

        for (int i = 0; i < NODES; i++) {
                node = make_node(next_random() % 1000);
                node->next = head;
                head = node;
        }
        for (int round = 0; round < ROUNDS; round++)
                for (node = head; node; node = node->next)
                        sum += node->key;
        while (head) {
                node = head->next;
                sum += head->flags;
                head = node;
        }
        return sum;
}

READS long head_by_pointer(void)
{
        struct node *head = NULL, **tail = &head;
        long sum = 0;

        for (int i = 0; i < NODES; i++) {
                *tail = make_node(next_random() % 1000);
                tail = &(*tail)->next;
        }
        for (int round = 0; round < ROUNDS; round++)
                for (struct node *node = head; node; node = node->next)
                        sum += (long)node->weight + node->flags;
        return sum;
}

ONE_FUNCTION static void append(struct queue *queue, struct node *node)
{
        if (queue->tail)
                queue->tail->next = node;
        else
                queue->head = node;
        queue->tail = node;
        queue->length++;
}

READS long head_in_structure(void)
{
        struct queue queue = {0};
        long sum = 0;

        for (int i = 0; i < NODES; i++)
                append(&queue, make_node(i));
        for (int round = 0; round < ROUNDS; round++)
                for (struct node *node = queue.head; node; node = node->next)
                        sum += node->key ^ node->flags;
        return sum;
}

READS long head_in_node(void)
{
        struct node before = {0}, *tail = &before;
        long sum = 0;

        for (int i = 0; i < NODES; i++) {
                tail->next = make_node(next_random() % 1000);
                tail = tail->next;
        }
        for (int round = 0; round < ROUNDS; round++)
                for (struct node *node = before.next; node; node = node->next)
                        sum += node->key;
        for (struct node *node = &before; node->next;)
                if (node->next->flags == 3)
                        node->next = node->next->next;
                else
                        node = node->next;
        for (struct node *node = before.next; node; node = node->next)
                sum += node->flags;
        return sum;
}

ONE_FUNCTION static struct node *reversed(struct node *list)
{
        struct node *done = NULL;

        while (list) {
                struct node *next = list->next;

                list->next = done;
                done = list;
                list = next;
        }
        return done;
}

/* One of two local heads is chosen by its address. */
READS long split_and_merge(void)
{
        struct node *list = NULL, *even, *odd;
        long sum = 0;

        for (int i = 0; i < NODES; i++) {
                struct node *node = make_node(i);

                node->next = list;
                list = node;
        }
        for (int round = 0; round < ROUNDS; round++) {
                even = odd = NULL;
                while (list) {
                        struct node *node = list, **to = node->key & 1 ? &odd : &even;

                        list = node->next;
                        node->next = *to;
                        *to = node;
                }
                struct node **tail = &list;

                while (even && odd) {
                        struct node **from = even->key < odd->key ? &even : &odd;

                        *tail = *from;
                        *from = (*from)->next;
                        tail = &(*tail)->next;
                }
                *tail = even ? even : odd;
                list = reversed(list);
                sum += list->key;
        }
        return sum;
}

READS long local_table(void)
{
        struct table table;
        long sum = 0;

        memset(&table, 0, sizeof(table));
        for (int i = 0; i < NODES; i++) {
                struct item *item = take(sizeof(*item), "struct item");
                unsigned bucket = next_random() % BUCKETS;

                *item = (struct item){i, (float)i, i * 3L, table.buckets[bucket]};
                table.buckets[bucket] = item;
                table.count++;
        }
        for (int round = 0; round < ROUNDS; round++)
                for (int bucket = 0; bucket < BUCKETS; bucket++)
                        for (struct item *item = table.buckets[bucket]; item;
                             item = item->chain)
                                sum += item->value + (long)item->part;
        return sum;
}

/* ---- trees ---- */

READS long local_root(void)
{
        struct tree *root = NULL;
        long sum = 0;

        for (int i = 0; i < NODES; i++) {
                struct tree **at = &root;
                long key = next_random() % 100000;

                while (*at)
                        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
                *at = make_tree(key);
        }
        for (int i = 0; i < 4 * NODES; i++) {
                struct tree *tree = root;
                long key = next_random() % 100000;

                while (tree && tree->key != key)
                        tree = key < tree->key ? tree->left : tree->right;
                if (tree)
                        sum += tree->rank;
        }
        return sum;
}

READS long local_stack(struct tree *root)
{
        struct tree *stack[128];
        int depth = 0;
        long sum = 0;

        stack[depth++] = root;
        while (depth > 0) {
                struct tree *tree = stack[--depth];

                sum += tree->key + tree->rank;
                if (tree->left)
                        stack[depth++] = tree->left;
                if (tree->right)
                        stack[depth++] = tree->right;
        }
        return sum;
}

static struct tree *balanced(long from, long to)
{
        if (from >= to)
                return NULL;
        long middle = (from + to) / 2;
        struct tree *tree = make_tree(middle);

        tree->left = balanced(from, middle);
        tree->right = balanced(middle + 1, to);
        return tree;
}

static void tell_fields(void)
{
        TRUTH_FIELD(node, key);
        TRUTH_FIELD(node, next);
        TRUTH_FIELD(node, weight);
        TRUTH_FIELD(node, flags);
        TRUTH_FIELD(tree, left);
        TRUTH_FIELD(tree, right);
        TRUTH_FIELD(tree, key);
        TRUTH_FIELD(tree, rank);
        TRUTH_FIELD(tree, more);
        TRUTH_FIELD(item, count);
        TRUTH_FIELD(item, part);
        TRUTH_FIELD(item, value);
        TRUTH_FIELD(item, chain);
}

int main(void)
{
        truth_open();
        tell_fields();
        result += local_head() + head_by_pointer() + head_in_structure() + head_in_node();
        result += split_and_merge() + local_table() + local_root();
        struct tree *root = balanced(0, NODES);

        for (int round = 0; round < ROUNDS; round++)
                result += local_stack(root);
        truth_close();
        return 0;
}
