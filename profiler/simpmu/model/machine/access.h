/* SPDX-License-Identifier: MIT */
/* The hot path of the model: one load or store that missed the filters. Inline: the
 * caller's constants (the kind of access, addresses of the machine and of the hot
 * state) then fold into it. */
#ifndef SIMPMU_MODEL_ACCESS_H
#define SIMPMU_MODEL_ACCESS_H

#include "kernel_time.h"
#include "machine.h"
#include "miss.h"

#define HOT_PATH static inline __attribute__((always_inline))

/* The part of the model that a run's accesses need. COMMON: L1 has the common
 * geometry, no prefetcher is on, branches are not followed, and loads are sampled by
 * count. GENERAL: everything else. CACHES: caches only; no access waits for a value. */
enum access_mode { ACCESS_IN_GENERAL, ACCESS_IN_COMMON, ACCESS_OF_CACHES };

static inline enum access_mode access_mode_of(const struct machine *machine)
{
        const struct simpmu_params *params = &machine->params;

        if (params->l1d_bytes != L1D_COMMON_SETS * L1D_COMMON_WAYS * LINE_BYTES ||
            params->l1d_ways != L1D_COMMON_WAYS || params->l1d_hashed > 0 ||
            machine->prefetch != 0 || machine->code != NULL || machine->samples_stalls)
                return ACCESS_IN_GENERAL;
        return machine->one_load_waits ? ACCESS_OF_CACHES : ACCESS_IN_COMMON;
}

/* One access: the few values that every function needs. */
struct access {
        const struct access_site *site;
        enum access_kind kind;
        enum access_mode mode;
        uint64_t address;
        uint64_t now;    /* when it issues */
        uint64_t start;  /* when its address is known */
        uint64_t stores; /* that have issued with it */
};

/* Where a load has found its line. */
struct found {
        uint64_t arrival; /* when it can have its value */
        uint64_t ready;   /* the same, after a store that the value comes from */
        enum simpmu_level level;
        enum tlb_outcome translation;
        enum line_fill fill;
        bool unforwarded; /* a store wrote only some of its bytes */
        bool aliased;     /* a store to another page seemed to have it */
};

/* A rare path takes the address of such a copy, which keeps the original in registers
 * until then. Passing by value is slower: the host would copy the struct by vectors
 * right after member-wise writes, and a store-forwarding stall follows. */
HOT_PATH struct access copy_of_access(const struct access *access)
{
        return (struct access){access->site,    access->kind, access->mode,
                               access->address, access->now,  access->start,
                               access->stores};
}

HOT_PATH struct found copy_of_found(const struct found *found)
{
        return (struct found){found->arrival,     found->ready, found->level,
                              found->translation, found->fill,  found->unforwarded,
                              found->aliased};
}

/* Tests that the mode decides at compile time in most modes. */

HOT_PATH bool mode_prefetches(const struct machine *machine, enum access_mode mode)
{
        return mode == ACCESS_IN_GENERAL && machine->prefetch != 0;
}

HOT_PATH bool mode_samples_stalls(const struct machine *machine, enum access_mode mode)
{
        return mode == ACCESS_IN_GENERAL && machine->samples_stalls;
}

HOT_PATH bool mode_one_load_waits(const struct machine *machine, enum access_mode mode)
{
        return mode == ACCESS_IN_GENERAL ? machine->one_load_waits
                                         : mode == ACCESS_OF_CACHES;
}

/* ---- values stored before they are known ---- */

HOT_PATH struct stored *stored_at(struct sim_thread *thread, uint64_t address)
{
        return &thread->stored_word[(address >> 3) & (EARLY_WORDS - 1)];
}

/* Loads of the word have it from the store buffer, and need not wait for its line. */
HOT_PATH void store_before_line(struct sim_thread *thread, const struct l1d_way *way,
                                const struct access *access)
{
        if (__builtin_expect(way->arrival > access->now, 0))
                *stored_at(thread, access->address) =
                    (struct stored){access->address >> 3, way->arrival};
}

/* How long the value takes to a load at ADDRESS from a store of FORM at FROM. */
HOT_PATH uint64_t forward_latency(const struct machine *machine,
                                  const struct access_site *load, uint64_t address,
                                  uint32_t form, uint64_t from)
{
        const uint16_t smallest_renamed = 4; /* bytes */
        const uint32_t written = form & FORM_VECTOR, read = load->form & FORM_VECTOR;

        if (written == FORM_VECTOR || read == FORM_VECTOR)
                return machine->forward_vector_latency;
        if (machine->renaming == RENAMES_NOTHING || from != address ||
            (load->size_bytes < smallest_renamed &&
             !(load->updates && machine->renaming == RENAMES_GENERAL)))
                return machine->forward_latency;
        if (machine->renaming == RENAMES_GENERAL ||
            (written == read && written != FORM_UNKNOWN))
                return machine->forward_renamed_latency;
        return machine->forward_latency;
}

/* The time from which a load at ADDRESS can have the value last stored there; 0: at
 * once. Dependent instructions wait for it, but the load is not sampled as slow. The
 * latency belongs to the source of the stored value. Sampling it would count it again
 * at every link of a chain through memory. */
