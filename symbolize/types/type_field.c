/* SPDX-License-Identifier: MIT */
/* Searches the fields at an offset. Where members overlap, it tries all paths and keeps
 * the best fit for the access. */
#include "type_field.h"

#include "type_index.h"
#include "type_path.h"
#include "type_table.h"

enum { OWN_ITEM_FIT = 4 }; /* better than all results of access_fit() */

struct search {
        const struct types *types;
        const struct type_access *access;
        const struct string_pool *names; /* NULL: the source is no evidence */
        unsigned work_left;
        unsigned nesting;      /* of calls: unnamed members do not lengthen the path */
        uint64_t stride_bytes; /* in question; 0: none */
        bool repeats;          /* the answer */
        uint32_t inner;        /* in question; TYPE_NONE: none */
        bool holds;            /* the answer */
        struct type_path
            copied;     /* the innermost structure with the access at its start */
        bool met_float; /* a floating-point field is there, perhaps among others */
        bool met_bytes; /* in an array with room for more than the access */
};

static int find(struct search *search, uint32_t type, uint64_t offset_bytes,
                struct type_path *path);

/* Whether PATH leads through the array whose items the access's index counts. */
static bool is_counted(const struct search *search, const struct type_path *path)
{
        return search->access->step_bytes == 0 || path->counted;
}

/* Searches one member. If it has no field there, PATH stays as it was. */
static int enter(struct search *search, const struct member *member,
                 uint64_t offset_bytes, struct type_path *path)
{
        if (member->name && !type_path_enter(path, member))
                return 0;
        path->offset_bytes += member->offset_bytes;
        if (member->bit_size) {
                if (!is_counted(search, path))
                        return 0;
                path->type = member->type;
                path->bits = true;
                path->offset_bytes += member->bit_offset / 8;
                path->size_bytes = (member->bit_offset % 8 + member->bit_size + 7) / 8;
                return path->fit = 1;
        }
        return find(search, member->type, offset_bytes - member->offset_bytes, path);
}

static void share(struct type_path *best, const struct type_path *so_far,
                  const struct type *type, uint32_t type_id, uint64_t offset_bytes,
                  int fit)
{
        *best = *so_far;
        best->shared = true;
        best->shared_offset_bytes = offset_bytes;
        best->contradicted = false;
        best->type = type_id;
        best->size_bytes = type->size_bytes;
        best->fit = fit;
}

/* Notes a structure that the access, at its beginning, copies. A structure that only
 * aligns its union does not count. */
static void note_copied(struct search *search, uint32_t type_id,
                        const struct type_path *path)
{
        const struct type *type = &search->types->items[type_id];

        if (type->kind != TYPE_STRUCT || type->member_count == 0 ||
            type->size_bytes < search->access->bytes)
                return;
        search->copied = *path;
        search->copied.type = type_id;
        search->copied.size_bytes = type->size_bytes;
}

/* MEMBER as a bit-field, if the access also reads its neighbours. Debug information does
 * not describe bit-fields of whole bytes as such. */
static struct member beside_bits(const struct search *search, const struct member *member,
                                 uint64_t offset_bytes)
{
        const struct types *types = search->types;
        struct member bits = *member;

        if (member->bit_size || member->type >= types->count ||
            types->items[member->type].kind != TYPE_INTEGER ||
            types->items[member->type].size_bytes >= search->access->bytes ||
            member->offset_bytes < offset_bytes)
                return bits;
        bits.bit_size = (uint32_t)types->items[member->type].size_bytes * 8;
        bits.bit_offset = 0;
        return bits;
}

/* Whether an access meets bit-fields in TYPE. */
static bool has_bits(const struct search *search, const struct type *type,
                     uint64_t offset_bytes)
{
        const struct member *members = search->types->members + type->first_member;
        bool bits = false;

        for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->member_count; i++)
                bits |= members[i].bit_size &&
                        access_in_bits(&members[i], offset_bytes, search->access);
        return bits;
}

/* Continues *WAY, which leads to TYPE, into member INDEX. 0: it is elsewhere. */
static int find_by_member(struct search *search, const struct type *type, uint32_t index,
                          bool bits, uint64_t offset_bytes, struct type_path *way)
{
        const struct types *types = search->types;
        const struct member *of_type = &types->members[type->first_member + index];
        const struct member member =
            bits ? beside_bits(search, of_type, offset_bytes) : *of_type;

        if (member.bit_size ? !access_in_bits(&member, offset_bytes, search->access)
                            : !type_in_member(types, type, index, offset_bytes))
                return 0;
        return enter(search, &member, offset_bytes, way);
}

