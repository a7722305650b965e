/* SPDX-License-Identifier: MIT */
/* Reads objects of every kind, in the ways of C programs. The results of the reads are
 * known by construction; truth.h writes them down. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "truth.h"

#define COUNT    512
#define ROUNDS   16
#define NOINLINE __attribute__((noinline))

static volatile uint64_t result;
static uint32_t random_state = 1;

static uint32_t next_random(void)
{
        random_state = random_state * 1664525u + 1013904223u;
        return random_state >> 8;
}

/* ---- globals and statics ---- */

struct point {
        int x;
        int y;
        double weight;
};

struct point points[COUNT];
static double numbers[COUNT];
static struct {
        long first;
        short second[12];
        struct point corner;
} single;
static uint32_t order[COUNT];

ADDS(double, sum_points, (void), (int i = 0; i < COUNT; i++),
     points[i].x *points[order[i]].weight)

ADDS(double, sum_numbers, (void), (int i = 0; i < COUNT; i++), numbers[i])

NOINLINE static long read_single(unsigned at)
{
        return single.first + single.second[at % 12] + single.corner.y;
}

NOINLINE static int count_calls(unsigned at)
{
        static int calls[64];

        return calls[at % 64]++;
}

/* ---- lists, trees and tables in the heap ---- */

struct node {
        struct node *next;
        long key;
        struct point where;
};

static struct node *nodes[COUNT];

NOINLINE static struct node *make_node(long key)
{
        struct node *node = malloc(sizeof(*node));

        node->key = key;
        node->where = (struct point){(int)key, (int)-key, 1.0 / (1 + key)};
        node->next = NULL;
        return node;
}

NOINLINE static long walk_list(const struct node *list)
{
        long sum = 0;

        for (const struct node *node = list; node; node = node->next)
                if (node->key & 1)
                        sum += node->where.x;
        return sum;
}

ADDS(double, visit_nodes, (void), (int i = 0; i < COUNT; i++), nodes[i]->where.weight)

enum shape { LEAF, BRANCH, WIDE };

struct tree {
        enum shape shape;
        union {
                struct {
                        float depth;
                        int16_t tag;
                } leaf;
                struct tree *sons[2];
                struct {
                        uint64_t bits;
                        double ratio;
                } wide;
        } as;
        unsigned visits : 7;
        unsigned colour : 3;
        unsigned rank : 22;
        uint8_t marks[4];
};

static struct tree *make_tree(int depth)
{
        struct tree *tree = calloc(1, sizeof(*tree));

        tree->shape = depth == 0 ? (next_random() & 1 ? LEAF : WIDE) : BRANCH;
        tree->rank = (unsigned)depth;
        tree->marks[2] = (uint8_t)depth;
        if (tree->shape == LEAF)
                tree->as.leaf.tag = 5;
        else if (tree->shape == WIDE)
                tree->as.wide.ratio = 2;
        else
                for (int i = 0; i < 2; i++)
                        tree->as.sons[i] = make_tree(depth - 1);
        return tree;
}

NOINLINE static double walk_tree(const struct tree *tree)
{
        switch (tree->shape) {
        case LEAF:
                return tree->as.leaf.depth + tree->as.leaf.tag;
        case WIDE:
                return tree->as.wide.ratio;
        default:
                return walk_tree(tree->as.sons[0]) + walk_tree(tree->as.sons[1]) +
                       tree->marks[2];
        }
}

ADDS(unsigned, sum_ranks, (struct tree *const *trees, int count),
     (int i = 0; i < count; i++), trees[i]->rank + trees[i]->colour)

struct cell {
        uint64_t stamp;
        struct inner {
                int16_t low;
                struct {
                        int32_t u;
                        int32_t v;
                } pair[3];
        } part[4];
        float *values;
};

NOINLINE static struct cell *make_cells(size_t count)
{
        struct cell *cells = calloc(count, sizeof(*cells));

        for (size_t i = 0; i < count; i++)
                cells[i].values = calloc(32, sizeof(float));
        return cells;
}

NOINLINE static float sum_cells(const struct cell *cells, size_t count)
{
        float sum = 0;

        for (size_t i = 0; i < count; i++) {
                sum += (float)cells[i].stamp;
                for (int j = 0; j < 4; j++)
                        sum += (float)cells[i].part[j].pair[i % 3].v;
        }
        return sum;
}