HOT_PATH uint64_t after_store(const struct machine *machine, const struct sim_hot *hot,
                              const struct access_site *load, uint64_t address)
{
        const uint32_t i = (uint32_t)(address >> STORED_SHIFT) & (STORED_PLACES - 1);
        const uint32_t form = (uint32_t)(hot->stored_where[i] >> STORED_FORM_SHIFT);
        const uint64_t of_address = (1ull << STORED_FORM_SHIFT) - 1;
        const uint64_t from = hot->stored_where[i] & of_address;

        if (hot->stored_ready[i] == 0 || from >= address + load->size_bytes ||
            address >= from + stored_bytes(form))
                return 0;
        return hot->stored_ready[i] + forward_latency(machine, load, address, form, from);
}

/* Where the latest of the stores is noted that a load needs some bytes of and cannot get
 * all from; RECENT_STORES: there is none. */
static inline uint32_t store_of_a_part(const struct sim_hot *hot,
                                       const struct access *access)
{
        const uint64_t end = access->address + access->site->size_bytes;
        uint32_t latest = RECENT_STORES;

        for (uint64_t word = access->address >> 3; word <= (end - 1) >> 3; word++) {
                const uint32_t place = recent_store_place(word);
                const uint64_t note = hot->recent_note[place];
                uint64_t from = note >> RECENT_SIZE_BITS;
                uint64_t to = recent_store_end(note);
                bool overlaps = note != 0 && from < end && access->address < to;
                bool forwards = from <= access->address && end <= to;
                if (overlaps && !forwards &&
                    (latest == RECENT_STORES ||
                     hot->recent_number[place] > hot->recent_number[latest]))
                        latest = place;
        }
        return latest;
}

/* The time at which a load can have its value when a buffered store wrote only some of
 * its bytes. The load waits until the store has left the buffer, after all earlier
 * instructions have retired. The model assumes that the current retirement delay also
 * delayed the store, and that later stalls preceded it. 0: there is no such store. A
 * store long past is forgotten. */
static __attribute__((noinline)) uint64_t after_parts(const struct machine *machine,
                                                      struct sim_hot *hot,
                                                      const struct sim_thread *thread,
                                                      const struct access *access)
{
        const uint32_t store = store_of_a_part(hot, access);
        uint64_t complete = thread->activity.covers[ACTIVITY_LDM].until;

        if (store == RECENT_STORES)
                return 0;
        uint64_t issued = hot->recent_number[store] + thread->stall;
        for (uint32_t id = FIRST_REGISTER; id < FIRST_SLOT; id++)
                complete = later(complete, hot->ready[id]);
        if (complete > access->now)
                issued += complete - access->now;
        if (issued + machine->unforwarded_cost > access->now + machine->l1d_latency)
                return issued + machine->unforwarded_cost;
        hot->recent_note[store] = 0;
        return 0;
}

/* The low address bits of the store noted in PLACE overlap with ACCESS, but the store
 * is to another page. */
static inline bool aliases(const struct sim_hot *hot, uint32_t place,
                           const struct access *access)
{
        const uint64_t note = hot->recent_note[place];
        const uint64_t from = note >> RECENT_SIZE_BITS, to = recent_store_end(note);
        const uint64_t low_bits = (1u << ALIAS_BITS) - 1;
        const uint64_t size_bytes = access->site->size_bytes;

        if (note == 0 || (from < access->address + size_bytes && access->address < to))
                return false;
        return ((from - access->address) & low_bits) < size_bytes ||
               ((access->address - from) & low_bits) < to - from;
}

/* The time at which a load can have its value when it aliases with a buffered store.
 * The core first forwards from the wrong store, and repeats the load when it compares
 * the whole address. 0: there is no such store. */
static __attribute__((noinline)) uint64_t after_alias(const struct machine *machine,
                                                      const struct sim_hot *hot,
                                                      const struct sim_thread *thread,
                                                      const struct access *access)
{
        const uint64_t end = access->address + access->site->size_bytes;
        /* A store is in the buffer for about as long as a store that cannot be
         * forwarded. */
        const uint64_t leaves = machine->unforwarded_cost + thread->stall;

        for (uint64_t word = access->address >> 3; word <= (end - 1) >> 3; word++) {
                const uint32_t place = recent_store_place(word);
                if (aliases(hot, place, access) &&
                    hot->recent_number[place] + leaves > access->now)
                        return access->start + machine->l1d_latency + machine->alias_cost;
        }
        return 0;
}

/* How many of the last L1 misses were of the set of miss I; 0: so were earlier ones. */
static inline uint32_t misses_of_set(const struct core *core, uint32_t i)
{
        uint32_t misses = 0;

        for (uint32_t k = 0; k < MISSED_SETS; k++)
                if (core->missed_sets[k] == core->missed_sets[i]) {
                        if (k < i)
                                return 0;
                        misses++;
                }
        return misses;
}

/* The number of crowded sets: sets with several of the last L1 misses, and together with
 * fewer ways than such misses. 0 if ADDRESS is in none of them. */
