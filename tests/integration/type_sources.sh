#!/bin/sh
# SPDX-License-Identifier: MIT
# The evidence for a sample's type is reported: the variable, the pointer that took the block after
# its allocation, or the instruction's pointer, by their names in the source. Each function here can
# have its type from only one of these.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >sources.c <<'END'
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif

struct tree {
	struct tree *left, *right;
	long key;
	long pad[5];
};
struct list {
	struct tree *first;
	struct tree **kids;
	long pad[6];
};
enum { COUNT = 1 << 15, BYTES = 1 << 16 };

static struct tree declared[COUNT];
static struct list *global_list;
static void *nameless[3]; /* blocks that nothing tells the type of when they are allocated */
static void *volatile where;
static volatile long made;

ALONE static struct tree *find(struct tree *trees, size_t i) { return &trees[i]; }
ALONE static struct tree *new_tree(void)
{
	void *block = malloc(sizeof(struct tree)); /* new_tree */
	made++; /* else malloc() returns to the caller */
	return block;
}

ALONE static long by_variable(const char *unused, long i)
{
	(void)unused;
	return declared[i].key;
}
ALONE static long by_local(void *const *at) { return *(long *)((char *)*at + offsetof(struct tree, key)); }
ALONE static long by_returned(void *const *at) { return *(long *)((char *)*at + offsetof(struct tree, key)); }
ALONE static long by_parameter(const struct tree *node) { return node->key; }
ALONE static long by_left(const struct tree *node) { return node->left->key; }
ALONE static long by_two(const struct list *list) { return list->first->right->key; }
ALONE static long by_global(void) { return global_list->first->key; }
ALONE static long by_kids(const struct list *list, long i) { return list->kids[i]->key; }
ALONE static long by_call(struct tree *trees, long i) { return find(trees, i)->key; }
ALONE static long by_either(const struct tree *a, const struct tree *b, int which) { return (which ? a : b)->key; }
ALONE static long by_argument(long *to, const long *numbers)
{
	memcpy(to, numbers, BYTES); /* argument */
	return to[0];
}
ALONE static size_t by_text(const char *text) { return strlen(text); }

ALONE static void fill(struct tree *trees)
{
	for (long i = 0; i < COUNT; i++) {
		long other = (i * 12347 + 1) % COUNT;
		declared[i].key = i;
		trees[i] = (struct tree){&trees[other], &trees[(other + 77) % COUNT], i, {0}};
	}
}

ALONE static void own(void **locals, void **returned)
{
	for (long i = 0; i < COUNT; i++) {
		struct tree *one = malloc(sizeof(struct tree)); /* one */
		one->key = i;
		locals[i * 12347 % COUNT] = one;
		returned[i * 12347 % COUNT] = new_tree();
	}
}

ALONE static long read_all(struct tree *trees, struct tree **kids, void **locals, void **returned, long *numbers)
{
	static long to[BYTES / sizeof(long)];
	struct list list = {.kids = kids};
	long sum = 0;
	global_list = &list;
	for (long i = 0; i < COUNT; i++) {
		long at = i * 7919 % COUNT;
		list.first = &trees[at];
		sum += by_variable("", at) + by_local(&locals[i]) + by_returned(&returned[i]) + by_parameter(&trees[at]) + by_left(&trees[at]) +
			by_two(&list) + by_global() + by_kids(&list, at) + by_call(trees, at) + by_either(&trees[at], &trees[i], i & 1);
	}
	for (int i = 0; i < 20; i++)
		sum += by_argument(to, numbers) + (long)by_text(where);
	return sum;
}

int main(void)
{
	static struct tree *kids[COUNT];
	static void *locals[COUNT], *returned[COUNT];
	nameless[0] = malloc(COUNT * sizeof(struct tree));
	nameless[1] = calloc(1, BYTES);
	nameless[2] = malloc(1 << 20);
	where = memset(nameless[2], 'x', 1 << 20);
	((char *)where)[(1 << 20) - 1] = 0;
	fill(nameless[0]);
	own(locals, returned);
	for (long i = 0; i < COUNT; i++)
		kids[i] = (struct tree *)nameless[0] + i * 12347 % COUNT;
	printf("%ld\n", read_all(nameless[0], kids, locals, returned, nameless[1]));
	return 0;
}
END
line_of() { grep -n "/\* $1 \*/" sources.c | cut -d: -f1; }

# If two paths differ, there is no pointer's name.
truth="by_call|key|instruction|find()||
by_either|key|instruction|||
by_global|key|instruction|global_list->first||
by_kids|key|instruction|list->kids[]||
by_left|key|instruction|node->left||
by_local|key|allocation|one|own|$(line_of one)
by_parameter|key|instruction|node||
by_returned|key|allocation|new_tree()|new_tree|$(line_of new_tree)
by_two|key|instruction|list->first->right||
by_variable|key|variable|||"

# check COMPILER OPTION
check()
{
        "$1" -g "$2" -include "$SOURCE_DIR/tests/integration/target.h" -o "sources$2" sources.c
        record "$1$2" $LOADS --ldlat 20 --period 17 -- "./sources$2"
        holds "$1$2.db" "$truth" "SELECT function, field, type_source, type_pointer, type_function,
                type_line FROM sample_view WHERE function GLOB 'by_*' AND op = 'load' AND field = 'key'
                GROUP BY 1, 2, 3, 4, 5, 6 HAVING count(*) > 20"
        expect "functions' types by $1 $2" "$(answer "$1$2.db" "SELECT replace(type, ' int', ''), type_source, type_pointer, type_function, type_line
                FROM sample_view WHERE op = 'load' AND type_source IN ('argument', 'function')
                GROUP BY 1, 2, 3, 4, 5 HAVING count(*) > 20")" "char|function|||
long|argument|numbers|by_argument|$(line_of argument)"
        # Where there is a type, and only there, something has told it.
        holds "$1$2.db" 0 "SELECT count(*) FROM sample_view
                WHERE (type IS NULL) <> (type_source IS NULL)"
}

for option in -O0 -O1 -O2 -O3; do
        check gcc $option
done
"$MEMLAG" annotate -i gcc-O2.db by_two by_local by_variable by_either >annotated
for text in 'struct tree.key of main at .*, by list->first->right$' 'struct tree.key of own .*, allocated for one$' \
        'struct tree.key of declared$' 'struct tree.key of .*, by its instruction$'; do
        grep -q "# $text" annotated || fail "annotate does not say $text: $(cat annotated)"
done
expect "sources in CSV" "$("$MEMLAG" annotate -i gcc-O2.db --format csv by_two | as_csv '*{
        (row["type_source"], row["type_pointer"]) for row in it
        if row["kind"] == "access" and row["field"] == "key"}')" "('instruction', 'list->first->right')"

# The way to a type is shown: the parameter's register, the load through it, and the pointer.
at=$(answer gcc-O2.db "SELECT ip FROM sample_view WHERE function = 'by_left' AND field = 'key' GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
"$MEMLAG" symbolize --trace-types="$at" gcc-O2.db >trace
for text in 'rdi=pointer to struct tree (variable node)' '^0x[0-9a-f]*: mov .*,%r.x$' 'operand: pointer to struct tree +16, by node->left$' \
        'struct tree.key.*instruction node->left$'; do
        grep -q "$text" trace || fail "the trace does not say $text: $(cat trace)"
done
if "$MEMLAG" symbolize --trace-types=1 gcc-O2.db >trace 2>&1; then
        fail "no sample is at address 1: $(cat trace)"
fi

if has clang; then
        check clang -O0
        check clang -O2
fi