static int find_member(struct search *search, uint32_t type_id, uint64_t offset_bytes,
                       struct type_path *path)
{
        const struct types *types = search->types;
        const struct type *type = &types->items[type_id];
        struct type_path best = {0};
        struct type_choice choice = {0};
        uint32_t first = 0, count = 0; /* the best fits */

        if (offset_bytes == 0)
                note_copied(search, type_id, path);
        bool bits = has_bits(search, type, offset_bytes);

        for (uint32_t i = 0; i < type->member_count; i++) {
                struct type_path way = *path;
                int fit = find_by_member(search, type, i, bits, offset_bytes, &way);

                if (fit == 0 || fit < best.fit)
                        continue;
                if (fit > best.fit) {
                        first = i;
                        count = 0;
                        choice = (struct type_choice){0};
                }
                type_choice_add(&choice, search->names, search->access, &way);
                count++;
                if (fit > best.fit)
                        best = way;
        }
        if (count > 1 && type_choice_made(&choice, search->access)) {
                best = choice.way;
        } else if (count > 1) {
                share(&best, path, type, type_id, offset_bytes, best.fit);
                best.bits = types->members[type->first_member + first].bit_size != 0;
        }
        *path = best;
        return best.fit;
}

/* Whether the access suits an item of TYPE_ID in an array. */
static bool is_own_item(const struct search *search, uint32_t type_id)
{
        return search->access->own_items &&
               search->types->items[type_id].kind == TYPE_INTEGER &&
               search->types->items[type_id].size_bytes == search->access->bytes;
}

static int find_in(struct search *search, uint32_t type_id, uint64_t offset_bytes,
                   struct type_path *path)
{
        const struct types *types = search->types;

        if (type_id >= types->count || search->work_left == 0)
                return 0;
        search->work_left--;
        const struct type *type = &types->items[type_id];

        if (search->inner != TYPE_NONE && offset_bytes == 0 &&
            type_same(types, type_id, search->inner))
                search->holds = true;
        switch (type->kind) {
        case TYPE_OPAQUE:
                return 0;
        case TYPE_STRUCT:
        case TYPE_UNION:
                return path->length == TYPE_DEPTH_LIMIT
                           ? 0
                           : find_member(search, type_id, offset_bytes, path);
        case TYPE_ARRAY: {
                uint64_t bytes = type_size(types, type->element);

                if (bytes == 0 || !type_path_step(path, 0))
                        return 0;
                if (search->stride_bytes % bytes == 0)
                        search->repeats = true;
                path->counted |= type_counts(search->access->step_bytes, bytes);
                search->met_bytes |=
                    type_only_bytes(types, type->element, search->access) &&
                    (type->size_bytes == 0 || type->size_bytes > search->access->bytes);
                int fit = find(search, type->element, offset_bytes % bytes, path);

                if (fit > 0 && is_own_item(search, type->element))
                        path->fit = fit = OWN_ITEM_FIT;
                return fit;
        }
        default:
                if (offset_bytes >= type->size_bytes || !is_counted(search, path))
                        return 0;
                path->type = type_id;
                path->size_bytes = type->size_bytes;
                search->met_float |= type->kind == TYPE_FLOAT;
                path->contradicted =
                    access_contradicts(type, offset_bytes, search->access);
                return path->fit = access_fit(type, offset_bytes, search->access);
        }
}

static int find(struct search *search, uint32_t type_id, uint64_t offset_bytes,
                struct type_path *path)
{
        if (search->nesting == TYPE_NESTING_LIMIT)
                return 0;
        search->nesting++;
        int fit = find_in(search, type_id, offset_bytes, path);

        search->nesting--;
        return fit;
}

/* Whether the access may belong to PATH's field although it shows another kind of number.
 * An integer may be a part of a wider floating-point number. An unproved access may also
 * be to bytes that overlap the field. */
static bool in_doubt(const struct search *search, const struct type_path *path)
{
        const struct type_access *access = search->access;

        return (access->perhaps_float && search->met_float) ||
               (access->unproved && search->met_bytes &&
                (path->shared || !type_only_bytes(search->types, path->type, access)));
}

/* Adds to *SHARED all fields at the end of WAY, where members overlap. */
static void collect(struct search *search, const struct type_path *way,
                    struct type_shared *shared)
{
        const struct type *type = &search->types->items[way->type];

        if (search->nesting == TYPE_NESTING_LIMIT)
                return;
        search->nesting++;
        bool bits = has_bits(search, type, way->shared_offset_bytes);

        for (uint32_t i = 0; i < type->member_count; i++) {
                struct type_path further = *way;

                further.shared = further.bits = false;
                if (find_by_member(search, type, i, bits, way->shared_offset_bytes,
                                   &further) != way->fit)
                        continue;
                if (further.shared)
                        collect(search, &further, shared);
                else if (shared->count++ < TYPE_SHARED_LIMIT)
                        shared->items[shared->count - 1] = further;
        }
        search->nesting--;
}