static inline uint32_t few_sets_of(const struct core *core, uint64_t address)
{
        const uint32_t own =
            cache_place_of(&core->l1d.cache, address >> LINE_SHIFT).index;
        const uint32_t ways = (uint32_t)__builtin_popcount(core->l1d.cache.all_ways);
        uint32_t sets = 0, misses = 0, of_own = 0;

        for (uint32_t i = 0; i < MISSED_SETS; i++)
                of_own += core->missed_sets[i] == own;
        if (core->misses < MISSED_SETS || of_own < 2)
                return 0;
        for (uint32_t i = 0; i < MISSED_SETS; i++) {
                const uint32_t of_set = misses_of_set(core, i);
                sets += of_set > 1;
                misses += of_set > 1 ? of_set : 0;
        }
        return sets * ways < misses ? sets : 0;
}

static __attribute__((noinline)) void *sample_store(struct machine *machine,
                                                    struct sim_thread *thread,
                                                    const struct access *access,
                                                    const struct found *found)
{
        if (machine->on_store == NULL || machine->samples_stalls ||
            !sampler_counts(&thread->store_sampler))
                return NULL;
        const struct sim_sample sample = {
            .site = access->site,
            .address = access->address,
            .time_slots = access->start,
            .latency_slots = found->arrival - access->start,
            .level = found->level,
            .translation = found->translation,
            .few_sets = found->level > SIMPMU_LEVEL_LFB
                            ? few_sets_of(thread->core, access->address)
                            : 0,
            .watch = watch_sample(&machine->watch, thread->core, access->address,
                                  access_used_bytes(access->site), found->fill),
            .of_store = true,
        };
        return machine->on_store(&sample);
}

/* A store, or an instruction that loads and stores, whose line is there at COMPLETION,
 * from LEVEL. The latter is a load to the sampler. */
HOT_PATH void hold_store(struct machine *machine, struct sim_thread *thread,
                         const struct access *access, uint64_t completion,
                         enum simpmu_level level, enum tlb_outcome translation,
                         enum line_fill fill)
{
        void *sampled = NULL;

        if (access->kind == ACCESS_STORE &&
            completion - access->start >= machine->sample_latency) {
                const struct access store = copy_of_access(access);
                const struct found found = {.arrival = completion,
                                            .level = level,
                                            .translation = translation,
                                            .fill = fill};
                sampled = sample_store(machine, thread, &store, &found);
        }
        thread_hold_store(thread, access->now - thread->stall, access->stores, completion,
                          sampled);
}

/* A store to a line that is there or in flight. */
HOT_PATH void hold_hit(struct machine *machine, struct sim_thread *thread,
                       const struct access *access, uint64_t completion,
                       enum simpmu_level level, enum tlb_outcome translation)
{
        if (__builtin_expect(completion > later(access->start, thread->stores.done) +
                                              machine->l1d_latency,
                             0))
                hold_store(machine, thread, access, completion, level, translation,
                           LINE_WAS_THERE);
}

/* ---- results ---- */

/* The load delivers its value at READY, and dependent instructions may wait for it.
 * LATE: later than an L1 hit. */
HOT_PATH void deliver(struct sim_hot *hot, struct sim_thread *thread,
                      const struct access *access, uint64_t ready, bool late)
{
        uint64_t *value = &hot->ready[access->site->slot];

        if (late && access->mode != ACCESS_OF_CACHES) {
                /* Loads that share the last slot, or a store that comes later. */
                *value = later(*value, ready);
                hot->late |= hot_bit(access->site->slot);
        }
        const uint64_t instruction = access->now - thread->stall;
        window_hold(thread, &thread->loads, instruction, access->site->unreached, ready);
        activity_cover(&thread->activity, ACTIVITY_LDM, access->now, ready);
        if (access->mode != ACCESS_OF_CACHES)
                thread->retired = later(thread->retired, ready - instruction);
}

/* When a load, and the instructions before it, have retired, in the unit of stall.
 * Instructions retire in program order, at most the issue width a cycle, and at the
 * earliest a cycle after issue. */
struct retirement {
        uint64_t before;
        uint64_t with_it; /* no less */
};

HOT_PATH struct retirement retirement_of(const struct machine *machine,
                                         const struct sim_thread *thread,
                                         const struct access *access,
                                         const struct found *found)
{
        const uint64_t instruction = access->now - thread->stall;
        /* The source of its address retires before it, and so do all earlier
         * instructions. For the first instruction after a misprediction, the branch is
         * such a source. */
        const uint64_t issued = instruction == thread->refilled
                                    ? 0
                                    : later(access->start - instruction,
                                            thread->stall + machine->slots_per_cycle);
        const uint64_t before = later(thread->retired, issued);

        return (struct retirement){before, later(before, found->ready - instruction)};
}

HOT_PATH void take_sample_of(struct machine *machine, struct core *core,
                             const struct access *access, const struct found *found,
                             uint64_t retire, uint64_t stall)
{
        struct sim_sample sample = {
            .site = access->site,
            .address = access->address,
            .time_slots = access->start,
            .latency_slots = found->arrival - access->start,
            .retire_slots = retire,
            .stall_slots = stall,
            .level = found->level,
            .translation = found->translation,
            .unforwarded = found->unforwarded,
            .aliased = found->aliased,
            .few_sets =
                found->level > SIMPMU_LEVEL_L1 ? few_sets_of(core, access->address) : 0,
            .watch = watch_sample(&machine->watch, core, access->address,
                                  access_used_bytes(access->site), found->fill),
        };
        machine->on_sample(&sample);
}

/* A load that completes later than all earlier loads stalls retirement for the
 * difference. A timer sample finds the program at the load during that time and in the
 * load's own retirement slot. */
