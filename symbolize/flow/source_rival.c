/* SPDX-License-Identifier: MIT */
/* The names of the field are looked for in the source first, of which macros and
 * references may have others for it: only where a structure of the unit has what the
 * source names just there is it that. */
#include "source_rival.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "die_walk.h"
#include "type_field.h"

enum {
        ACCESS_BYTES_AT_MOST = 16,
        NAME_BYTES = 128,
        CANDIDATES_LIMIT = 4,
        ORIGINS_AT_MOST = 256
};

/* What may be accessed instead, if a variable of this name is a pointer to that. */
struct candidate {
        uint32_t type;
        const char *name;
        size_t length;
};

/* An access whose source names something else. */
struct suspect {
        struct access *access;
        const void *unit;
        uint64_t offset; /* in what its pointer is to */
        const char *members;
        const char *names; /* NULL: MEMBERS are the one that is accessed */
        struct candidate candidates[CANDIDATES_LIMIT];
        size_t candidate_count;
        bool named; /* the statement has the field, too */
        bool found;
};

/* A name in what the source of a suspect has. */
struct wanted {
        const char *name;
        size_t length;
};

struct search {
        struct type_reader *reader;
        struct suspect *suspects; /* of one unit */
        size_t count;
        struct wanted *wanted; /* in order */
        size_t wanted_count;
        size_t wanted_capacity;
};

/* ---- accesses whose field the source does not name ---- */

static bool in_name(char c)
{
        return isalnum((unsigned char)c) || c == '_';
}

/* How long the name is that TEXT begins with; 0: it begins with none. */
static size_t name_length(const char *text)
{
        size_t length = 0;

        while (in_name(text[length]))
                length++;
        return length;
}

/* Whether NAME, of LENGTH bytes, is one of the names in TEXT. */
static bool has_name(const char *text, const char *name, size_t length)
{
        for (const char *at = text; *at; at++) {
                if (strncmp(at, name, length) == 0 && !in_name(at[length]) &&
                    (at == text || !in_name(at[-1])))
                        return true;
        }
        return false;
}

/* Whether the NAME of a member, of LENGTH bytes, is one of those in TEXT. What a lambda
 * has captured gcc keeps in `__p`, and the object that it is of in `__this`, which the
 * source need not say. */
static bool is_named(const char *text, const char *name, size_t length)
{
        if (has_name(text, name, length))
                return true;
        if (length < 3 || name[0] != '_' || name[1] != '_')
                return false;
        name += 2;
        length -= 2;
        return (length == 4 && strncmp(name, "this", length) == 0) ||
               has_name(text, name, length);
}

/* Whether a name of FIELD, as "a.b[].c|d", is one of those in TEXT. */
static bool names_any(const char *text, const char *field)
{
        while (*field) {
                size_t length = name_length(field);

                if (length > 0 && is_named(text, field, length))
                        return true;
                field += length > 0 ? length : 1;
        }
        return false;
}

/* What the source has instead of the field that ACCESS's pointer leads to, or in the same
 * statement as that, which is *NAMED then; NULL: nothing. */
static const char *named_instead(struct type_reader *reader, const struct access *access,
                                 bool *named)
{
        const struct flow_answer *flow = &access->flow;
        const char *members = string_pool_text(reader->names, access->said.members);
        const char *names = access->said.names
                                ? string_pool_text(reader->names, access->said.names)
                                : members;
        struct field field;

        if (!access->asked || access->question != FLOW_OPERAND || !members || !names ||
            flow->outcome != FLOW_FOUND || flow->place.kind != PLACE_POINTER ||
            flow->place.type == TYPE_NONE || flow->access.vector ||
            flow->access.bytes == 0 || flow->access.bytes > ACCESS_BYTES_AT_MOST ||
            !type_has_fields(reader->types, flow->place.type) ||
            type_field(reader->types, reader->names, flow->place.type,
                       place_offset(reader->types, &flow->place), &flow->access,
                       &field) != FIELD_FOUND)
                return NULL;
        const char *name = string_pool_text(reader->names, field.name);

        *named = name && names_any(names, name);
        return name && (!*named || access->said.names) ? members : NULL;
}

/* ---- structures that have what it names ---- */

/* The name that begins at *AT, which becomes its end, in NAME. False: it is too long. */
static bool take_name(const char **at, char name[NAME_BYTES])
{
        size_t length = name_length(*at);

        if (length == 0 || length >= NAME_BYTES)
                return false;
        memcpy(name, *at, length);
        name[length] = '\0';
        *at += length;
        return true;
}

