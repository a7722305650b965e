/* SPDX-License-Identifier: MIT */
/* Blocks that hold several arrays behind each other, or a header before an array.
 * Separate pointers reach the arrays, in loops that compilers unroll. The header's
 * pointer reaches the memory behind the header. */
#include "series.h"

enum { NODES = 1000, EDGES = 3000, UNITS = 1000, ROUNDS = 12 };

static volatile long result;
static volatile unsigned unit_count = UNITS; /* no compiler's constant */

/* ---- arrays behind each other ---- */

struct head {
        unsigned nodes;
        unsigned edges;
};

struct edge {
        unsigned from;
        unsigned to;
        unsigned next;
        unsigned kind;
        float weight;
        unsigned stamp;
};

static struct head *graph;
static double *ranks;
static struct edge *edges;

READS float weigh_all(void)
{
        float sum = 0;

        for (unsigned i = 0; i < graph->edges; i++)
                sum += edges[i].weight * (float)edges[i].kind;
        return sum;
}

READS long add_targets(const struct edge *from, long count)
{
        long sum = 0;

        for (long i = 0; i < count; i++)
                sum += from[i].to;
        return sum;
}

READS double add_ranks(void)
{
        double sum = 0;

        for (unsigned i = 0; i < graph->edges; i++)
                sum += ranks[edges[i].from] * edges[i].weight;
        return sum;
}

ONE_FUNCTION char *get_bytes(size_t bytes)
{
        char *block = malloc(bytes);

        for (size_t i = 0; i < bytes; i++)
                block[i] = 1;
        return block;
}

ONE_FUNCTION void make_graph(void)
{
        char *block =
            get_bytes(sizeof(*graph) + NODES * sizeof(*ranks) + EDGES * sizeof(*edges));

        graph = (struct head *)block;
        ranks = (double *)(block + sizeof(*graph));
        edges = (struct edge *)(block + sizeof(*graph) + NODES * sizeof(*ranks));
        graph->nodes = NODES;
        graph->edges = EDGES;
        for (unsigned i = 0; i < EDGES; i++)
                edges[i] = (struct edge){i * 7 % NODES, i % 3, i, i & 3, (float)i, 0};
        TRUTH_HEAP("get_bytes", "struct head", graph, 1);
        TRUTH_HEAP("get_bytes", "double", ranks, NODES);
        TRUTH_HEAP("get_bytes", "struct edge", edges, EDGES);
}

/* ---- an array at a structure's end, by an offset from the structure's start ---- */

struct number {
        unsigned used;
        unsigned room;
        int sign;
        int owners;
        unsigned long limbs[];
};

READS void xor_limbs(struct number *a, const struct number *b)
{
        unsigned used = a->used < b->used ? a->used : b->used;

        for (unsigned i = 0; i < used; i++)
                a->limbs[i] ^= b->limbs[i];
}

ONE_FUNCTION struct number *make_number(unsigned used)
{
        struct number *number =
            (struct number *)get_bytes(sizeof(*number) + used * sizeof(long));

        *number = (struct number){used, used, 1, 1};
        TRUTH_HEAP("get_bytes", "struct number", number, 1);
        truth_object("heap", "get_bytes at ", "struct limbs", number->limbs, sizeof(long),
                     used, "*");
        return number;
}

/* ---- a header before items of its size ---- */

struct unit {
        long count;
        long step;
};

struct body {
        long first;
        long second;
};

READS long pick_behind(struct unit *units, unsigned at)
{
        return ((struct body *)(units + (at + 1)))->second;
}

READS long pick_wide_behind(struct unit *units, unsigned long at)
{
        return ((struct body *)(units + (at + 1)))->first;
}

READS long pick_two_behind(struct unit *units, unsigned at, int more)
{
        units += at + 1;
        if (more)
                result += 3;
        return ((struct body *)units)->first + ((struct body *)units)->second;
}

READS long add_behind(struct unit *units)
{
        long sum = 0;

        for (unsigned i = 1; i <= (unsigned)units->count; i++)
                sum += ((struct body *)(units + i))->second;
        return sum;
}

/* Counted from the first item, which is no header. */
READS long add_units(const struct unit *units, unsigned count)
{
        long sum = 0;

        for (unsigned i = 0; i < count; i++)
                sum += units[i].step;
        return sum;
}

/* ---- headers and items in turns ---- */

READS long add_turns(struct unit *units)
{
        long sum = 0;

        for (struct unit *end = units + 2 * UNITS; units < end; units += 2)
                sum += units->count + ((struct body *)(units + 1))->first;
        return sum;
}

static inline __attribute__((always_inline)) long word_at(const void *place)
{
        return ((const long *)place)[1];
}

READS long add_words(struct unit *units)
{
        long sum = 0;

        for (struct unit *end = units + 2 * UNITS; units < end; units += 2)
                sum += word_at(units) + word_at(units + 1);
        return sum;
}

/* ---- */

/* Typed by the allocation, and not. */
ONE_FUNCTION struct unit *make_units(void)
{
        struct unit *units = calloc(1, sizeof(*units) + UNITS * sizeof(struct body));

        units->count = UNITS;
        TRUTH_HEAP("make_units", "struct unit", units, 1);
        TRUTH_ITEMS("make_units", struct body, units + 1, UNITS);
        return units;
}

ONE_FUNCTION struct unit *make_bytes(void)
{
        struct unit *units =
            (struct unit *)get_bytes(sizeof(*units) + UNITS * sizeof(struct body));

        units->count = UNITS;
        TRUTH_HEAP("get_bytes", "struct unit", units, 1);
        TRUTH_ITEMS("get_bytes", struct body, units + 1, UNITS);
        return units;
}

ONE_FUNCTION struct unit *make_turns(void)
{
        struct unit *units =
            (struct unit *)get_bytes(UNITS * (sizeof(*units) + sizeof(struct body)));

        for (int i = 0; i < 2 * UNITS; i += 2) {
                TRUTH_ITEMS("get_bytes", struct unit, units + i, 1);
                TRUTH_ITEMS("get_bytes", struct body, units + i + 1, 1);
        }
        return units;
}

ONE_FUNCTION struct unit *make_items(void)
{
        struct unit *units = (struct unit *)get_bytes(UNITS * sizeof(*units));

        TRUTH_HEAP("get_bytes", "struct unit", units, UNITS);
        return units;
}

int main(void)
{
        truth_open();
        TRUTH_FIELDS(head, nodes, edges);
        TRUTH_FIELDS(edge, from, to, next, kind, weight, stamp);
        TRUTH_FIELDS(number, used, room, sign, owners);
        truth_field("struct limbs", "", 0, sizeof(long), "struct~number:limbs[]");
        TRUTH_FIELDS(unit, count, step);
        TRUTH_FIELDS(body, first, second);
        make_graph();
        struct unit *both[] = {make_units(), make_bytes()};
        struct number *numbers[] = {make_number(UNITS), make_number(UNITS)};
        struct unit *turns = make_turns(), *items = make_items();

        truth_close();
        for (int i = 0; i < ROUNDS; i++) {
                result += (long)weigh_all() + (long)add_ranks();
                result += add_targets(edges, EDGES);
                xor_limbs(numbers[i & 1], numbers[~i & 1]);
                for (int b = 0; b < 2; b++) {
                        result += add_behind(both[b]);
                        for (unsigned at = 0; at < UNITS; at++)
                                result += pick_behind(both[b], at) +
                                          pick_wide_behind(both[b], at) +
                                          pick_two_behind(both[b], at, i & 1);
                }
                result +=
                    add_turns(turns) + add_words(turns) + add_units(items, unit_count);
        }
        return 0;
}