static __attribute__((noinline)) void sample_stall(struct machine *machine,
                                                   struct sim_thread *thread,
                                                   const struct access *access,
                                                   const struct found *found)
{
        const struct retirement retirement =
            retirement_of(machine, thread, access, found);
        const uint64_t stall = retirement.with_it - retirement.before;

        thread->retired = retirement.with_it;
        uint64_t samples = sampler_passes(&thread->sampler, stall + 1);
        if (samples > 0)
                take_sample_of(machine, thread->core, access, found, stall,
                               samples * thread->sampler.period);
}

/* The same time of a load that was chosen by its number. */
static __attribute__((noinline)) void sample_load(struct machine *machine,
                                                  struct sim_thread *thread,
                                                  const struct access *access,
                                                  const struct found *found)
{
        const struct retirement retirement =
            retirement_of(machine, thread, access, found);

        /* Also a hit of L1, which deliver is not told of: later hits in its shadow hold
         * up nothing. */
        thread->retired = retirement.with_it;
        take_sample_of(machine, thread->core, access, found,
                       retirement.with_it - retirement.before, 0);
}

/* Call this before the load is delivered: thread->retired is then the retirement time
   of the instructions before it. */
HOT_PATH void sample(struct machine *machine, struct sim_thread *thread,
                     const struct access *access, const struct found *found)
{
        const bool stalls = mode_samples_stalls(machine, access->mode);

        if (__builtin_expect(!stalls, 1) &&
            (found->arrival - access->start < machine->sample_latency ||
             !sampler_counts(&thread->sampler)))
                return;
        const struct access load = copy_of_access(access);
        const struct found of_load = copy_of_found(found);
        if (stalls)
                sample_stall(machine, thread, &load, &of_load);
        else
                sample_load(machine, thread, &load, &of_load);
}

HOT_PATH void finish_load(struct machine *machine, struct sim_hot *hot,
                          struct sim_thread *thread, const struct access *access,
                          struct found *found)
{
        thread->counters.loads_at[found->level]++;
        if (__builtin_expect(mode_samples_stalls(machine, access->mode), 0)) {
                const struct access load = copy_of_access(access);
                uint64_t parts = after_parts(machine, hot, thread, &load);
                found->unforwarded = parts > found->ready;
                found->ready = later(found->ready, after_store(machine, hot, access->site,
                                                               access->address));
                found->ready = later(found->ready, parts);
                found->arrival = later(found->arrival, parts);
        }
        sample(machine, thread, access, found);
        /* The delays of the dependent instructions contain the latency of L1 itself. */
        if (found->ready > access->now + machine->l1d_latency)
                deliver(hot, thread, access, found->ready,
                        found->ready > access->start + machine->l1d_latency);
}

/* ---- one line ---- */

/* The word that is loaded comes from the store buffer, where it waits for its line. */
HOT_PATH bool is_forwarded(struct sim_thread *thread, const struct access *access,
                           const struct l1d_way *way)
{
        const struct stored *word = stored_at(thread, access->address);

        return word->where == access->address >> 3 && word->line_arrival == way->arrival;
}

/* A load of a line that has been requested and is not there at the thread's clock. */
HOT_PATH void wait_for_line(struct sim_thread *thread, const struct access *access,
                            struct cache_set *set, uint32_t bit,
                            const struct l1d_way *way, struct found *found)
{
        /* Else it is there by then. */
        if (way->arrival > access->start && !is_forwarded(thread, access, way)) {
                found->level = SIMPMU_LEVEL_LFB;
                found->arrival = later(found->arrival, way->arrival);
                if ((set->mark & bit) != 0) {
                        set->mark &= ~bit;
                        thread->counters.pending_slots += way->arrival - access->start;
                        activity_cover(&thread->activity, ACTIVITY_L1D, access->start,
                                       way->arrival);
                }
        }
        found->ready = found->arrival;
}

HOT_PATH void used_first(struct machine *machine, struct sim_hot *hot,
                         struct sim_thread *thread, const struct access *access,
                         uint64_t line, uint64_t now, bool beyond_l2)
{
        const struct first_use use = {
            .line = line,
            .now = now,
            .load_ip = access->kind == ACCESS_STORE ? 0 : access->site->ip,
            .address = access->address,
            .beyond_l2 = beyond_l2,
        };

        prefetch_after(machine, hot, thread, &use);
}

/* The bytes of ACCESS in LINE, which is watched, are used. */
static __attribute__((noinline)) void
use_watched(struct machine *machine, struct sim_hot *hot, const struct sim_thread *thread,
            const struct access *access, uint64_t line)
{
        const uint64_t from = later(access->address, line << LINE_SHIFT);

        filter_set_watched(hot, line, true);
        watch_use(&machine->watch, thread->core, from,
                  (uint32_t)(access->address + access_used_bytes(access->site) - from));
}

/* A load, or an instruction that loads and stores, waits for a line of another core, or
 * of another node's if FAR. */
static inline void count_wait_for_core(struct sim_thread *thread, uint64_t begin,
                                       uint64_t end, bool far)
{
        thread->counters.pending_slots += end - begin;
        activity_cover(&thread->activity, ACTIVITY_L1D, begin, end);
        activity_cover(&thread->activity, ACTIVITY_L2, begin, end);
        if (far)
                activity_cover(&thread->activity, ACTIVITY_L3, begin, end);
}