/* Where the members begin, in the expression at MEMBERS up to END, that are behind its
 * last pointer; NULL: there are none. */
static const char *behind_pointer(const char *members, const char *end)
{
        const char *first = NULL;

        for (const char *at = members; at < end; at++)
                if (*at == '>' || (*at == '.' && !first))
                        first = at;
        return first;
}

/* Goes from *TYPE and *OFFSET, where an array is, to the item of it that AT is in. */
static bool take_items(const struct types *types, uint32_t *type, uint64_t *offset,
                       uint64_t at)
{
        while (*type < types->count && types->items[*type].kind == TYPE_ARRAY) {
                uint64_t bytes = type_size(types, types->items[*type].element);
                uint64_t whole = types->items[*type].size_bytes;

                if (bytes == 0 || at < *offset || (whole > 0 && at - *offset >= whole))
                        return false;
                *offset += (at - *offset) / bytes * bytes;
                *type = types->items[*type].element;
        }
        return *type < types->count;
}

/* The member of TYPE that is called NAME, or one in those without a name, of which each
 * may have as many again; NULL: none. */
static const struct member *member_called(const struct type_reader *reader, uint32_t type,
                                          const char *name, uint64_t *offset,
                                          unsigned depth)
{
        const struct types *types = reader->types;
        enum { DEPTH_LIMIT = 4 };

        if (!type_has_fields(types, type) || depth == DEPTH_LIMIT ||
            !die_spend(reader->dwarf, types->items[type].member_count))
                return NULL;
        for (uint32_t i = 0; i < types->items[type].member_count; i++) {
                const struct member *member =
                    &types->members[types->items[type].first_member + i];
                const char *called = string_pool_text(reader->names, member->name);
                uint64_t inner = *offset + member->offset_bytes;

                if (called && strcmp(called, name) == 0) {
                        *offset = inner;
                        return member;
                }
                const struct member *found =
                    called && !member->base
                        ? NULL
                        : member_called(reader, member->type, name, &inner, depth + 1);

                if (found) {
                        *offset = inner;
                        return found;
                }
        }
        return NULL;
}

/* Whether the members from AT up to END, the first of them in TYPE, lead to what is at
 * SUSPECT's place. */
static bool leads_there(const struct type_reader *reader, uint32_t type, const char *at,
                        const char *end, const struct suspect *suspect)
{
        uint64_t offset = 0;
        char name[NAME_BYTES];

        while (at < end) {
                at++; /* the link */
                if (!take_name(&at, name))
                        return false;
                const struct member *member =
                    member_called(reader, type, name, &offset, 0);

                if (!member || member->bit_size)
                        return false;
                type = member->type;
                if (!take_items(reader->types, &type, &offset, suspect->offset))
                        return false;
        }
        return offset == suspect->offset &&
               type_size(reader->types, type) == suspect->access->flow.access.bytes;
}

/* Whether the expression at AT casts a pointer to the type that is called NAME (NULL: it
 * has none). */
static bool is_cast_to(const char *name, const char *at)
{
        at += strspn(at, " ");
        return *at == '(' && name && strncmp(at + 1, name, strlen(name)) == 0 &&
               !in_name(at[1 + strlen(name)]);
}

/* Takes note that the expression of SUSPECT at AT, of which FIRST is the first member
 * behind a pointer, may be to TYPE, if its variable is a pointer to that. */
static void note_candidate(struct suspect *suspect, uint32_t type, const char *at,
                           const char *first)
{
        const char *name = at + strspn(at, " ");

        if (*name != ':' || *first != '>' || suspect->candidate_count == CANDIDATES_LIMIT)
                return;
        size_t length = (size_t)(first - name) - 1;

        for (size_t i = 0; i < length; i++)
                if (!in_name(name[1 + i]))
                        return;
        suspect->candidates[suspect->candidate_count++] =
            (struct candidate){type, name + 1, length};
}

/* Finds out whether TYPE, which is called NAME, has what one of the expressions of
 * SUSPECT names, of which each begins behind a blank or is the first. */