NOINLINE static float sum_values(const struct cell *cells, size_t count)
{
        float sum = 0;

        for (size_t i = 0; i < count; i++)
                for (int j = 0; j < 32; j++)
                        sum += cells[i].values[j];
        return sum;
}

/* ---- blocks that grow, end and come again; wrappers ---- */

NOINLINE static void *xmalloc(size_t bytes)
{
        void *block = malloc(bytes);

        if (!block)
                abort();
        return block;
}

/* A list with short cuts: its search has the level's number, plus one, for an index. */
enum { TOWERS = 256, LEVELS = 6 };

struct tower {
        long key;
        double weight;
        struct tower *back;
        struct level {
                struct tower *forward;
                unsigned long span;
        } level[];
};

NOINLINE static struct tower *make_tower(long key, int levels)
{
        struct tower *tower =
            xmalloc(sizeof(*tower) + (size_t)levels * sizeof(*tower->level));

        memset(tower->level, 0, (size_t)levels * sizeof(*tower->level));
        tower->key = key;
        tower->weight = (double)key;
        return tower;
}

enum { SHELF = 24 };

/* Only a pointer to its first member leads to the items. */
struct counted {
        int count;
};

struct shelf {
        struct counted counted;
        int used;
        struct {
                double price;
                long sold;
                const char *label;
        } goods[];
};

struct handle {
        long kind;
        struct counted *counted;
};

static struct shelf *shelf_of(struct handle handle)
{
        return handle.kind == 1 ? (struct shelf *)handle.counted : NULL;
}

NOINLINE static struct handle make_shelf(int goods)
{
        struct shelf *shelf =
            xmalloc(sizeof(*shelf) + (size_t)goods * sizeof(*shelf->goods));

        shelf->counted.count = 1;
        shelf->used = goods;
        for (int i = 0; i < goods; i++) {
                shelf->goods[i].price = i;
                shelf->goods[i].sold = i & 1;
                shelf->goods[i].label = "";
        }
        return (struct handle){1, &shelf->counted};
}

NOINLINE static double take_stock(struct handle handle)
{
        double value = 0;

        handle.counted->count++;
        for (int i = 0; i < shelf_of(handle)->used; i++)
                if (shelf_of(handle)->goods[i].label)
                        value += shelf_of(handle)->goods[i].price *
                                 (double)shelf_of(handle)->goods[i].sold;
        return value;
}

NOINLINE static unsigned long search_towers(const struct tower *tower, double weight)
{
        unsigned long rank[LEVELS] = {0};

        for (int i = LEVELS - 1; i >= 0; i--) {
                rank[i] = i == LEVELS - 1 ? 0 : rank[i + 1];
                while (tower->level[i].forward &&
                       (tower->level[i].forward->weight < weight ||
                        (tower->level[i].forward->weight == weight &&
                         tower->level[i].forward->key < 0))) {
                        rank[i] += tower->level[i].span;
                        tower = tower->level[i].forward;
                }
        }
        return rank[0];
}

/* A tree whose sons are counted from one; no pointer precedes them. */
struct branch {
        long key;
        struct branch *sons[4];
        long sum;
};

NOINLINE static struct branch *make_branch(int depth)
{
        struct branch *branch = calloc(1, sizeof(*branch));

        branch->key = (long)next_random();
        for (int i = 0; depth > 0 && i < 4; i++)
                branch->sons[i] = make_branch(depth - 1);
        return branch;
}

NOINLINE static long descend(const struct branch *branch, unsigned path)
{
        long sum = 0;

        for (; branch; path >>= 2) {
                sum += branch->key ^ branch->sum;
                branch = branch->sons[path & 3];
        }
        return sum;
}

NOINLINE static long descend_from_one(const struct branch *branch, const long *path)
{
        long sum = 0;

        for (; branch; path++) {
                sum += branch->key;
                branch = branch->sons[*path - 1];
        }
        return sum;
}

struct before {
        double first;
        long second;
        char rest[48];
};

struct after {
        long alpha;
        double beta;
        char omega[48];
};

NOINLINE static struct before *make_before(size_t count)
{
        struct before *items = calloc(count, sizeof(*items));

        items[0] = (struct before){1}; /* so that the call is no jump */
        return items;
}

NOINLINE static struct after *make_after(size_t count)
{
        struct after *items = calloc(count, sizeof(*items));

        items[0] = (struct after){1}; /* so that the call is no jump */
        return items;
}

