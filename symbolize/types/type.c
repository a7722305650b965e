/* SPDX-License-Identifier: MIT */
/* Types nest as deep as their author liked; a chain of members is followed to a fixed
 * depth and with a fixed amount of work, whatever a file says. */
#include "type.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "common_factor.h"

enum {
        DEPTH_LIMIT = 32,    /* members on the way to a field */
        NESTING_LIMIT = 256, /* types in types, those without a name too */
        FIELDS_LIMIT = 4096, /* that are listed of a type, or an index may lead to */
        WORK_LIMIT = 65536,  /* types looked at for one question */
        ITEMS_LIMIT = 16     /* of an array, that are gone through one by one */
};

/* ---- types that look the same ---- */

struct candidate {
        const struct types *types;
        const struct member *members;
};

static bool same_part(const struct types *types, uint32_t a, uint32_t b)
{
        return a == b || (a < types->count && b < types->count &&
                          types->items[a].canonical == types->items[b].canonical);
}

static bool same_type(const void *context, const void *key, uint32_t position)
{
        const struct candidate *candidate = context;
        const struct types *types = candidate->types;
        const struct type *a = key, *b = &types->items[position];

        if (a->kind != b->kind || a->name != b->name || a->size_bytes != b->size_bytes ||
            a->items != b->items || a->member_count != b->member_count ||
            (a->kind == TYPE_ARRAY && !same_part(types, a->element, b->element)))
                return false;
        for (uint32_t i = 0; i < a->member_count; i++) {
                const struct member *left = &candidate->members[i];
                const struct member *right = &types->members[b->first_member + i];

                if (left->name != right->name ||
                    left->offset_bytes != right->offset_bytes ||
                    left->bit_offset != right->bit_offset ||
                    left->bit_size != right->bit_size ||
                    !same_part(types, left->type, right->type))
                        return false;
        }
        return true;
}

/* Of all that equal types have in common: those of one name and size may be many. */
static uint32_t type_hash(const struct types *types, const struct type *type,
                          const struct member *members)
{
        uint32_t hash = hash_number((uint32_t)type->kind, type->name);

        hash = hash_number(hash, type->size_bytes);
        hash = hash_number(hash, type->items);
        if (type->kind == TYPE_ARRAY && type->element < types->count)
                hash = hash_number(hash, types->items[type->element].canonical);
        for (uint32_t i = 0; i < type->member_count; i++) {
                hash = hash_number(hash, members[i].name);
                hash = hash_number(hash, members[i].offset_bytes);
                hash = hash_number(hash, members[i].bit_offset);
                if (members[i].type < types->count)
                        hash = hash_number(hash, types->items[members[i].type].canonical);
        }
        return hash;
}

int types_put(struct types *types, const struct type *type, const struct member *members,
              uint32_t *id)
{
        struct candidate candidate = {types, members};
        uint32_t hash = type_hash(types, type, members);
        uint32_t same = hash_index_find(&types->index, hash, same_type, &candidate, type);

        if (types->count >= TYPE_NONE ||
            array_reserve(&types->items, &types->capacity, types->count,
                          sizeof(*types->items)) < 0)
                return -ENOMEM;
        *id = (uint32_t)types->count;
        struct type *put = &types->items[*id];

        *put = *type;
        put->first_member = types->member_count;
        for (uint32_t i = 0; i < type->member_count; i++) {
                if (array_reserve(&types->members, &types->member_capacity,
                                  types->member_count, sizeof(*types->members)) < 0)
                        return -ENOMEM;
                types->members[types->member_count++] = members[i];
        }
        types->count++;
        put->canonical = same != HASH_INDEX_NONE ? same : *id;
        return same != HASH_INDEX_NONE ? 0 : hash_index_add(&types->index, hash, *id);
}

void types_free(struct types *types)
{
        free(types->items);
        free(types->members);
        hash_index_free(&types->index);
        *types = (struct types){0};
}

/* ---- the way to a field ---- */

/* The members on the way, an array after the member that it is the type of. */
struct path {
        uint32_t names[DEPTH_LIMIT]; /* 0: an array's element */
        uint32_t bases;              /* a bit of each that is a base class */
        size_t length;
        uint64_t offset_bytes; /* with every index 0 */
        uint32_t type;
        uint64_t size_bytes;
        /* Members that share the place at the end of the way; 0: none do. */
        const struct member *shared;
        uint32_t shared_count;
        uint64_t shared_mask; /* which of them, the first 64 */
        int fit;              /* how well the access fits, from 1; 0: not found */
        bool contradicted;    /* the access is not to what is there */
};