static void look_for(const struct type_reader *reader, uint32_t type, const char *name,
                     struct suspect *suspect)
{
        for (const char *at = suspect->members; *at && !suspect->found;) {
                const char *end = at + 1 + strcspn(at + 1, " ");
                const char *first = behind_pointer(at, end);

                if (first && leads_there(reader, type, first, end, suspect)) {
                        suspect->found = !suspect->names || is_cast_to(name, at);
                        if (!suspect->named)
                                note_candidate(suspect, type, at, first);
                }
                at = end;
        }
}

static int compare_wanted(const void *left, const void *right)
{
        const struct wanted *a = left, *b = right;

        COMPARE(a->length, b->length);
        return memcmp(a->name, b->name, a->length);
}

/* Lists the names in what the source of the suspects has: a unit may have many of them,
 * and many members. 0 or -ENOMEM. */
static int list_wanted(struct search *search)
{
        for (size_t i = 0; i < search->count; i++)
                for (const char *at = search->suspects[i].members; *at;) {
                        size_t length = name_length(at);

                        if (length == 0) {
                                at++;
                                continue;
                        }
                        if (array_reserve(&search->wanted, &search->wanted_capacity,
                                          search->wanted_count,
                                          sizeof(*search->wanted)) < 0)
                                return -ENOMEM;
                        search->wanted[search->wanted_count++] =
                            (struct wanted){at, length};
                        at += length;
                }
        if (search->wanted_count > 1)
                qsort(search->wanted, search->wanted_count, sizeof(*search->wanted),
                      compare_wanted);
        return 0;
}

/* Whether NAME is one by which a suspect's source may begin. */
static bool is_wanted(const struct search *search, const char *name)
{
        const struct wanted key = {name, strlen(name)};

        return search->wanted_count > 0 &&
               bsearch(&key, search->wanted, search->wanted_count,
                       sizeof(*search->wanted), compare_wanted);
}

static void look_into(struct search *search, Dwarf_Die *die)
{
        const struct types *types = search->reader->types;
        const char *name = die_string(search->reader->dwarf, die, DW_AT_name);
        uint32_t type = type_of_die(search->reader, die);

        if (!die_spend(search->reader->dwarf, search->count))
                return;
        for (size_t i = 0; i < search->count && type != TYPE_NONE; i++) {
                struct suspect *suspect = &search->suspects[i];

                if (!suspect->found &&
                    !type_same(types, type, suspect->access->flow.place.type))
                        look_for(search->reader, type, name, suspect);
        }
}

/* Whether a member of the structure at DIE has a name that is wanted. */
static bool has_wanted(const struct search *search, Dwarf_Die *die)
{
        struct dwarf_file *dwarf = search->reader->dwarf;
        Dwarf_Die child;

        if (dwarf_child(die, &child) != 0)
                return false;
        do {
                const char *name = dwarf_tag(&child) == DW_TAG_member
                                       ? die_string(dwarf, &child, DW_AT_name)
                                       : NULL;

                if (name && is_wanted(search, name))
                        return true;
        } while (die_spend(dwarf, 1) && dwarf_siblingof(&child, &child) == 0);
        return false;
}

static int visit_type(void *context, struct die_entry *entry, uint32_t parent,
                      uint32_t *value)
{
        struct search *search = context;
        const char *name;

        (void)parent;
        *value = 0;
        switch (entry->tag) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
                if (has_wanted(search, &entry->die))
                        look_into(search, &entry->die);
                return 1;
        case DW_TAG_typedef:
                name = die_string(search->reader->dwarf, &entry->die, DW_AT_name);
                if (name && is_wanted(search, name))
                        look_into(search, &entry->die);
                return 0;
        case DW_TAG_namespace:
                return 1;
        default:
                return 0;
        }
}

/* ---- variables that point there ---- */

struct variable_search {
        struct type_reader *reader;
        struct suspect *suspect;
        unsigned origins_left;
};

static void compare_variable(struct variable_search *search, Dwarf_Die *die)
{
        struct type_reader *reader = search->reader;
        struct suspect *suspect = search->suspect;
        const char *name = die_string(reader->dwarf, die, DW_AT_name);

        for (size_t i = 0; i < suspect->candidate_count && name; i++) {
                const struct candidate *candidate = &suspect->candidates[i];

                if (strlen(name) != candidate->length ||
                    memcmp(candidate->name, name, candidate->length) != 0)
                        continue;
                uint32_t pointee = type_pointee(reader, type_of_variable(reader, die));

                suspect->found |= pointee != TYPE_NONE &&
                                  type_same(reader->types, pointee, candidate->type);
        }
}

static int visit_variable(void *context, struct die_entry *entry, uint32_t parent,
                          uint32_t *value);

