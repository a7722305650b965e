/* SPDX-License-Identifier: MIT */
/* Sums and joins of abstract values. If two paths disagree, the value is unknown. */
#include "place_value.h"

#include "elf_file.h"
#include "type_field.h"
#include "type_index.h"

enum {
        NULL_BYTES = 4096 /* around address 0, never mapped */
};

const struct place_value place_unknown = {.kind = PLACE_UNKNOWN, .type = TYPE_NONE};
const struct place_value place_any_number = {
    .kind = PLACE_NUMBER, .type = TYPE_NONE, .stride_bytes = 1};

const struct place_value place_unreached = {.kind = PLACE_UNREACHED, .type = TYPE_NONE};

struct place_value place_pointer(uint32_t type, int64_t offset)
{
        return type == TYPE_NONE ? place_unknown
                                 : (struct place_value){.kind = PLACE_POINTER,
                                                        .type = type,
                                                        .offset = offset};
}

bool place_stays_inside(const struct types *types, const struct place_value *place)
{
        return place->indexed ||
               (place->offset >= 0 &&
                (uint64_t)place->offset < type_size(types, place->type));
}

bool place_stays_in(const struct types *types, const struct place_value *place,
                    uint32_t type, uint64_t offset)
{
        return !place->indexed || place->unknown_index ||
               type_repeats(types, type, offset, place->stride_bytes);
}

bool place_in_frame(const struct place_value *value)
{
        return value->kind == PLACE_FRAME || value->kind == PLACE_ALIGNED;
}

bool place_in_thread(const struct place_value *value)
{
        return value->kind == PLACE_ADDRESS && elf_thread_local((uint64_t)value->offset);
}