/* Other cores have taken the line meanwhile: requests it again. It passes through each
 * of them that has asked, and back. The time for which it has been away counts. */
static inline void ask_again(struct machine *machine, struct sim_thread *thread,
                             const struct access *access, struct l1d_way *way,
                             const struct contest_loss *loss, struct found *found)
{
        uint64_t near_ones = loss->others & thread->core->node->cores;
        uint32_t near = (uint32_t)__builtin_popcountll(near_ones);
        uint32_t far = (uint32_t)__builtin_popcountll(loss->others ^ near_ones);
        uint64_t back =
            far > near ? machine->remote_cache_latency : machine->hitm_latency;
        uint64_t away =
            near * machine->hitm_latency + far * machine->remote_cache_latency;
        if (loss->requests < near + far)
                away = away * loss->requests / (near + far);
        uint64_t latency = back + (away > loss->since ? away - loss->since : 0);
        uint64_t begin = places_find(&thread->fill_buffers, access->start, latency);

        miss_hold_buffer(thread, access->start, begin, begin + latency);
        *way = (struct l1d_way){begin + latency};
        *found = (struct found){.arrival = begin + latency,
                                .ready = begin + latency,
                                .level = far > near ? SIMPMU_LEVEL_REMOTE_HITM
                                                    : SIMPMU_LEVEL_HITM};
        if (access->kind != ACCESS_STORE)
                count_wait_for_core(thread, begin, begin + latency, far > near);
        else
                hold_store(machine, thread, access, begin + latency, found->level,
                           found->translation, LINE_WAS_THERE);
}

/* LINE is in L1 or in flight to it, and other cores fight for it: the filters must not
 * know it. */
static __attribute__((noinline)) void
hit_contested_line(struct machine *machine, struct sim_thread *thread,
                   const struct access *access, uint64_t line, struct cache_set *set,
                   uint32_t bit, struct l1d_way *way, struct found *found)
{
        const struct contest_access use = {
            .core = thread->core->number,
            .line = line,
            .time = access->start,
            .arrival = way->arrival,
            .hold = machine->hitm_hold,
            .writes = access->kind != ACCESS_LOAD || access->site->locked,
        };
        struct contest_loss loss;
        enum contest_outcome outcome =
            contest_use(&machine->contests, &thread->core->contenders, &use, &loss);

        set->recent |= bit;
        if (outcome == CONTEST_LOSES) {
                ask_again(machine, thread, access, way, &loss, found);
                if (access->kind != ACCESS_STORE)
                        contest_wait(&machine->contests, &thread->core->contenders, &use,
                                     found->arrival - access->start);
        } else if (access->kind != ACCESS_STORE && way->arrival > access->now)
                wait_for_line(thread, access, set, bit, way, found);
        if (access->kind != ACCESS_LOAD) {
                set->dirty |= bit;
                store_before_line(thread, way, access);
        }
        if (outcome == CONTEST_IS_OVER)
                set->contested &= ~bit;
}

/* The thread's core writes a line that it has clean. */
static inline void take_ownership(struct machine *machine, struct sim_hot *hot,
                                  struct sim_thread *thread, const struct access *access,
                                  uint64_t line, struct cache_set *set, uint32_t bit,
                                  struct found *found)
{
        bool contested = false;
        uint64_t wait =
            miss_take_ownership(machine, thread, line, access->start, &contested);

        if (__builtin_expect(wait == 0, 1))
                return;
        if (contested) {
                set->contested |= bit;
                filter_drop(hot, line);
        }
        hold_store(machine, thread, access, access->start + wait,
                   wait == machine->l3_latency ? SIMPMU_LEVEL_FORWARD
                                               : SIMPMU_LEVEL_REMOTE_CACHE,
                   found->translation, LINE_WAS_THERE);
        if (access->kind == ACCESS_UPDATE) {
                count_wait_for_core(thread, access->start, access->start + wait,
                                    wait != machine->l3_latency);
                found->level = SIMPMU_LEVEL_L3;
                found->arrival = later(found->arrival, access->start + wait);
                found->ready = found->arrival;
        }
}

