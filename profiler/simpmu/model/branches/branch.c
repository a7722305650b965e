/* SPDX-License-Identifier: MIT */
/* See branch.h. */
#include "branch.h"

/* A branch is settled after SETTLED_RUN equal outcomes in a row. Each other outcome
 * then doubles the required run. The history therefore predicts the ends of loops that
 * it can recognise. */
#define SETTLED_RUN         8u
#define SETTLED_RUN_MAXIMUM 16u

#define COUNTER_MAXIMUM    3
#define COUNTER_MINIMUM    (-4)
#define USEFUL_MAXIMUM     3u
#define CONFIDENCE_MAXIMUM 3u
#define TARGET_BITS        4u /* of the history for each target */
#define NO_TABLE           (-1)

/* Bits of the history that each table is found by. */
static const uint32_t direction_bits[BRANCH_TABLES] = {5, 12, 28, 64};
static const uint32_t target_bits[BRANCH_TARGET_TABLES] = {8, 20, 64};

#define WORD_BITS    64u
#define GOLDEN_RATIO 0x9e3779b97f4a7c15u

static uint64_t hash(uint64_t value)
{
        const uint32_t half = 32;

        value *= GOLDEN_RATIO;
        return (value ^ value >> half) * GOLDEN_RATIO;
}

void branch_init(struct branch *branch, uint64_t ip)
{
        *branch = (struct branch){
            .settled = BRANCH_UNSETTLED, .key = hash(ip), .needed = SETTLED_RUN};
}

/* The hash of a branch's key and the last BITS of HISTORY. index_of it is the index in
 * a table, tag_of it the entry's tag. */
static inline uint64_t place_of(uint64_t key, uint64_t history, uint32_t bits)
{
        return ((key + bits) ^ (history & UINT64_MAX >> (WORD_BITS - bits))) *
               GOLDEN_RATIO;
}

/* ENTRIES is a power of two. */
static inline uint32_t index_of(uint64_t place, uint32_t entries)
{
        const uint32_t shift = 53;

        return (uint32_t)(place >> shift) & (entries - 1);
}

/* Zero is the tag of an unused entry. */
static inline uint16_t tag_of(uint64_t place)
{
        const uint32_t shift = 37;

        return (uint16_t)(place >> shift | 1);
}

/* Counts the branch's own run of VALUE; a long one settles it. */
static void run_on(struct branch *branch, uint64_t value)
{
        branch->run = branch->last == value ? branch->run + 1 : 1;
        branch->last = value;
        branch->looked_up += branch->looked_up < BRANCH_NEW;
        if (branch->run >= branch->needed)
                branch->settled = value;
}

static bool stays_settled(struct branch *branch, uint64_t value)
{
        if (branch->settled == value)
                return true;
        branch->settled = BRANCH_UNSETTLED;
        branch->run = 0;
        if (branch->needed < SETTLED_RUN_MAXIMUM)
                branch->needed *= 2;
        return false;
}

/* ---- directions ---- */

static void count(int8_t *counter, bool taken)
{
        if (taken && *counter < COUNTER_MAXIMUM)
                ++*counter;
        else if (!taken && *counter > COUNTER_MINIMUM)
                --*counter;
}

/* The matching table with the longest history predicts, unless its entry is new. The
 * next longest match then predicts. */
struct belief {
        struct branch_counter *entries[BRANCH_TABLES];
        uint16_t tags[BRANCH_TABLES];
        int provider; /* or NO_TABLE */
        bool predicted_by_provider;
        bool predicted_without;
        bool predicted;
};

static int last_of(uint32_t tables)
{
        const int top_bit = 31;

        return tables == 0 ? NO_TABLE : top_bit - __builtin_clz(tables);
}

static inline bool predicted_by(const struct belief *belief, int table,
                                const struct branch *branch)
{
        return (table == NO_TABLE ? branch->counter : belief->entries[table]->counter) >=
               0;
}

static inline void believe(struct belief *belief, struct branch_predictor *predictor,
                           const struct branch *branch)
{
        uint32_t known = 0;

        for (uint32_t i = 0; i < BRANCH_TABLES; i++) {
                uint64_t place =
                    place_of(branch->key, predictor->directions, direction_bits[i]);
                belief->entries[i] =
                    &predictor->tables[i][index_of(place, BRANCH_TABLE_ENTRIES)];
                belief->tags[i] = tag_of(place);
                known |= (uint32_t)(belief->entries[i]->tag == belief->tags[i]) << i;
        }
        belief->provider = last_of(known);
        belief->predicted_by_provider = predicted_by(belief, belief->provider, branch);
        belief->predicted = belief->predicted_by_provider;
        belief->predicted_without = belief->predicted_by_provider;
        if (belief->provider == NO_TABLE)
                return;
        const struct branch_counter *entry = belief->entries[belief->provider];
        bool is_new = (entry->counter == 0 || entry->counter == -1) && entry->useful == 0;
        belief->predicted_without =
            predicted_by(belief, last_of(known & ~(1u << belief->provider)), branch);
        belief->predicted =
            is_new ? belief->predicted_without : belief->predicted_by_provider;
}