static uint64_t distance(int64_t a, int64_t b)
{
        return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static bool repeats(const struct types *types, const struct place_value *value,
                    uint64_t stride)
{
        return type_repeats(types, value->type, (uint64_t)value->offset, stride);
}

/* The stride in TYPE of the sum of two indexes with strides A and B (0: none). An index
 * of whole items of TYPE only leads to the same field of another item. */
static uint64_t common_step(const struct types *types, uint32_t type, uint64_t a,
                            uint64_t b)
{
        bool whole = a > 0 && type_counted_whole(types, type, a);

        if (a == 0 || b == 0 || whole == type_counted_whole(types, type, b))
                return common_factor(a, b);
        return whole ? b : a;
}

/* ---- numbers: REMAINDER plus a multiple of MODULUS; 0: exactly that, 1: any ---- */

static uint64_t modulus(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER ? value->stride_bytes : 1;
}

static int64_t remainder_of(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER ? value->offset : 0;
}

/* VALUE with AHEAD, if VALUE is not exactly known and AHEAD suits an index. */
static struct place_value with_ahead(const struct place_value *value, int64_t ahead)
{
        struct place_value result = *value;
        bool exact = value->kind == PLACE_NUMBER && value->stride_bytes == 0;

        result.ahead = exact || ahead > INT32_MAX || ahead < INT32_MIN ? 0 : ahead;
        return result;
}

/* The same for a number that is any multiple of its stride from BEGIN on. */
static struct place_value with_begin(const struct place_value *value, int64_t begin)
{
        return with_ahead(value, begin - remainder_of(value));
}

/* The smallest multiple of the number VALUE. */
static int64_t begin_of(const struct place_value *value)
{
        return remainder_of(value) + value->ahead;
}

/* Numbers that are too large for indexes become unknown. */
struct place_value place_number(uint64_t mod, int64_t rest)
{
        if (mod == 1 || mod > INT32_MAX || rest > INT32_MAX || rest < INT32_MIN)
                return place_unknown;
        if (mod > 0) {
                rest %= (int64_t)mod;
                rest += rest < 0 ? (int64_t)mod : 0;
        }
        return (struct place_value){
            .kind = PLACE_NUMBER, .type = TYPE_NONE, .offset = rest, .stride_bytes = mod};
}

struct place_value place_multiply(const struct place_value *value, int64_t by)
{
        if (by <= 0 || by > INT32_MAX)
                return place_unknown;
        struct place_value product =
            place_number(modulus(value) * (uint64_t)by, remainder_of(value) * by);

        return with_begin(&product, begin_of(value) * by);
}

/* ---- joins of two paths ---- */

/* Where the join BOTH begins. A is the value before, B comes from one more iteration of a
 * loop or from another path. BOTH begins where A began, or at its remainder if B begins
 * before A. */
static int64_t first_begin(const struct place_value *both, const struct place_value *a,
                           const struct place_value *b)
{
        int64_t begin = begin_of(a), least = remainder_of(both);

        return begin > least && begin_of(b) < begin ? least : begin;
}

static struct place_value meet_numbers(const struct place_value *a,
                                       const struct place_value *b)
{
        int64_t x = remainder_of(a), y = remainder_of(b);
        struct place_value both = place_number(
            common_factor(common_factor(modulus(a), modulus(b)), distance(x, y)), x);

        if (both.kind != PLACE_NUMBER)
                both = place_any_number;
        return with_begin(&both, first_begin(&both, a, b));
}

bool place_is_null(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER && value->stride_bytes == 0 &&
               value->offset > -NULL_BYTES && value->offset < NULL_BYTES;
}

bool place_says_nothing(const struct place_value *value)
{
        return value->kind == PLACE_UNKNOWN || value->kind == PLACE_UNREACHED;
}

static bool is_any_number(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER && value->stride_bytes == 1;
}

bool place_is_number(const struct place_value *value)
{
        return value->kind == PLACE_NUMBER || value->kind == PLACE_UNKNOWN;
}

struct place_value place_meet(const struct types *types, const struct place_value *a,
                              const struct place_value *b)
{
        struct place_value result = *a;

        if (a->kind == PLACE_UNREACHED)
                return *b;
        if (b->kind == PLACE_UNREACHED)
                return *a;
        if (a->kind == PLACE_NUMBER && b->kind == PLACE_NUMBER)
                return meet_numbers(a, b);
        if (place_is_null(a) && b->kind == PLACE_POINTER)
                return *b;
        if (place_is_null(b) && a->kind == PLACE_POINTER)
                return *a;
        if (a->kind != b->kind || a->type != b->type)
                return place_unknown;
        if (a->kind == PLACE_UNKNOWN)
                return with_begin(&place_unknown, first_begin(&place_unknown, a, b));
        uint64_t apart = distance(a->offset, b->offset);

        result.guessed |= b->guessed;
        result.unknown_index |= b->unknown_index;
        if (place_begin(b) < place_begin(a) && a->ahead > 0)
                result.ahead = 0;
        result.origin = origin_meet(a->origin, b->origin);
        result.indexed |= b->indexed || apart != 0; /* an iteration of a loop */
        result.stride_bytes = common_step(
            types, a->type, common_step(types, a->type, a->stride_bytes, b->stride_bytes),
            apart);
        if (place_in_frame(a) && !a->indexed && b->offset < a->offset)
                result.offset = b->offset;
        if (apart == 0 || place_in_frame(a) || a->kind == PLACE_ADDRESS)
                return result;
        return a->kind == PLACE_POINTER && repeats(types, a, apart) ? result
                                                                    : place_unknown;
}

struct place_value place_add_constant(const struct place_value *value, int64_t constant)
{
        struct place_value result = *value;

        if (value->kind == PLACE_UNREACHED)
                return *value;
        if (value->kind == PLACE_UNKNOWN || is_any_number(value))
                return constant > INT32_MAX || constant < INT32_MIN
                           ? *value
                           : with_ahead(value, value->ahead + constant);
        if (value->kind == PLACE_TABLE_WORD && constant != 0)
                return place_unknown;
        result.offset = (int64_t)((uint64_t)value->offset + (uint64_t)constant);
        if (value->kind != PLACE_NUMBER)
                return result;
        struct place_value sum = place_number(value->stride_bytes, result.offset);

        return with_begin(&sum, result.offset + value->ahead);
}

/* Whether the bits of CONSTANT are zero in every value of VALUE. */
static bool has_room(const struct place_value *value, uint64_t constant)
{
        uint64_t known = value->stride_bytes & (0 - value->stride_bytes);

        return value->kind == PLACE_NUMBER && ((uint64_t)value->offset & constant) == 0 &&
               (known == 0 || constant < known);
}

struct place_value place_or(const struct place_value *value, int64_t constant)
{
        if (!place_is_number(value) || constant < 0 || constant > INT32_MAX)
                return place_unknown;
        if (has_room(value, (uint64_t)constant))
                return place_add_constant(value, constant);
        int64_t begin = begin_of(value);

        return with_begin(&place_unknown, (begin > 0 ? begin : 0) + constant);
}

struct place_value place_half(const struct place_value *value, int64_t constant)
{
        if (!place_is_number(value))
                return place_any_number;
        return constant > INT32_MAX || constant < INT32_MIN
                   ? place_any_number
                   : with_begin(&place_any_number, begin_of(value) + constant);
}

int64_t place_begin(const struct place_value *place)
{
        return (int64_t)((uint64_t)place->offset + (uint64_t)place->ahead);
}

/* VALUE, an address, plus the number INDEX. */
static struct place_value add_index(const struct types *types,
                                    const struct place_value *value,
                                    const struct place_value *index)
{
        struct place_value result = place_add_constant(value, remainder_of(index));
        uint64_t stride = modulus(index);

        if (stride == 0)
                return result;
        result.indexed = true;
        result.unknown_index |= stride == 1;
        result = with_ahead(&result, result.ahead + index->ahead);
        if (value->kind == PLACE_POINTER && stride == 1) { /* an unknown number */
                result.guessed |= !repeats(types, &result, stride);
                return result;
        }
        result.stride_bytes =
            common_step(types, value->type, value->stride_bytes, stride);
        return result;
}

static bool is_thread_pointer(const struct place_value *value)
{
        return value->kind == PLACE_THREAD && value->offset == 0 && !value->indexed;
}

struct place_value place_add(const struct types *types, const struct place_value *a,
                             const struct place_value *b, uint64_t scale)
{
        if (a->kind == PLACE_UNREACHED || b->kind == PLACE_UNREACHED)
                return place_unreached;
        /* An offset from the thread pointer leads to a known place. */
        if (is_thread_pointer(a) && place_in_thread(b) && scale == 1)
                return *b;
        if (is_thread_pointer(b) && place_in_thread(a) && scale == 1)
                return *a;
        if (!place_is_number(b)) {
                const struct place_value *swapped = a;

                if (scale != 1 || !place_is_number(a))
                        return place_unknown;
                a = b;
                b = swapped;
        }
        struct place_value index = place_multiply(b, (int64_t)scale);

        if (place_is_number(a)) {
                struct place_value sum =
                    place_number(common_factor(modulus(a), modulus(&index)),
                                 remainder_of(a) + remainder_of(&index));

                return with_begin(&sum, begin_of(a) + begin_of(&index));
        }
        return a->kind == PLACE_RESULT || a->kind == PLACE_TABLE_WORD
                   ? place_unknown
                   : add_index(types, a, &index);
}

struct place_value place_subtract(const struct types *types, const struct place_value *a,
                                  const struct place_value *b)
{
        struct place_value negative = place_number(modulus(b), -remainder_of(b));

        negative = with_begin(&negative, -begin_of(b));
        return b->kind != PLACE_NUMBER || is_any_number(b) || place_in_frame(a)
                   ? place_unknown
                   : place_add(types, a, &negative, 1);
}

/* Whether the index of VALUE begins outside of the pointer's target. An unknown number
 * minus one does not count as an index before an array. */
static bool is_shifted(const struct types *types, const struct place_value *value)
{
        int64_t begin = place_begin(value);

        if (type_open_ended(types, value->type))
                return false;
        return begin < 0 ? value->offset < 0
                         : (uint64_t)begin >= type_size(types, value->type);
}

struct place_value place_settled(const struct types *types,
                                 const struct place_value *value, uint64_t access_bytes)
{
        struct place_value settled = *value;
        uint64_t found;

        if (value->kind != PLACE_POINTER || value->guessed)
                return settled;
        if (value->unknown_index && !repeats(types, value, 1)) {
                settled.guessed = true; /* the bytes are elsewhere */
                return settled;
        }
        if (value->stride_bytes == 0)
                return settled;
        enum index_outcome outcome = type_indexed(
            types, value->type, value->offset, value->stride_bytes, access_bytes, &found);

        /* The offset may lie in the array that the index counts. */
        if (outcome == INDEX_OPEN && value->ahead != 0)
                outcome = type_indexed(types, value->type, place_begin(value),
                                       value->stride_bytes, access_bytes, &found);
        settled.strided = true;
        settled.guessed = outcome != INDEX_FOUND;
        settled.shifted = is_shifted(types, value);
        if (outcome != INDEX_OPEN)
                settled.offset = (int64_t)found;
        return settled;
}

struct place_value place_guess(const struct types *types, const struct place_value *value,
                               uint64_t access_bytes)
{
        struct place_value guess = place_settled(types, value, access_bytes);
        bool is_open = guess.strided && guess.guessed && guess.offset == value->offset;

        if (is_open && place_begin(value) >= 0) {
                guess.offset = place_begin(value);
                guess.ahead = 0;
        }
        return guess;
}

uint64_t place_offset(const struct types *types, const struct place_value *place)
{
        const struct type *type = &types->items[place->type];
        bool repeated =
            place->indexed || (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION);

        if (!repeated || type->size_bytes == 0 || type->size_bytes > INT64_MAX ||
            type_open_ended(types, place->type))
                return (uint64_t)place->offset;
        int64_t rest = place->offset % (int64_t)type->size_bytes;

        return (uint64_t)(rest < 0 ? rest + (int64_t)type->size_bytes : rest);
}

bool place_same(const struct place_value *a, const struct place_value *b)
{
        return a->kind == b->kind && a->type == b->type && a->offset == b->offset &&
               a->indexed == b->indexed && a->unknown_index == b->unknown_index &&
               a->guessed == b->guessed && a->stride_bytes == b->stride_bytes &&
               a->ahead == b->ahead && a->origin == b->origin;
}