/* LINE is in L1 or in flight to it. */
HOT_PATH void hit_line(struct machine *machine, struct sim_hot *hot,
                       struct sim_thread *thread, const struct l1d *l1d,
                       const struct access *access, uint64_t line,
                       const struct cache_place *place, uint32_t bit, struct found *found)
{
        struct l1d_way *way = l1d_way_of(l1d, place, bit);
        bool of_prefetch = mode_prefetches(machine, access->mode) &&
                           access->kind == ACCESS_LOAD && (place->set->mark & bit) != 0;

        if (access->kind != ACCESS_LOAD && machine->cores_used > 1 &&
            (place->set->dirty & bit) == 0)
                take_ownership(machine, hot, thread, access, line, place->set, bit,
                               found);
        if (__builtin_expect((place->set->contested & bit) != 0, 0)) {
                const struct access copy = copy_of_access(access);
                struct found contested = copy_of_found(found);
                hit_contested_line(machine, thread, &copy, line, place->set, bit, way,
                                   &contested);
                *found = copy_of_found(&contested);
                return;
        }
        const uint64_t watched =
            (place->set->contested & l1d_watched(bit)) != 0 ? FILTER_WATCHED : 0;
        place->set->recent |= bit;
        if (access->kind != ACCESS_LOAD) {
                place->set->dirty |= bit;
                filter_let_stores_pass(hot, line, watched);
        }
        if (access->kind == ACCESS_STORE) {
                bool in_flight = way->arrival > found->arrival;
                hold_hit(
                    machine, thread, access, in_flight ? way->arrival : found->arrival,
                    in_flight ? SIMPMU_LEVEL_LFB : SIMPMU_LEVEL_L1, found->translation);
        } else {
                if (way->arrival > access->now)
                        wait_for_line(thread, access, place->set, bit, way, found);
                if (way->arrival <= access->now ||
                    mode_one_load_waits(machine, access->mode))
                        filter_let_loads_pass(hot, line, watched);
        }
        if (access->kind != ACCESS_LOAD)
                store_before_line(thread, way, access);
        if (__builtin_expect(of_prefetch, 0)) {
                found->fill = (place->set->mark & l1d_from_beyond(bit)) != 0
                                  ? LINE_FROM_BEYOND
                                  : LINE_FROM_L2;
                place->set->mark &= ~(bit | l1d_from_beyond(bit));
                used_first(machine, hot, thread, access, line, access->now, false);
        }
}

/* LINE is not in L1: brings it there. START: with the translation of the address. */
HOT_PATH void miss_line(struct machine *machine, struct sim_hot *hot,
                        struct sim_thread *thread, const struct l1d *l1d,
                        const struct access *access, uint64_t line,
                        const struct cache_place *place, uint64_t start,
                        struct found *found)
{
        uint32_t bit = cache_victim_bit(&l1d->cache, place->set);

        thread_fold(hot, thread, access->now);
        struct miss miss =
            miss_to_l1(machine, hot, thread, l1d, line, place, bit, start, access->now,
                       access->kind != ACCESS_LOAD || access->site->locked,
                       access->kind != ACCESS_STORE);
        if (__builtin_expect(miss.contested, 0))
                place->set->contested |= bit;
        if (mode_one_load_waits(machine, access->mode) && access->kind != ACCESS_STORE &&
            !miss.contested)
                filter_let_loads_pass(hot, line, 0);
        found->fill = miss.from_beyond ? LINE_FROM_BEYOND : LINE_FROM_L2;
        if (__builtin_expect((place->set->contested & l1d_watched(bit)) != 0, 0))
                use_watched(machine, hot, thread, access, line);
        found->level = miss.level;
        found->arrival = miss.completion;
        found->ready = miss.completion;
        if (access->kind != ACCESS_LOAD) {
                place->set->dirty |= bit;
                store_before_line(thread, l1d_way_of(l1d, place, bit), access);
        }
        if (access->kind == ACCESS_STORE) {
                place->set->mark |= bit;
                hold_store(machine, thread, access, miss.completion, miss.level,
                           found->translation, found->fill);
        }
        if (__builtin_expect(mode_prefetches(machine, access->mode), 0))
                used_first(machine, hot, thread, access, line, miss.begin,
                           miss.level > SIMPMU_LEVEL_L2);
}

/* The result of an access that hits the DTLB and L1. */
HOT_PATH struct found found_in_l1(const struct machine *machine,
                                  const struct access *access)
{
        uint64_t arrival = access->start + machine->l1d_latency;

        return (struct found){
            .arrival = arrival, .ready = arrival, .level = SIMPMU_LEVEL_L1};
}

/* ---- the whole access ---- */

HOT_PATH struct access access_begin(struct sim_hot *hot, struct sim_thread *thread,
                                    const struct access_site *site, enum access_kind kind,
                                    enum access_mode mode, uint64_t address)
{
        uint64_t instruction = hot->instructions + (uint64_t)(int64_t)site->position;
        struct access access = {
            .site = site, .kind = kind, .mode = mode, .address = address};

        access.stores =
            hot->stores + (uint64_t)(int64_t)site->stores_before + (kind != ACCESS_LOAD);
        thread_retire(hot, thread, instruction);
        thread_issue_stores(hot, thread, instruction, access.stores);
        access.now = instruction + thread->stall;
        access.start = mode == ACCESS_OF_CACHES
                           ? access.now
                           : hot_waits(hot, &site->address, access.now);
        return access;
}

/* The page of the access is not in the TLBs, or it may be mapped without permission to
 * write. The access continues when the kernel has handled the page's first touch. */
static inline void touch_page(struct machine *machine, struct sim_hot *hot,
                              struct sim_thread *thread, struct access *access,
                              uint64_t page)
{
        const bool writes = access->kind != ACCESS_LOAD || access->site->rewrites;
        uint64_t wait = kernel_touch(machine, hot, thread, page, writes, access->start);

        if (__builtin_expect(wait == 0, 1))
                return;
        kernel_sample_fault(machine, access->site,
                            later(access->address, page << PAGE_SHIFT), access->start,
                            wait);
        thread_serve(thread, wait);
        stall_to_hot(hot, thread);
        access->now += wait;
        access->start += wait;
}

/* The general case: several lines, or a page that the DTLB does not let pass. An access
 * that crosses line borders is one to the counters, which waits for the last line. */