/* The case was predicted wrongly: a longer history may tell it from others. */
static void allocate(const struct belief *belief, bool taken)
{
        for (int i = belief->provider + 1; i < (int)BRANCH_TABLES; i++) {
                struct branch_counter *entry = belief->entries[i];
                if (entry->useful == 0) {
                        *entry = (struct branch_counter){.tag = belief->tags[i],
                                                         .counter = taken ? 0 : -1};
                        return;
                }
        }
        for (int i = belief->provider + 1; i < (int)BRANCH_TABLES; i++)
                belief->entries[i]->useful--;
}

static void learn(const struct belief *belief, struct branch *branch, bool taken)
{
        if (belief->provider == NO_TABLE) {
                count(&branch->counter, taken);
                return;
        }
        struct branch_counter *entry = belief->entries[belief->provider];
        if (belief->predicted_by_provider != belief->predicted_without) {
                bool right = belief->predicted_by_provider == taken;
                if (right && entry->useful < USEFUL_MAXIMUM)
                        entry->useful++;
                else if (!right && entry->useful > 0)
                        entry->useful--;
        }
        if (entry->useful == 0)
                count(&branch->counter, taken);
        count(&entry->counter, taken);
}

bool branch_direction(struct branch_predictor *predictor, struct branch *branch,
                      bool taken)
{
        if (branch->settled != BRANCH_UNSETTLED)
                return stays_settled(branch, taken);
        struct belief belief;
        believe(&belief, predictor, branch);
        learn(&belief, branch, taken);
        if (belief.predicted_by_provider != taken)
                allocate(&belief, taken);
        predictor->directions = predictor->directions << 1 | taken;
        run_on(branch, taken);
        return belief.predicted == taken;
}

/* ---- targets ---- */

static void remember(struct branch_predictor *predictor, uint64_t target)
{
        const uint64_t mask = (1u << TARGET_BITS) - 1;
        const uint32_t shift = 40;

        predictor->targets =
            predictor->targets << TARGET_BITS | (hash(target) >> shift & mask);
        predictor->directions = predictor->directions << 1 | (hash(target) >> shift & 1);
}

static void learn_target(struct branch_target *entry, uint64_t target)
{
        if (entry->target == target)
                entry->confidence += entry->confidence < CONFIDENCE_MAXIMUM;
        else if (entry->confidence > 0)
                entry->confidence--;
        else
                entry->target = target;
}

/* Without a matching table, the prediction is the last target. */
static bool look_up_target(struct branch_predictor *predictor, struct branch *branch,
                           uint64_t target)
{
        struct branch_target *entries[BRANCH_TARGET_TABLES];
        uint16_t tags[BRANCH_TARGET_TABLES];
        uint64_t predicted = branch->last;
        int provider = NO_TABLE;

        for (uint32_t i = 0; i < BRANCH_TARGET_TABLES; i++) {
                uint64_t place =
                    place_of(branch->key, predictor->targets, target_bits[i]);
                entries[i] =
                    &predictor->target_tables[i][index_of(place, BRANCH_TARGET_ENTRIES)];
                tags[i] = tag_of(place);
                if (entries[i]->tag != tags[i])
                        continue;
                provider = (int)i;
                predicted = entries[i]->target;
        }
        if (provider != NO_TABLE)
                learn_target(entries[provider], target);
        for (int i = provider + 1; predicted != target && i < (int)BRANCH_TARGET_TABLES;
             i++) {
                if (entries[i]->confidence == 0) {
                        *entries[i] =
                            (struct branch_target){.target = target, .tag = tags[i]};
                        break;
                }
                entries[i]->confidence--;
        }
        return predicted == target;
}

bool branch_target(struct branch_predictor *predictor, struct branch *branch,
                   uint64_t target)
{
        if (branch->settled != BRANCH_UNSETTLED)
                return stays_settled(branch, target);
        bool predicted = look_up_target(predictor, branch, target);
        remember(predictor, target);
        run_on(branch, target);
        return predicted;
}