/* Finds the best fit for ACCESS. If several fit, all go to *SHARED unless that is NULL.
 * *COPIED is the innermost structure that begins there. Integer operations decide nothing
 * between an integer and a floating-point field, because programs use the latter's bits
 * too. If only floating point is there, the type is probably wrong. */
static int find_accessed(const struct types *types, const struct string_pool *names,
                         uint32_t type, uint64_t offset_bytes,
                         const struct type_access *access, struct type_path *path,
                         struct type_path *copied, struct type_shared *shared)
{
        struct type_access any = *access;
        struct search search = {.types = types,
                                .access = access,
                                .names = names,
                                .work_left = TYPE_WORK_LIMIT,
                                .inner = TYPE_NONE};

        *path = (struct type_path){0};
        int fit = find(&search, type, offset_bytes, path);

        if (fit == 0 && access->step_bytes > 0) { /* it counts no items of the type */
                any.step_bytes = 0;
                return find_accessed(types, names, type, offset_bytes, &any, path, copied,
                                     shared);
        }
        *copied = search.copied;
        if (!in_doubt(&search, path)) {
                if (!path->shared || !shared)
                        return fit;
                search.work_left = TYPE_WORK_LIMIT;
                collect(&search, path, shared);
                if (search.work_left == 0) /* some may be missing */
                        shared->count = 0;
                return fit;
        }
        bool contradicted = path->contradicted && search.met_float;

        any.number = NUMBER_ANY;
        any.perhaps_float = any.unproved = false;
        fit = find_accessed(types, names, type, offset_bytes, &any, path, copied, shared);
        path->contradicted = contradicted && !path->shared;
        return fit;
}

/* Whether the source names all of PATH. */
static bool is_named(const struct string_pool *names, const struct type_path *path,
                     const struct type_access *access)
{
        const char *members = string_pool_text(names, access->members);

        return members && !path->shared && !path->bits &&
               access->bytes <= path->size_bytes &&
               type_named_whole(names, path, members);
}

enum field_outcome type_field(const struct types *types, struct string_pool *names,
                              uint32_t type, uint64_t offset_bytes,
                              const struct type_access *access, struct field *field)
{
        struct type_path path, copied;
        struct type_shared shared;

        *field = (struct field){.type = TYPE_NONE};
        if (type >= types->count || types->items[type].kind == TYPE_OPAQUE)
                return FIELD_OPAQUE;
        if (offset_bytes >= types->items[type].size_bytes &&
            !type_open_ended(types, type))
                return FIELD_BEYOND;
        shared.count = 0;
        if (find_accessed(types, names, type, offset_bytes, access, &path, &copied,
                          &shared) == 0)
                return FIELD_PADDING;
        if (!path.shared && type_only_bytes(types, path.type, access) &&
            copied.length > 0)
                path = copied;
        if (path.contradicted)
                return FIELD_OTHER;
        if (shared.count > 0)
                type_shared_field(types, names, &shared, access->bytes, field);
        else
                type_path_field(names, &path, field);
        field->shared = path.shared;
        field->named = is_named(names, &path, access);
        return field->name ? FIELD_FOUND : FIELD_WHOLE;
}

static const struct type_access any_access;

uint32_t type_part(const struct types *types, uint32_t type, uint64_t offset_bytes)
{
        static const struct type_access pointer = {.bytes = sizeof(uint64_t),
                                                   .number = NUMBER_INTEGER};

        struct type_path path, copied;

        return find_accessed(types, NULL, type, offset_bytes, &pointer, &path, &copied,
                             NULL) &&
                       !path.shared
                   ? path.type
                   : TYPE_NONE;
}

bool type_repeats(const struct types *types, uint32_t type, uint64_t offset_bytes,
                  uint64_t stride_bytes)
{
        struct search search = {.types = types,
                                .access = &any_access,
                                .work_left = TYPE_WORK_LIMIT,
                                .stride_bytes = stride_bytes,
                                .inner = TYPE_NONE};
        struct type_path path = {0};

        if (type_counted_whole(types, type, stride_bytes))
                return true;
        find(&search, type, offset_bytes, &path);
        return search.repeats;
}

bool type_holds(const struct types *types, uint32_t outer, uint64_t offset_bytes,
                uint32_t inner)
{
        struct search search = {.types = types,
                                .access = &any_access,
                                .work_left = TYPE_WORK_LIMIT,
                                .inner = inner};
        struct type_path path = {0};

        find(&search, outer, offset_bytes, &path);
        return search.holds;
}

bool type_unlike(const struct types *types, uint32_t a, uint32_t b)
{
        return !type_holds(types, a, 0, b) && !type_holds(types, b, 0, a);
}