ADDS(double, sum_before, (const struct before *items, int count),
     (int i = 0; i < count; i++), items[i].first)

ADDS(double, sum_after, (const struct after *items, int count),
     (int i = 0; i < count; i++), items[i].beta)

NOINLINE static struct point *grow_points(size_t count)
{
        struct point *grown = NULL;

        for (size_t n = 16; n <= count; n *= 2) {
                grown = realloc(grown, n * sizeof(*grown));
                memset(grown + n / 2, 1, n / 2 * sizeof(*grown));
        }
        return grown;
}

ADDS(long, sum_grown, (const struct point *grown, int count), (int i = 0; i < count; i++),
     grown[order[i]].y)

/* ---- stack ---- */

ADDS(long, sum_borrowed, (const struct point *borrowed, int count),
     (int i = 0; i < count; i++), borrowed[i].x)

NOINLINE static long use_stack(unsigned seed)
{
        struct point local[32];
        unsigned char counts[64] = {0};
        long sum = 0;

        truth_object("stack", "use_stack::local", "struct point", local, sizeof(*local),
                     32, "use_stack,sum_borrowed");
        truth_object("stack", "use_stack::counts", "unsigned char", counts, 1, 64,
                     "use_stack");
        for (int i = 0; i < 32; i++)
                local[i] = (struct point){i, (int)seed, 0.5};
        for (int round = 0; round < ROUNDS * 4; round++) {
                for (int i = 0; i < 64; i++)
                        counts[(seed * (unsigned)i) % 64]++;
                for (int i = 0; i < 32; i++)
                        sum += local[(seed + (unsigned)i * 7) % 32].y + counts[i];
                sum += sum_borrowed(local, 32);
        }
        return sum;
}

/* ---- threads ---- */

struct own {
        long total;
        long hits[16];
};

static __thread struct own mine;
static __thread int recent[32];

NOINLINE static long use_own(unsigned at)
{
        mine.total += recent[at % 32];
        return mine.hits[at % 16] += at;
}

/* ---- mappings ---- */

NOINLINE static void *map_memory(size_t bytes)
{
        void *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
                exit(3);
        return memory;
}

ADDS(double, sum_mapped, (const struct point *mapped, size_t count),
     (size_t i = 0; i < count; i++), mapped[i].weight)

ADDS(uint32_t, sum_file, (const uint32_t *words, size_t count),
     (size_t i = 0; i < count; i++), words[i] ^ (uint32_t)i)

static const char *file_name;

static const uint32_t *map_file(void)
{
        int fd = open(file_name, O_RDONLY);
        void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

        if (fd < 0 || memory == MAP_FAILED)
                exit(3);
        close(fd);
        return memory;
}

/* ---- the truth ---- */