static uint64_t size_of(const struct types *types, uint32_t type)
{
        return type < types->count ? types->items[type].size_bytes : 0;
}

static bool is_base(const struct path *path, size_t index)
{
        return path->bases >> index & 1;
}

static bool step(struct path *path, uint32_t name)
{
        if (path->length == DEPTH_LIMIT)
                return false;
        path->names[path->length++] = name;
        return true;
}

/* Into MEMBER, which has a name. */
static bool step_into(struct path *path, const struct member *member)
{
        if (member->base && path->length > 0 && is_base(path, path->length - 1))
                path->length--;
        if (!step(path, member->name))
                return false;
        path->bases &= ~(UINT32_C(1) << (path->length - 1));
        path->bases |= (uint32_t)member->base << (path->length - 1);
        return true;
}

static uint32_t path_name(struct string_pool *names, const struct path *path)
{
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);

        if (!out)
                return string_pool_put(names, NULL);
        const char *dot = "";

        for (size_t i = 0; i < path->length; i++) {
                const char *name = string_pool_text(names, path->names[i]);

                if (name)
                        fprintf(out, "%s%s", dot, name);
                else
                        fputs("[]", out);
                dot = is_base(path, i) ? "::" : ".";
        }
        for (uint32_t i = 0; i < path->shared_count; i++) {
                const char *name = string_pool_text(names, path->shared[i].name);

                if (i < 64 && !(path->shared_mask >> i & 1))
                        continue;
                if (i >= 64)
                        break;
                fprintf(out, "%s%s", dot, name ? name : "(anonymous)");
                dot = "|";
        }
        fclose(out);
        uint32_t id = text && *text ? string_pool_put(names, text) : 0;

        free(text);
        return id;
}

enum { LONG_DOUBLE_BYTES = 10 }; /* that are used of its 16 */

static uint64_t number_bytes(const struct type *type)
{
        return type->size_bytes / (type->is_complex ? 2 : 1);
}

/* Whether BYTES, INSIDE bytes behind the start of TYPE, are one number of floating point.
 */
static bool is_one(const struct type *type, uint64_t inside, uint32_t bytes)
{
        uint64_t one = number_bytes(type);

        return one > 0 && inside < type->size_bytes && inside % one == 0 &&
               (bytes == one || (bytes == LONG_DOUBLE_BYTES && one > LONG_DOUBLE_BYTES));
}

/* 3 where ACCESS, INSIDE bytes behind the start of a number of TYPE, may well be to it, 2
 * where it may be if to nothing else, else 1. */
static int fit_of(const struct type *type, uint64_t inside,
                  const struct type_access *access)
{
        bool real = type->kind == TYPE_FLOAT;
        bool within = inside + access->bytes <= type->size_bytes;
        bool exact = inside == 0 && type->size_bytes == access->bytes;

        switch (access->number) {
        case NUMBER_BITS:
                return !real && within ? 3 : 1;
        case NUMBER_LOW:
                return !real && (exact || (within && type->kind == TYPE_INTEGER)) ? 3 : 1;
        case NUMBER_INTEGER:
                if (real)
                        return 1;
                return exact ? 3 : within && type->kind == TYPE_INTEGER ? 2 : 1;
        case NUMBER_FLOATS:
                return real && number_bytes(type) <= access->bytes ? 3 : 1;
        case NUMBER_FLOAT:
                return real && is_one(type, inside, access->bytes) ? 3 : 1;
        default:
                return 1;
        }
}

/* Whether the number that ACCESS shows, INSIDE bytes behind the start of a number of
 * TYPE, is another than that. Neighbours may be read at once, but are not counted with.
 */
static bool contradicts(const struct type *type, uint64_t inside,
                        const struct type_access *access)
{
        bool real = type->kind == TYPE_FLOAT;

        switch (access->number) {
        case NUMBER_LOW:
                return real;
        case NUMBER_INTEGER:
                return real || inside + access->bytes > type->size_bytes;
        case NUMBER_FLOATS:
        case NUMBER_FLOAT:
                return fit_of(type, inside, access) == 1;
        default:
                return false;
        }
}