static __attribute__((noinline)) void access_slowly(struct machine *machine,
                                                    struct sim_hot *hot,
                                                    struct sim_thread *thread,
                                                    const struct access *given)
{
        struct access access = copy_of_access(given);
        const struct access_site *site = access.site;
        const uint64_t address = access.address;
        const struct l1d *l1d = &thread->core->l1d;
        uint64_t last = (address + site->size_bytes - 1) >> LINE_SHIFT;
        struct found found = {.level = SIMPMU_LEVEL_L1};

        access.mode = ACCESS_IN_GENERAL;
        for (uint64_t line = address >> LINE_SHIFT; line <= last; line++) {
                enum tlb_outcome translation =
                    machine_translate(machine, thread->core, line >> PAGE_LINE_SHIFT);
                if (translation > TLB_STLB_HIT || access.kind != ACCESS_LOAD)
                        touch_page(machine, hot, thread, &access,
                                   line >> PAGE_LINE_SHIFT);
                struct found one = found_in_l1(machine, &access);
                one.translation = translation;
                uint64_t walk = tlb_latency(machine, thread->core, translation,
                                            access.start, access.kind != ACCESS_STORE);
                struct cache_place place = cache_place_of(&l1d->cache, line);
                uint32_t bit = cache_find(&l1d->cache, &place);
                one.arrival += walk;
                one.ready += walk;
                if (line > address >> LINE_SHIFT &&
                    (place.set->contested & l1d_watched(bit)) != 0)
                        use_watched(machine, hot, thread, &access, line);
                if (bit != 0)
                        hit_line(machine, hot, thread, l1d, &access, line, &place, bit,
                                 &one);
                else
                        miss_line(machine, hot, thread, l1d, &access, line, &place,
                                  access.start + walk, &one);
                if (translation > found.translation)
                        found.translation = translation;
                found.level = one.arrival > found.arrival ? one.level : found.level;
                found.arrival = later(found.arrival, one.arrival);
                found.ready = later(found.ready, one.ready);
        }
        if (last > address >> LINE_SHIFT) {
                thread->counters.split_loads += access.kind != ACCESS_STORE;
                thread->counters.split_stores += access.kind != ACCESS_LOAD;
        }
        thread->counters.translated_loads[found.translation] +=
            access.kind != ACCESS_STORE;
        if (access.kind != ACCESS_STORE)
                finish_load(machine, hot, thread, &access, &found);
}

/* An access to one line, translated after WALK. */
HOT_PATH void access_line(struct machine *machine, struct sim_hot *hot,
                          struct sim_thread *thread, const struct l1d *l1d,
                          const struct access *access, uint64_t line,
                          const struct cache_place *place, uint32_t bit, uint64_t walk,
                          enum tlb_outcome translation)
{
        struct found found = found_in_l1(machine, access);

        found.translation = translation;
        if (bit == 0) {
                miss_line(machine, hot, thread, l1d, access, line, place,
                          access->start + walk, &found);
        } else {
                found.arrival += walk;
                found.ready += walk;
                hit_line(machine, hot, thread, l1d, access, line, place, bit, &found);
        }
        if (access->kind != ACCESS_STORE)
                finish_load(machine, hot, thread, access, &found);
}

/* The same for a page that misses the DTLB filter, or that is not for writing. */
static __attribute__((noinline)) void access_page(struct machine *machine,
                                                  struct sim_hot *hot,
                                                  struct sim_thread *thread,
                                                  const struct access *given)
{
        struct access access = copy_of_access(given);
        const uint64_t page = access.address >> PAGE_SHIFT;
        const uint64_t line = access.address >> LINE_SHIFT;
        struct core *core = thread->core;
        enum tlb_outcome translation =
            tlb_lookup(&core->tlb, page, pages_huge(&machine->pages, page));

        if (translation > TLB_STLB_HIT || access.kind != ACCESS_LOAD)
                touch_page(machine, hot, thread, &access, page);
        thread->counters.translated_loads[translation] += access.kind != ACCESS_STORE;
        uint64_t walk = tlb_latency(machine, core, translation, access.start,
                                    access.kind != ACCESS_STORE);
        struct cache_place place = cache_place_of(&core->l1d.cache, line);
        uint32_t bit = cache_find(&core->l1d.cache, &place);
        access_line(machine, hot, thread, &core->l1d, &access, line, &place, bit, walk,
                    translation);
}

/* An access to a watched line in L1. Returns whether it would have passed the filter if
 * the line were not watched. */
static __attribute__((noinline)) bool
hit_watched(struct machine *machine, struct sim_hot *hot, const struct sim_thread *thread,
            const struct access_site *site, uint64_t address)
{
        const uint64_t line = address >> LINE_SHIFT;
        const uint64_t entry = site->kind == ACCESS_LOAD ? *filter_of_loads(hot, line)
                                                         : *filter_of_stores(hot, line);
        const bool applies =
            site->kind == ACCESS_STORE || machine->sample_latency > machine->l1d_latency;

        watch_use(&machine->watch, thread->core, address, access_used_bytes(site));
        return applies && entry == (line << LINE_SHIFT | FILTER_WATCHED) &&
               (address & (LINE_BYTES - 1)) + site->size_bytes <= LINE_BYTES;
}