static void say_fields(void)
{
        TRUTH_FIELDS(point, x, y, weight);
        TRUTH_FIELDS(node, next, key);
        TRUTH_INNER(node, where, point, x);
        TRUTH_INNER(node, where, point, y);
        TRUTH_INNER(node, where, point, weight);
        TRUTH_FIELDS(tree, shape);
        /* The functions' use shows the member: see main. */
        truth_field("struct tree", "as.leaf.depth", offsetof(struct tree, as.leaf.depth),
                    4, "struct~tree:as.sons[] struct~tree:as.wide.bits");
        truth_field("struct tree", "as.leaf.tag", offsetof(struct tree, as.leaf.tag), 2,
                    "");
        truth_field("struct tree", "as.wide.ratio", offsetof(struct tree, as.wide.ratio),
                    8, "struct~tree:as.sons[]");
        truth_field("struct tree", "rank", offsetof(struct tree, marks) - 4, 4,
                    "struct~tree:visits|colour|rank struct~tree:colour|rank "
                    "struct~tree:visits|colour");
        TRUTH_ARRAY(tree, marks);
        TRUTH_FIELDS(cell, stamp);
        for (int i = 0; i < 4; i++) {
                truth_field("struct cell", "part[].low",
                            offsetof(struct cell, part[i].low), 2, "struct~inner:low");
                for (int j = 0; j < 3; j++) {
                        truth_field("struct cell", "part[].pair[].u",
                                    offsetof(struct cell, part[i].pair[j].u), 4,
                                    "struct~inner:pair[].u");
                        truth_field("struct cell", "part[].pair[].v",
                                    offsetof(struct cell, part[i].pair[j].v), 4,
                                    "struct~inner:pair[].v");
                }
        }
        TRUTH_FIELDS(cell, values);
        TRUTH_FIELDS(tower, key, weight, back);
        for (size_t i = 0; i < LEVELS; i++) {
                truth_field("struct tower", "level[].forward",
                            offsetof(struct tower, level[i].forward), 8, "");
                truth_field("struct tower", "level[].span",
                            offsetof(struct tower, level[i].span), 8, "");
        }
        truth_field("struct shelf", "counted.count", 0, sizeof(int),
                    "struct~counted:count");
        TRUTH_FIELDS(shelf, used);
        for (int i = 0; i < SHELF; i++) {
                truth_field("struct shelf", "goods[].price",
                            offsetof(struct shelf, goods[i].price), 8, "");
                truth_field("struct shelf", "goods[].sold",
                            offsetof(struct shelf, goods[i].sold), 8, "");
                truth_field("struct shelf", "goods[].label",
                            offsetof(struct shelf, goods[i].label), 8, "");
        }
        TRUTH_FIELDS(branch, key);
        TRUTH_ARRAY(branch, sons);
        TRUTH_FIELDS(branch, sum);
        TRUTH_FIELDS(before, first, second);
        TRUTH_FIELDS(after, alpha, beta);
        TRUTH_FIELDS(own, total);
        TRUTH_ARRAY(own, hits);
        truth_field("struct {single}", "first", 0, 8, "");
        truth_field("struct {single}", "second[]", 8, 24, "");
        truth_field("struct {single}", "corner.x", 32, 4, "struct~point:x");
        truth_field("struct {single}", "corner.y", 36, 4, "struct~point:y");
        truth_field("struct {single}", "corner.weight", 40, 8, "struct~point:weight");
}

static void say_globals(void)
{
        truth_object("global", "points", "struct point", points, sizeof(*points), COUNT,
                     "*");
        truth_object("global", "numbers", "double", numbers, 8, COUNT, "*");
        truth_object("global", "single", "struct {single}", &single, sizeof(single), 1,
                     "*");
        truth_object("global", "order", "unsigned int", order, 4, COUNT, "*");
        truth_object("global", "nodes", "struct node *", nodes, 8, COUNT, "*");
}

static void say_tree(const struct tree *tree, struct tree **all, int *count)
{
        TRUTH_HEAP("make_tree", "struct tree", tree, 1);
        all[(*count)++] = (struct tree *)tree;
        if (tree->shape == BRANCH)
                for (int i = 0; i < 2; i++)
                        say_tree(tree->as.sons[i], all, count);
}

static void read_globals(void)
{
        for (int i = 0; i < ROUNDS; i++) {
                result += (uint64_t)sum_points() + (uint64_t)sum_numbers();
                for (unsigned j = 0; j < COUNT; j++)
                        result += (uint64_t)(read_single(j) + count_calls(j));
        }
}

static void read_heap(void)
{
        static struct tree *all[4096];
        struct cell *cells = make_cells(64);
        struct tree *tree = make_tree(8);
        int tree_count = 0;

        truth_object("global", "read_heap::all", "struct tree *", all, 8, 4096, "*");
        for (long i = 0; i < COUNT; i++)
                nodes[i] = make_node(i);
        for (int i = 0; i < COUNT; i++)
                TRUTH_HEAP("make_node", "struct node", nodes[i], 1);
        for (int i = COUNT - 1; i > 0; i--) {
                unsigned j = next_random() % (unsigned)(i + 1);
                struct node *other = nodes[j];

                nodes[j] = nodes[i];
                nodes[i] = other;
                nodes[i]->next = i + 1 < COUNT ? nodes[i + 1] : NULL;
        }
        nodes[0]->next = nodes[1];
        say_tree(tree, all, &tree_count);
        TRUTH_HEAP("make_cells", "struct cell", cells, 64);
        for (int i = 0; i < 64; i++)
                TRUTH_ITEMS("make_cells", float, cells[i].values, 32);
        for (int i = 0; i < ROUNDS; i++) {
                result += (uint64_t)(walk_list(nodes[0]) + (long)visit_nodes());
                result += (uint64_t)walk_tree(tree) + sum_ranks(all, tree_count);
                result += (uint64_t)(sum_cells(cells, 64) + sum_values(cells, 64));
        }
}