/* The same of MEMBER, a bit-field. Fields of whole bytes are read as numbers are. */
static int bits_fit(const struct member *member, uint64_t offset_bytes,
                    const struct type_access *access)
{
        switch (access->number) {
        case NUMBER_BITS:
                return 3;
        case NUMBER_LOW:
        case NUMBER_INTEGER:
                return member->bit_size == access->bytes * 8 &&
                               member->offset_bytes + member->bit_offset / 8 ==
                                   offset_bytes
                           ? 3
                           : 1;
        default:
                return 1;
        }
}

struct search {
        const struct types *types;
        const struct type_access *access;
        unsigned work_left;
        unsigned nesting; /* of calls: members without a name make the way no longer */
        uint64_t stride_bytes; /* asked about; 0: nothing is */
        bool repeats;          /* the answer */
        uint32_t inner;        /* asked about; TYPE_NONE: nothing is */
        bool holds;            /* the answer */
        struct path copied;    /* the innermost structure that the access begins */
};

static int find(struct search *search, uint32_t type, uint64_t offset_bytes,
                struct path *path);

/* Whether MEMBER, a bit-field, has some of the bits that the access at OFFSET_BYTES uses
 * of its bytes. */
static bool is_used(const struct member *member, uint64_t offset_bytes,
                    const struct type_access *access)
{
        int64_t low =
            (int64_t)(member->offset_bytes - offset_bytes) * 8 + member->bit_offset;
        int64_t high = low + member->bit_size;

        if (access->bits == 0)
                return true;
        if (low >= 64 || high <= 0)
                return false;
        uint64_t used = low > 0 ? access->bits >> low : access->bits;

        high -= low > 0 ? low : 0;
        return high >= 64 ? used != 0 : (used & ((UINT64_C(1) << high) - 1)) != 0;
}

/* Whether MEMBER has bits in what the access at OFFSET_BYTES touches. */
static bool in_bits(const struct member *member, uint64_t offset_bytes,
                    const struct type_access *access)
{
        uint64_t bytes = access->bytes ? access->bytes : 1;
        uint64_t low = member->offset_bytes + member->bit_offset / 8;
        uint64_t high = member->offset_bytes +
                        ((uint64_t)member->bit_offset + member->bit_size + 7) / 8;

        return low < offset_bytes + bytes && high > offset_bytes &&
               is_used(member, offset_bytes, access);
}

static bool in_member(const struct types *types, const struct type *type, uint32_t index,
                      uint64_t offset_bytes)
{
        const struct member *member = &types->members[type->first_member + index];
        uint64_t bytes = size_of(types, member->type);

        if (offset_bytes < member->offset_bytes)
                return false;
        if (bytes == 0 && index + 1 == type->member_count)
                return type->kind == TYPE_STRUCT; /* an array that goes on */
        return offset_bytes - member->offset_bytes < bytes;
}

/* Goes into one member; the way so far is kept in PATH when that leads nowhere. */
static int enter(struct search *search, const struct member *member,
                 uint64_t offset_bytes, struct path *path)
{
        if (member->name && !step_into(path, member))
                return 0;
        path->offset_bytes += member->offset_bytes;
        if (member->bit_size) {
                path->type = member->type;
                path->offset_bytes += member->bit_offset / 8;
                path->size_bytes = (member->bit_offset % 8 + member->bit_size + 7) / 8;
                return path->fit = bits_fit(member, offset_bytes, search->access);
        }
        return find(search, member->type, offset_bytes - member->offset_bytes, path);
}

static void share(struct path *best, const struct path *so_far, const struct type *type,
                  uint32_t type_id, const struct member *members, uint64_t mask, int fit)
{
        *best = *so_far;
        best->shared = members;
        best->shared_count = type->member_count;
        best->shared_mask = mask;
        best->contradicted = false;
        best->type = type_id;
        best->size_bytes = type->size_bytes;
        best->fit = fit;
}

/* Takes note of a structure that the access, which is to its beginning, copies. */
static void note_copied(struct search *search, uint32_t type_id, const struct path *path)
{
        const struct type *type = &search->types->items[type_id];

        if (type->kind != TYPE_STRUCT || type->size_bytes < search->access->bytes)
                return;
        search->copied = *path;
        search->copied.type = type_id;
        search->copied.size_bytes = type->size_bytes;
}