/* Looks in what the function at DIE is an instance of, which has all of its variables. */
static int look_in_origin(struct variable_search *search, Dwarf_Die *die)
{
        Dwarf_Die instance_of;

        if (search->origins_left == 0 || search->suspect->found ||
            !die_origin(search->reader->dwarf, die, &instance_of))
                return 0;
        search->origins_left--;
        int error = die_walk(search->reader->dwarf, &instance_of, visit_variable, search);

        return error == -ENOMEM ? error : 0;
}

static int visit_variable(void *context, struct die_entry *entry, uint32_t parent,
                          uint32_t *value)
{
        struct variable_search *search = context;
        int error;

        (void)parent;
        *value = 0;
        switch (entry->tag) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
                compare_variable(search, &entry->die);
                return 0;
        case DW_TAG_inlined_subroutine:
                error = look_in_origin(search, &entry->die);
                return error ? error : 1;
        case DW_TAG_lexical_block:
                return 1;
        default:
                return 0;
        }
}

/* Finds out whether a variable of the function that SUSPECT is in, or of one that is
 * inlined there, is a pointer to one of its candidates. 0 or -ENOMEM. */
static int look_for_variable(struct type_reader *reader, struct suspect *suspect)
{
        struct variable_search search = {reader, suspect, ORIGINS_AT_MOST};
        Dwarf_Die function = suspect->access->code->function_die;

        if (suspect->found || suspect->candidate_count == 0)
                return 0;
        int error = look_in_origin(&search, &function);

        if (!error)
                error = die_walk(reader->dwarf, &function, visit_variable, &search);
        return error == -ENOMEM ? error : 0;
}

/* ---- all of them ---- */

static int compare_suspects(const void *left, const void *right)
{
        const struct suspect *a = left, *b = right;

        COMPARE((uintptr_t)a->unit, (uintptr_t)b->unit);
        COMPARE(a->access->code->vaddr, b->access->code->vaddr);
        return 0;
}

static void leave_open(struct flow_answer *flow)
{
        flow->place = place_unknown;
        flow->outcome = FLOW_UNKNOWN_BASE;
        flow->misnamed = true;
}

static int find_in_unit(struct search *search)
{
        Dwarf_Die unit;
        Dwarf_Die function = search->suspects[0].access->code->function_die;

        if (!dwarf_diecu(&function, &unit, NULL, NULL))
                return 0;
        int error = list_wanted(search);

        if (!error)
                error = die_walk(search->reader->dwarf, &unit, visit_type, search);
        if (error != -ENOMEM)
                error = search->reader->error;
        for (size_t i = 0; i < search->count && !error; i++) {
                struct suspect *suspect = &search->suspects[i];

                error = look_for_variable(search->reader, suspect);
                if (suspect->found)
                        leave_open(&suspect->access->flow);
        }
        return error;
}

/* Adds ACCESS to SUSPECTS, of which there are *COUNT, if it is one. */
static void add_suspect(struct type_reader *reader, struct access *access,
                        struct suspect *suspects, size_t *count)
{
        Dwarf_Die function = access->code->function_die, unit;
        bool named;
        const char *members =
            access->said.members ? named_instead(reader, access, &named) : NULL;

        if (!members || !function.addr || !dwarf_diecu(&function, &unit, NULL, NULL))
                return;
        suspects[(*count)++] = (struct suspect){
            .access = access,
            .unit = unit.addr,
            .offset = place_offset(reader->types, &access->flow.place),
            .members = members,
            .named = named,
            .names = string_pool_text(reader->names, access->said.names)};
}

int source_rivals_find(struct type_reader *reader, struct access **accesses, size_t count)
{
        struct suspect *suspects = calloc(count + 1, sizeof(*suspects));
        size_t suspect_count = 0;
        int error = 0;

        if (!suspects)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                add_suspect(reader, accesses[i], suspects, &suspect_count);
        if (suspect_count > 1)
                qsort(suspects, suspect_count, sizeof(*suspects), compare_suspects);
        for (size_t i = 0, end; i < suspect_count && !error; i = end) {
                for (end = i + 1;
                     end < suspect_count && suspects[end].unit == suspects[i].unit;)
                        end++;
                struct search search = {
                    .reader = reader, .suspects = suspects + i, .count = end - i};

                error = find_in_unit(&search);
                free(search.wanted);
        }
        free(suspects);
        return error;
}
