/* SPDX-License-Identifier: MIT */
/* Reads memory as programs in C lay it out by hand: bit-fields in unions, arrays of
 * variable length, arenas, hash tables of columns. */
#include <stdint.h>
#include <string.h>

#include "truth.h"

#define NOINLINE __attribute__((noinline))

static volatile uint64_t result;

enum { COUNT = 300, ROUNDS = 20 };

/* ---- bit-fields in a union ---- */

union entry {
        uint64_t raw;
        struct {
                uint64_t present : 1, dirty : 1, level : 3, frame : 40, key : 19;
        } bits;
};

struct table {
        union entry entries[512];
        uint32_t used;
        uint16_t flags : 4, mode : 12;
};

NOINLINE static struct table *make_table(void)
{
        struct table *table = calloc(1, sizeof(*table));

        for (unsigned i = 0; i < 512; i++) {
                table->entries[i].bits.present = i % 3 != 0;
                table->entries[i].bits.frame = i * 17;
                table->entries[i].bits.key = i;
        }
        table->used = 100;
        table->mode = 7;
        return table;
}

NOINLINE static uint64_t walk_table(const struct table *table, unsigned key)
{
        uint64_t sum = table->used + table->mode;

        for (unsigned i = 0; i < 512; i++)
                if (table->entries[i].bits.present && table->entries[i].bits.key != key)
                        sum += table->entries[i].bits.frame;
        return sum;
}

/* ---- arrays of variable length ---- */

NOINLINE static void smooth(int n, double (*grid)[n], double *out)
{
        for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                        out[i * n + j] = grid[i - 1][j] + grid[i + 1][j] +
                                         grid[i][j - 1] + grid[i][j + 1];
}

NOINLINE static double (*make_grid(int n))[]
{
        double(*grid)[n] = malloc(sizeof(double[n][n]));

        for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                        grid[i][j] = i + j;
        return (double(*)[])grid;
}

NOINLINE static long count_lengths(const unsigned char *text, int n)
{
        int lengths[n];
        long sum = 0;

        truth_object("stack", "count_lengths::lengths", "int", lengths, 4, (size_t)n,
                     "count_lengths");
        memset(lengths, 0, sizeof(lengths));
        for (int i = 0; i < COUNT; i++)
                lengths[text[i] % n]++;
        for (int i = 0; i < n; i++)
                sum += lengths[i] * (long)i;
        return sum;
}

/* ---- an arena ---- */

struct arena {
        char *at, *end;
        struct arena *chunks;
};

struct token {
        const char *text;
        struct token *next;
        int kind, line;
};

struct scope {
        struct scope *outer;
        long depth;
        struct token *first;
};

static void *arena_take(struct arena *arena, size_t bytes)
{
        if ((size_t)(arena->end - arena->at) < bytes) {
                size_t chunk = 1 << 14;

                arena->at = malloc(chunk);
                arena->end = arena->at + chunk;
        }
        void *taken = arena->at;

        arena->at += (bytes + 15) & ~(size_t)15;
        return taken;
}

NOINLINE static struct scope *parse(struct arena *arena)
{
        struct scope *scope = NULL;

        for (int i = 0; i < COUNT; i++) {
                struct scope *inner = arena_take(arena, sizeof(*inner));

                *inner = (struct scope){scope, i, NULL};
                TRUTH_HEAP("arena_take", "struct scope", inner, 1);
                for (int j = 0; j < 3; j++) {
                        struct token *token = arena_take(arena, sizeof(*token));

                        *token = (struct token){"text", inner->first, j, i};
                        inner->first = token;
                        TRUTH_HEAP("arena_take", "struct token", token, 1);
                }
                scope = inner;
        }
        return scope;
}

NOINLINE static long sum_scopes(const struct scope *scope)
{
        long sum = 0;

        for (; scope; scope = scope->outer)
                for (const struct token *token = scope->first; token; token = token->next)
                        sum += token->kind + token->line + scope->depth;
        return sum;
}

/* ---- a hash table of columns ---- */

struct columns {
        uint64_t *keys;
        uint8_t *state; /* one block with keys and values, behind these */
        double *values;
        size_t mask, used;
};

NOINLINE static void make_columns(struct columns *columns, size_t size)
{
        char *block = calloc(size, sizeof(uint64_t) + sizeof(double) + 1);

        columns->keys = (uint64_t *)(void *)block;
        columns->values = (double *)(void *)(block + size * 8);
        columns->state = (uint8_t *)block + size * 16;
        columns->mask = size - 1;
        columns->used = 0;
        truth_object("heap", "make_columns at ", "key", columns->keys, 8, size, "*");
        truth_object("heap", "make_columns at ", "value", columns->values, 8, size, "*");
        truth_object("heap", "make_columns at ", "state", columns->state, 1, size, "*");
}

NOINLINE static void put(struct columns *columns, uint64_t key, double value)
{
        size_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 40 & columns->mask;

        while (columns->state[at] && columns->keys[at] != key)
                at = (at + 1) & columns->mask;
        columns->state[at] = 1;
        columns->keys[at] = key;
        columns->values[at] = value;
        columns->used++;
}

NOINLINE static double look_up(const struct columns *columns, uint64_t key)
{
        size_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 40 & columns->mask;

        while (columns->state[at]) {
                if (columns->keys[at] == key)
                        return columns->values[at];
                at = (at + 1) & columns->mask;
        }
        return 0;
}

/* ---- the truth ---- */

static void say_fields(void)
{
        truth_field("struct table", "entries[].raw", 0, 4096,
                    "struct~table:entries[].bits union~entry:bits union~entry:raw "
                    "struct~table:entries[].bits.present|dirty|level|frame|key");
        TRUTH_FIELDS(table, used);
        truth_field("struct table", "flags|mode", offsetof(struct table, used) + 4, 2,
                    "");
        TRUTH_FIELDS(token, text, next, kind, line);
        TRUTH_FIELDS(scope, outer, depth, first);
        truth_field("key", "", 0, 8, "uint64_t: unsigned~long: long~unsigned~int:");
        truth_field("value", "", 0, 8, "double:");
        truth_field("state", "", 0, 1, "uint8_t: unsigned~char:");
        TRUTH_FIELDS(columns, keys, state, values, mask, used);
}

int main(void)
{
        static double smoothed[64 * 64];
        static unsigned char text[COUNT];
        struct columns columns;
        struct arena arena = {0};

        truth_open();
        say_fields();
        for (int i = 0; i < COUNT; i++)
                text[i] = (unsigned char)(i * 7);
        struct table *table = make_table();
        double(*grid)[64] = (double(*)[64])make_grid(64);
        struct scope *scope = parse(&arena);

        TRUTH_HEAP("make_table", "struct table", table, 1);
        truth_object("heap", "make_grid at ", "value", grid, 8, 64 * 64, "*");
        make_columns(&columns, 1024);
        truth_object("stack", "main::columns", "struct columns", &columns,
                     sizeof(columns), 1, "put,look_up");
        for (uint64_t i = 0; i < COUNT; i++)
                put(&columns, i * 3, (double)i);
        for (int i = 0; i < ROUNDS; i++) {
                double sum = (double)(count_lengths(text, 20 + i) + sum_scopes(scope));

                result += walk_table(table, (unsigned)i);
                smooth(64, grid, smoothed);
                for (uint64_t j = 0; j < COUNT; j++)
                        sum += look_up(&columns, j * 3);
                sum += smoothed[100];
                result += (uint64_t)sum;
        }
        truth_close();
        return 0;
}