static int find_member(struct search *search, uint32_t type_id, uint64_t offset_bytes,
                       struct path *path)
{
        const struct types *types = search->types;
        const struct type *type = &types->items[type_id];
        const struct member *members = types->members + type->first_member;
        struct path best = {0};
        uint64_t mask = 0;

        if (offset_bytes == 0)
                note_copied(search, type_id, path);
        for (uint32_t i = 0; i < type->member_count; i++) {
                struct path way = *path;

                if (members[i].bit_size
                        ? !in_bits(&members[i], offset_bytes, search->access)
                        : !in_member(types, type, i, offset_bytes))
                        continue;
                int fit = enter(search, &members[i], offset_bytes, &way);

                if (fit == 0 || fit < best.fit)
                        continue;
                if (fit > best.fit)
                        mask = 0;
                mask |= i < 64 ? UINT64_C(1) << i : 0;
                if (fit > best.fit)
                        best = way;
        }
        if (mask & (mask - 1)) {
                uint64_t start = best.offset_bytes, bytes = best.size_bytes;
                bool bits = members[__builtin_ctzll(mask)].bit_size != 0;

                share(&best, path, type, type_id, members, mask, best.fit);
                if (bits) {
                        best.offset_bytes = start;
                        best.size_bytes = bytes;
                }
        }
        *path = best;
        return best.fit;
}

static int find_in(struct search *search, uint32_t type_id, uint64_t offset_bytes,
                   struct path *path)
{
        const struct types *types = search->types;

        if (type_id >= types->count || search->work_left == 0)
                return 0;
        search->work_left--;
        const struct type *type = &types->items[type_id];

        if (search->inner != TYPE_NONE && offset_bytes == 0 &&
            same_part(types, type_id, search->inner))
                search->holds = true;
        switch (type->kind) {
        case TYPE_OPAQUE:
                return 0;
        case TYPE_STRUCT:
        case TYPE_UNION:
                return path->length == DEPTH_LIMIT
                           ? 0
                           : find_member(search, type_id, offset_bytes, path);
        case TYPE_ARRAY: {
                uint64_t bytes = size_of(types, type->element);

                if (bytes == 0 || !step(path, 0))
                        return 0;
                if (search->stride_bytes % bytes == 0)
                        search->repeats = true;
                return find(search, type->element, offset_bytes % bytes, path);
        }
        default:
                if (offset_bytes >= type->size_bytes)
                        return 0;
                path->type = type_id;
                path->size_bytes = type->size_bytes;
                path->contradicted = contradicts(type, offset_bytes, search->access);
                return path->fit = fit_of(type, offset_bytes, search->access);
        }
}

static int find(struct search *search, uint32_t type_id, uint64_t offset_bytes,
                struct path *path)
{
        if (search->nesting == NESTING_LIMIT)
                return 0;
        search->nesting++;
        int fit = find_in(search, type_id, offset_bytes, path);

        search->nesting--;
        return fit;
}

static void set_field(struct string_pool *names, const struct path *path,
                      struct field *field)
{
        *field = (struct field){.name = path_name(names, path),
                                .type = path->type,
                                .offset_bytes = path->offset_bytes,
                                .size_bytes = path->size_bytes,
                                .shared = path->shared_count != 0};
}

bool type_only_bytes(const struct types *types, uint32_t type,
                     const struct type_access *access)
{
        return type < types->count && types->items[type].kind == TYPE_INTEGER &&
               types->items[type].size_bytes == 1 && access->bytes > 1 && !access->vector;
}

enum field_outcome type_field(const struct types *types, struct string_pool *names,
                              uint32_t type, uint64_t offset_bytes,
                              const struct type_access *access, struct field *field)
{
        struct search search = {.types = types,
                                .access = access,
                                .work_left = WORK_LIMIT,
                                .inner = TYPE_NONE};
        struct path path = {0};

        const struct type_access whole = {access->bytes, access->number, access->vector,
                                          0};

        *field = (struct field){.type = TYPE_NONE};
        if (type >= types->count || types->items[type].kind == TYPE_OPAQUE)
                return FIELD_OPAQUE;
        if (offset_bytes >= types->items[type].size_bytes &&
            !type_open_ended(types, type))
                return FIELD_BEYOND;
        if (find(&search, type, offset_bytes, &path) == 0) {
                if (access->bits == 0)
                        return FIELD_PADDING;
                return type_field(types, names, type, offset_bytes, &whole, field);
        }
        if (!path.shared_count && type_only_bytes(types, path.type, access) &&
            search.copied.length > 0)
                path = search.copied;
        set_field(names, &path, field);
        if (path.contradicted)
                return FIELD_OTHER;
        return field->name ? FIELD_FOUND : FIELD_WHOLE;
}