/* KIND is the site's and MODE the machine's: constants, where the caller knows them. */
HOT_PATH void access_memory(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, const struct access_site *site,
                            enum access_kind kind, enum access_mode mode,
                            uint64_t address)
{
        /* The values that decide the path come first. */
        uint64_t line = address >> LINE_SHIFT;
        const struct l1d common = l1d_as_common(&thread->core->l1d);
        const struct l1d *l1d = mode == ACCESS_IN_GENERAL ? &thread->core->l1d : &common;
        struct cache_place place = cache_place_of(&l1d->cache, line);
        uint32_t bit = cache_find(&l1d->cache, &place);
        bool one_line = (address & (LINE_BYTES - 1)) + site->size_bytes <= LINE_BYTES;
        if (__builtin_expect((place.set->contested & l1d_watched(bit)) != 0, 0) &&
            hit_watched(machine, hot, thread, site, address))
                return;
        struct access access = access_begin(hot, thread, site, kind, mode, address);

        /* A line that is dirty has been written before. */
        bool passes = one_line && tlb_passes(&thread->core->tlb, address >> PAGE_SHIFT);
        if (kind != ACCESS_LOAD && (place.set->dirty & bit) == 0)
                passes = passes && !kernel_write_faults(machine, address >> PAGE_SHIFT);
        if (__builtin_expect(passes, 1)) {
                access_line(machine, hot, thread, l1d, &access, line, &place, bit, 0,
                            TLB_HIT);
                return;
        }
        const struct access copy = copy_of_access(&access);
        if (one_line)
                access_page(machine, hot, thread, &copy);
        else
                access_slowly(machine, hot, thread, &copy);
}

/* A load of SITE from ADDRESS may overlap with a store that wrote only some of its
 * bytes, or alias with a store. The test before the call is conservative. The load has
 * already been modelled without such a store. */
static inline void load_of_parts(struct machine *machine, struct sim_hot *hot,
                                 struct sim_thread *thread,
                                 const struct access_site *site, uint64_t address)
{
        const uint64_t instruction =
            hot->instructions + (uint64_t)(int64_t)site->position;
        struct access access = {.site = site, .kind = ACCESS_LOAD, .address = address};

        thread_retire(hot, thread, instruction);
        access.now = instruction + thread->stall;
        access.start = hot_waits(hot, &site->address, access.now);
        const uint64_t parts = after_parts(machine, hot, thread, &access);
        const uint64_t ready = later(
            parts,
            machine->alias_cost > 0 ? after_alias(machine, hot, thread, &access) : 0);
        if (ready <= access.start + machine->l1d_latency)
                return;
        const struct found found = {.arrival = ready,
                                    .ready = ready,
                                    .level = SIMPMU_LEVEL_L1,
                                    .unforwarded = parts == ready,
                                    .aliased = parts != ready};
        thread->counters.unforwarded_loads += found.unforwarded;
        thread->counters.aliased_loads += found.aliased;
        sample(machine, thread, &access, &found);
        deliver(hot, thread, &access, ready, true);
}

/* The locked instruction of SITE, whose line is there, waits for all before it, and until
 * DRAINED. A sample of that time has level L1. */
static inline void access_lock(struct machine *machine, struct sim_hot *hot,
                               struct sim_thread *thread, const struct access_site *site,
                               uint64_t address, uint64_t drained)
{
        const uint64_t instruction =
            hot->instructions + (uint64_t)(int64_t)site->position;
        thread_retire(hot, thread, instruction);
        const uint64_t before = later(thread->retired, thread->stall);

        thread_serialise(hot, thread, instruction, drained, machine->lock_cost);
        if (machine->one_load_waits)
                return;
        thread->retired = later(before, thread->stall);
        const uint64_t held = thread->retired - before;
        const uint64_t samples = machine->samples_stalls
                                     ? sampler_passes(&thread->sampler, held)
                                     : held >= machine->sample_latency &&
                                           sampler_counts(&thread->sampler) != 0;
        if (samples == 0)
                return;
        const struct sim_sample sample = {
            .site = site,
            .address = address,
            .time_slots = instruction + before,
            .latency_slots = held,
            .retire_slots = held,
            .stall_slots = machine->samples_stalls ? samples * thread->sampler.period : 0,
            .level = SIMPMU_LEVEL_L1,
        };
        machine->on_sample(&sample);
}

/* A load of SITE from ADDRESS may come before a value that was stored there, for all that
 * the test before the call knows. Where loads are not sampled by stalls, it has been
 * modelled without that. */
HOT_PATH void load_after_store(const struct machine *machine, struct sim_hot *hot,
                               struct sim_thread *thread, const struct access_site *site,
                               uint64_t address)
{
        const uint64_t ready = after_store(machine, hot, site, address);
        const uint64_t instruction =
            hot->instructions + (uint64_t)(int64_t)site->position;
        struct access access = {.site = site, .kind = ACCESS_LOAD, .address = address};

        if (ready <= instruction + thread->stall + machine->l1d_latency)
                return;
        thread_retire(hot, thread, instruction);
        access.now = instruction + thread->stall;
        access.start = hot_waits(hot, &site->address, access.now);
        if (ready > access.now + machine->l1d_latency)
                deliver(hot, thread, &access, ready,
                        ready > access.start + machine->l1d_latency);
}

#endif