static void read_blocks(void)
{
        struct point *grown = grow_points(COUNT);
        struct before *before = make_before(64);

        TRUTH_HEAP("grow_points", "struct point", grown, COUNT);
        truth_object("heap", "make_before at ", "struct before", before, sizeof(*before),
                     64, "sum_before");
        for (int i = 0; i < ROUNDS; i++)
                result +=
                    (uint64_t)sum_grown(grown, COUNT) + (uint64_t)sum_before(before, 64);
        free(before);
        struct after *after = make_after(64);

        truth_object("heap", "make_after at ", "struct after", after, sizeof(*after), 64,
                     "sum_after");
        for (int i = 0; i < ROUNDS; i++)
                result += (uint64_t)sum_after(after, 64);
        free(after);
}

static void read_towers(void)
{
        struct tower *first = make_tower(-1, LEVELS), *last[LEVELS];

        truth_object("heap", "make_tower at ", "struct tower", first,
                     sizeof(*first) + LEVELS * sizeof(*first->level), 1, "search_towers");
        for (int i = 0; i < LEVELS; i++)
                last[i] = first;
        for (long key = 0; key < TOWERS; key++) {
                int levels = 1 + __builtin_ctz((unsigned)key | 1 << (LEVELS - 1));
                struct tower *tower = make_tower(key, levels);

                truth_object("heap", "make_tower at ", "struct tower", tower,
                             sizeof(*tower) + (size_t)levels * sizeof(*tower->level), 1,
                             "search_towers");
                for (int i = 0; i < levels; last[i++] = tower) {
                        last[i]->level[i].forward = tower;
                        last[i]->level[i].span = 1ul << i;
                }
        }
        for (int i = 0; i < COUNT; i++)
                result += search_towers(first, next_random() % TOWERS);
}

static void read_shelves(void)
{
        struct handle shelf = make_shelf(SHELF);

        truth_object("heap", "make_shelf at ", "struct shelf", shelf.counted,
                     sizeof(struct shelf) + SHELF * sizeof(*((struct shelf *)0)->goods),
                     1, "take_stock,shelf_of");
        for (unsigned i = 0; i < COUNT; i++)
                result += (uint64_t)take_stock(shelf);
}

static void say_branch(const struct branch *branch)
{
        if (!branch)
                return;
        truth_object("heap", "make_branch at ", "struct branch", branch, sizeof(*branch),
                     1, "descend,descend_from_one");
        for (int i = 0; i < 4; i++)
                say_branch(branch->sons[i]);
}

static void read_branches(void)
{
        const struct branch *top = make_branch(3);
        const long path[] = {2, 4, 1, 3, 3, 1};

        say_branch(top);
        for (unsigned i = 0; i < COUNT; i++)
                result += (uint64_t)(descend(top, next_random()) +
                                     descend_from_one(top, path + i % 3));
}

static void read_mappings(void)
{
        struct point *mapped = map_memory(COUNT * sizeof(*mapped));
        const uint32_t *words = map_file();

        truth_object("mmap", "map_memory at ", "struct point", mapped, sizeof(*mapped),
                     COUNT, "*");
        truth_object("mmap", file_name, "unsigned int", words, 4, 1024, "*");
        for (int i = 0; i < ROUNDS; i++)
                result += (uint64_t)sum_mapped(mapped, COUNT) + sum_file(words, 1024);
}

static void read_own(void)
{
        truth_object("tls", "mine", "struct own", &mine, sizeof(mine), 1, "*");
        truth_object("tls", "recent", "int", recent, 4, 32, "*");
        for (unsigned i = 0; i < COUNT * ROUNDS; i++)
                result += (uint64_t)use_own(i);
}

int main(int argc, char **argv)
{
        if (argc != 2)
                return 3;
        file_name = realpath(argv[1], NULL);
        truth_open();
        say_fields();
        say_globals();
        for (unsigned i = 0; i < COUNT; i++)
                order[i] = i;
        for (unsigned i = COUNT - 1; i > 0; i--) {
                unsigned j = next_random() % (i + 1), other = order[j];

                order[j] = order[i];
                order[i] = other;
        }
        read_globals();
        read_heap();
        read_blocks();
        read_towers();
        read_branches();
        read_shelves();
        result += (uint64_t)use_stack(5);
        read_own();
        read_mappings();
        truth_close();
        return 0;
}