static const struct type_access any_access;

uint32_t type_part(const struct types *types, uint32_t type, uint64_t offset_bytes,
                   const struct type_access *access)
{
        struct search search = {.types = types,
                                .access = access,
                                .work_left = WORK_LIMIT,
                                .inner = TYPE_NONE};
        struct path path = {0};

        return find(&search, type, offset_bytes, &path) && !path.shared_count ? path.type
                                                                              : TYPE_NONE;
}

bool type_contradicted(const struct types *types, uint32_t type, uint64_t offset_bytes,
                       const struct type_access *access)
{
        struct search search = {.types = types,
                                .access = access,
                                .work_left = WORK_LIMIT,
                                .inner = TYPE_NONE};
        struct path path = {0};

        return access->number != NUMBER_ANY &&
               find(&search, type, offset_bytes, &path) != 0 && path.contradicted;
}

/* Whether an index of STRIDE_BYTES counts whole items of TYPE. Loops over structures are
 * unrolled by powers of two; other multiples count something of which TYPE is a part. */
static bool counts_whole(const struct types *types, uint32_t type, uint64_t stride_bytes)
{
        uint64_t bytes = size_of(types, type);

        if (bytes == 0 || stride_bytes % bytes != 0 || type_open_ended(types, type))
                return false;
        uint64_t items = stride_bytes / bytes;

        return types->items[type].kind != TYPE_STRUCT || (items & (items - 1)) == 0;
}

bool type_repeats(const struct types *types, uint32_t type, uint64_t offset_bytes,
                  uint64_t stride_bytes)
{
        struct search search = {.types = types,
                                .access = &any_access,
                                .work_left = WORK_LIMIT,
                                .stride_bytes = stride_bytes,
                                .inner = TYPE_NONE};
        struct path path = {0};

        if (counts_whole(types, type, stride_bytes))
                return true;
        find(&search, type, offset_bytes, &path);
        return search.repeats;
}

bool type_holds(const struct types *types, uint32_t outer, uint64_t offset_bytes,
                uint32_t inner)
{
        struct search search = {.types = types,
                                .access = &any_access,
                                .work_left = WORK_LIMIT,
                                .inner = inner};
        struct path path = {0};

        find(&search, outer, offset_bytes, &path);
        return search.holds;
}

bool type_open_ended(const struct types *types, uint32_t type_id)
{
        for (int depth = 0; depth < DEPTH_LIMIT && type_id < types->count; depth++) {
                const struct type *type = &types->items[type_id];

                if (type->kind == TYPE_ARRAY && type->size_bytes == 0)
                        return true;
                if (type->kind != TYPE_STRUCT || type->member_count == 0)
                        return false;
                type_id =
                    types->members[type->first_member + type->member_count - 1].type;
        }
        return false;
}

/* ---- where an index leads ---- */

/* Compilers add what is constant in several indexes to the offset or to the index, so
 * that the offset need not be in the array that is meant. */
struct reach {
        const struct types *types;
        int64_t offset;
        uint64_t stride;
        uint64_t access_bytes;
        enum index_outcome outcome;
        bool several;
        bool counts_all; /* the index may count whole ones of the outermost type */
        bool constant;   /* the offset alone leads to a field outside of what it counts */
        bool elsewhere;  /* with a constant in the index it leads to another array */
        uint64_t at;
        unsigned work_left;
        unsigned nesting;
};

/* The way into a type. */
struct reach_way {
        uint64_t field; /* with every index 0 */
        uint64_t start; /* with those that are constant */
        uint64_t step;  /* of the others together */
        bool counted;   /* the index asked about may count items of an array here */
        bool any_item;  /* of an array whose items were not gone through */
        bool in_array;  /* the outermost of all is */
        uint64_t low;   /* from here */
        uint64_t high;  /* to here */
};

