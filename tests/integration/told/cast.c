/* SPDX-License-Identifier: MIT */
/* A pointer of one structure's type is cast to another's. Where no variable holds the
 * result, the machine code has only the first type, and the block was allocated as the second. */
struct link { long tag; struct link *up; };
struct node { long key; struct node *left; long weight, depth; };
struct leaf { long id; struct link *up; long age; };
enum { COUNT = 5000 };
static struct leaf *leaves[COUNT];
static volatile long result;
__attribute__((noinline)) static long named(void)
{
        long sum = 0;
        for (int i = 0; i < COUNT; i++) {
                struct node *node = (struct node *)leaves[i]->up;
                sum += node->key * 3 + node->weight;
        }
        return sum;
}
__attribute__((noinline)) static long unnamed(struct leaf **from, int count)
{
        long sum = 0;
        for (int i = 0; i < count; i++)
                sum ^= ((struct node *)from[i]->up)->key * 5;
        return sum;
}
int main(void)
{
        for (int i = 0; i < COUNT; i++) {
                struct node *node = malloc(sizeof *node);
                *node = (struct node){i, 0, 2, 1};
                struct leaf *leaf = malloc(sizeof *leaf);
                *leaf = (struct leaf){i, (struct link *)node, 3};
                leaves[i * 7919L % COUNT] = leaf;
        }
        for (int i = 0; i < 20; i++)
                result += named() + unnamed(leaves, COUNT);
        return 0;
}