static void reach_field(struct reach *reach, const struct reach_way *way, uint64_t bytes)
{
        int64_t low = (int64_t)way->low - (int64_t)reach->stride;
        int64_t rest = (reach->offset - (int64_t)way->start) % (int64_t)way->step;
        uint64_t inside = (uint64_t)(rest < 0 ? rest + (int64_t)way->step : rest);

        if (!way->counted) {
                int64_t from = reach->offset - (int64_t)way->start;

                reach->constant |=
                    reach->counts_all && inside < bytes &&
                    (way->any_item || (from >= 0 && from < (int64_t)bytes));
                return;
        }
        if (inside >= bytes)
                return;
        if (reach->offset < low || reach->offset >= (int64_t)way->high) {
                reach->elsewhere |= way->in_array;
                return;
        }
        reach->several |=
            reach->outcome != INDEX_OPEN && reach->at != way->field + inside;
        reach->at = way->field + inside;
        reach->outcome = reach->offset < (int64_t)way->low ? INDEX_SHIFTED : INDEX_FOUND;
}

static void reach_type(struct reach *reach, uint32_t type_id,
                       const struct reach_way *way);

static void reach_members(struct reach *reach, const struct type *type,
                          const struct reach_way *way)
{
        for (uint32_t i = 0; i < type->member_count && !reach->several; i++) {
                const struct member *member =
                    &reach->types->members[type->first_member + i];
                struct reach_way next = *way;

                if (member->offset_bytes > INT32_MAX || way->start > INT32_MAX) {
                        reach->several = true;
                        return;
                }
                next.field += member->offset_bytes;
                next.start += member->offset_bytes;
                if (member->bit_size)
                        reach_field(
                            reach, &next,
                            ((uint64_t)member->bit_offset + member->bit_size + 7) / 8);
                else
                        reach_type(reach, member->type, &next);
        }
}

/* The index that is asked about goes from item to item: of its stride is only known what
 * it is a multiple of, so that items may also be larger. Another index is constant, or
 * one more where the items are many. */
static void reach_items(struct reach *reach, const struct type *type,
                        const struct reach_way *way)
{
        uint64_t bytes = size_of(reach->types, type->element), items = type->items;
        struct reach_way next = *way;

        if (bytes == 0 || bytes > INT32_MAX)
                return;
        bool counts = reach->stride % bytes == 0 || bytes % reach->stride == 0;

        next.counted |= counts;
        if (counts || items == 0 || items > ITEMS_LIMIT) {
                next.any_item |= !counts;
                next.step = common_factor(way->step, bytes);
                items = 1;
        }
        if (!way->in_array) {
                next.in_array = true;
                next.low = way->field;
                next.high = type->size_bytes > 0 && type->size_bytes < INT32_MAX
                                ? way->field + type->size_bytes
                                : INT64_MAX;
        }
        for (; items > 0 && !reach->several; items--, next.start += bytes)
                reach_type(reach, type->element, &next);
}

static void reach_type(struct reach *reach, uint32_t type_id, const struct reach_way *way)
{
        if (type_id >= reach->types->count || reach->several)
                return;
        if (reach->work_left == 0 || reach->nesting == NESTING_LIMIT) {
                reach->several = true;
                return;
        }
        reach->work_left--;
        reach->nesting++;
        const struct type *type = &reach->types->items[type_id];

        if (type->kind == TYPE_STRUCT || type->kind == TYPE_UNION)
                reach_members(reach, type, way);
        else if (type->kind == TYPE_ARRAY)
                reach_items(reach, type, way);
        else if (reach->access_bytes <= type->size_bytes)
                reach_field(reach, way, type->size_bytes);
        reach->nesting--;
}

enum index_outcome type_indexed(const struct types *types, uint32_t type,
                                int64_t offset_bytes, uint64_t stride_bytes,
                                uint64_t access_bytes, uint64_t *found)
{
        struct reach reach = {.types = types,
                              .offset = offset_bytes,
                              .stride = stride_bytes,
                              .access_bytes = access_bytes,
                              .counts_all = size_of(types, type) % stride_bytes == 0,
                              .work_left = FIELDS_LIMIT};
        const struct reach_way way = {.step = stride_bytes};

        *found = (uint64_t)offset_bytes;
        if (counts_whole(types, type, stride_bytes))
                return INDEX_FOUND;
        if (stride_bytes > INT32_MAX || offset_bytes > INT32_MAX ||
            offset_bytes < INT32_MIN)
                return INDEX_OPEN;
        reach_type(&reach, type, &way);
        if (reach.several || reach.outcome == INDEX_OPEN ||
            (reach.outcome == INDEX_FOUND && (reach.constant || reach.elsewhere)))
                return INDEX_OPEN;
        *found = reach.at;
        return reach.outcome;
}

struct around {
        const struct types *types;
        uint64_t offset_bytes; /* that the array is looked for around */
        unsigned work_left;
        unsigned nesting;
        uint64_t low; /* the answer */
        uint64_t high;
};

static bool around_type(struct around *around, uint32_t type, uint64_t start);

static bool around_member(struct around *around, const struct type *type, uint64_t start)
{
        const struct types *types = around->types;

        for (uint32_t i = 0; i < type->member_count; i++) {
                const struct member *member = &types->members[type->first_member + i];

                if (in_member(types, type, i, around->offset_bytes - start) &&
                    around_type(around, member->type, start + member->offset_bytes))
                        return true;
        }
        return false;
}

/* Looks for it inside of TYPE_ID, which begins at START. */
static bool around_type(struct around *around, uint32_t type_id, uint64_t start)
{
        if (type_id >= around->types->count || around->nesting == NESTING_LIMIT ||
            around->work_left == 0)
                return false;
        const struct type *type = &around->types->items[type_id];

        around->work_left--;
        if (type->kind == TYPE_ARRAY) {
                around->low = start;
                around->high =
                    type->size_bytes > 0 ? start + type->size_bytes : UINT64_MAX;
                return around->offset_bytes >= around->low &&
                       around->offset_bytes < around->high;
        }
        if (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION)
                return false;
        around->nesting++;
        bool found = around_member(around, type, start);

        around->nesting--;
        return found;
}

bool type_array_around(const struct types *types, uint32_t type, uint64_t offset_bytes,
                       uint64_t *low, uint64_t *high)
{
        struct around around = {
            .types = types, .offset_bytes = offset_bytes, .work_left = WORK_LIMIT};

        if (!around_type(&around, type, 0))
                return false;
        *low = around.low;
        *high = around.high;
        return true;
}

/* ---- all fields ---- */

struct listing {
        const struct types *types;
        struct string_pool *names;
        type_add_field *add;
        void *context;
        unsigned fields_left;
        unsigned work_left;
        unsigned nesting;
};

static int list(struct listing *listing, uint32_t type_id, const struct path *way);

static int list_members(struct listing *listing, const struct type *type,
                        const struct path *way)
{
        int result = 0;

        for (uint32_t i = 0; i < type->member_count && !result; i++) {
                const struct member *member =
                    &listing->types->members[type->first_member + i];
                struct path path = *way;

                if (member->name && !step_into(&path, member))
                        continue;
                path.offset_bytes += member->offset_bytes + member->bit_offset / 8;
                if (member->bit_size)
                        path.size_bytes =
                            (member->bit_offset % 8 + member->bit_size + 7) / 8;
                result = list(listing, member->type, &path);
        }
        return result;
}

static int list_type(struct listing *listing, uint32_t type_id, const struct path *way)
{
        const struct types *types = listing->types;
        struct path path = *way;
        struct field field;

        if (type_id >= types->count || listing->fields_left == 0 ||
            listing->work_left == 0)
                return 0;
        listing->work_left--;
        const struct type *type = &types->items[type_id];

        if (type->kind == TYPE_STRUCT || type->kind == TYPE_UNION)
                return path.length < DEPTH_LIMIT ? list_members(listing, type, &path) : 0;
        if (type->kind == TYPE_ARRAY && size_of(types, type->element) > 0)
                return step(&path, 0) ? list(listing, type->element, &path) : 0;
        listing->fields_left--;
        path.type = type_id;
        if (path.size_bytes == 0) /* else the bytes of a bit-field */
                path.size_bytes = type->size_bytes;
        set_field(listing->names, &path, &field);
        return field.name ? listing->add(listing->context, &field) : 0;
}

static int list(struct listing *listing, uint32_t type_id, const struct path *way)
{
        if (listing->nesting == NESTING_LIMIT)
                return 0;
        listing->nesting++;
        int result = list_type(listing, type_id, way);

        listing->nesting--;
        return result;
}

int type_fields(const struct types *types, struct string_pool *names, uint32_t type,
                type_add_field *add, void *context)
{
        struct listing listing = {types,        names,      add, context,
                                  FIELDS_LIMIT, WORK_LIMIT, 0};
        struct path path = {0};

        return list(&listing, type, &path);
}
