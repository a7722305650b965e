/* SPDX-License-Identifier: MIT */
/* See prefetch.h. */
#include "prefetch.h"

#include "kernel_time.h"
#include "miss.h"

#define LINES_AT_A_TIME  2
#define STRIDE_BYTES_MAX 2048
#define PAGE_LINES       (1u << PAGE_LINE_SHIFT)
#define PAGE_END_LINES   4  /* a stream that has come so far leaves the page */
#define WINDOW_LINES     16 /* beyond a stream's ends, that still belong to it */

uint64_t prefetch_wait(const struct core *core, uint64_t line, uint64_t now,
                       enum simpmu_level *level)
{
        const struct l2_request *request = &core->requests[line & (L2_REQUESTS - 1)];

        if (request->line != line || request->arrival <= now)
                return 0;
        *level = request->level;
        return request->arrival - now;
}

/* Returns whether LINE is now in L2 or in flight to it. False if the queue is full,
 * unless the request MAY_WAIT for a place. */
static bool bring_to_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                        uint64_t now, bool may_wait)
{
        struct core *core = thread->core;
        struct cache_place place = cache_place_of(&core->l2, line);
        enum simpmu_level level;

        if (cache_find(&core->l2, &place) != 0)
                return true;
        uint64_t asked = places_find(&core->queue, now, machine->l3_latency);
        if (asked > now && !may_wait)
                return false;
        if (asked > now)
                core->streamer_waits = asked;
        thread->counters.offcore_lines++;
        uint64_t begin = path_take(&core->from_beyond, asked);
        uint64_t latency = miss_in_l2(machine, thread, line, begin, &level);
        place.set->mark |= cache_find(&core->l2, &place);
        asked = places_fit(&core->queue, now, asked, latency, begin + latency);
        uint64_t arrival = later(begin, asked) + latency;
        miss_hold_place(machine, core, asked, arrival);
        core->requests[line & (L2_REQUESTS - 1)] =
            (struct l2_request){line, arrival, level};
        core->last_request = later(core->last_request, arrival);
        return true;
}

/* Requests up to two lines beyond the stream's requested range, in DIRECTION. They
 * wait for places in the queue, but not behind other waiting requests. In that case a
 * later access of the stream requests the lines. Without waiting, places would stay
 * free from the arrival of a line to the next access. Stream speed would then depend
 * on chance timing. */
static void run_ahead(struct machine *machine, struct sim_thread *thread,
                      struct stream *stream, int32_t direction, uint64_t now)
{
        const uint64_t first_line = stream->page << PAGE_LINE_SHIFT;
        const bool on = machine->params.next_page > 0;
        const bool may_wait = thread->core->streamer_waits <= now;
        int32_t front = direction > 0 ? stream->high : stream->low;
        int32_t end = front + direction * (int32_t)machine->params.stream_lines;

        if ((stream->ahead - front) * direction < 0)
                stream->ahead = front;
        for (int i = 0; i < LINES_AT_A_TIME; i++) {
                int32_t next = stream->ahead + direction;
                bool in_page = next >= 0 && next < (int32_t)PAGE_LINES;
                if ((!in_page && !on) || (end - next) * direction < 0 ||
                    !bring_to_l2(machine, thread, first_line + (uint64_t)(int64_t)next,
                                 now, may_wait))
                        return;
                stream->ahead = next;
        }
}

/* The stream that has come to its page's end and runs on into PAGE, if any. */
static struct stream *stream_into(struct core *core, uint64_t page)
{
        for (uint32_t i = 0; i < STREAMS; i++) {
                struct stream *stream = &core->streams[i];
                int32_t direction = (stream->trend > 0) - (stream->trend < 0);
                int32_t step = direction * (int32_t)PAGE_LINES;
                if (step == 0 || stream->page + (uint64_t)(int64_t)direction != page)
                        continue;
                int32_t left =
                    step > 0 ? (int32_t)PAGE_LINES - 1 - stream->high : stream->low;
                if (left >= PAGE_END_LINES)
                        continue;
                stream->page = page;
                stream->last -= step;
                stream->low -= step;
                stream->high -= step;
                stream->ahead -= step;
                return stream;
        }
        return NULL;
}

/* The stream of LINE's page; a new one takes the place of the oldest. */
static struct stream *stream_of(const struct machine *machine, struct core *core,
                                uint64_t line)
{
        uint64_t page = line >> PAGE_LINE_SHIFT;
        struct stream *stream = NULL;

        for (uint32_t i = 0; i < STREAMS; i++) {
                if (core->streams[i].page == page)
                        return &core->streams[i];
        }
        if (machine->params.next_page > 0)
                stream = stream_into(core, page);
        if (stream != NULL)
                return stream;
        stream = &core->streams[core->next_stream++ % STREAMS];
        *stream = (struct stream){.page = page, .last = NO_LINE};
        return stream;
}

/* PLACE lies too far from the requested range to belong to the stream. */
static bool is_apart(const struct stream *stream, int32_t place)
{
        return stream->last == NO_LINE || place > stream->high + WINDOW_LINES ||
               place < stream->low - WINDOW_LINES;
}

/* LINE of the stream's page is used. Returns the stream's direction; 0: it has none
 * yet. Loads execute in any order, so lines within the stream may come in any order. A
 * line beyond an end of the range gives the direction. */
static int32_t stream_moves(struct stream *stream, uint64_t line)
{
        int32_t place = (int32_t)(line & (PAGE_LINES - 1));

        if (place == stream->last)
                return 0;
        if (is_apart(stream, place)) {
                *stream = (struct stream){stream->page, place, place, place, place, 0};
                return 0;
        }
        stream->last = place;
        if (place > stream->high) {
                stream->high = place;
                if (stream->trend <= 0)
                        stream->ahead = place;
                stream->trend = stream->trend > 0 ? 2 : 1;
        } else if (place < stream->low) {
                stream->low = place;
                if (stream->trend >= 0)
                        stream->ahead = place;
                stream->trend = stream->trend < 0 ? -2 : -1;
        }
        return stream->trend / 2;
}

/* LINE is not in L1, where its place is: requests it, from START on. Returns when it has
 * a fill buffer. */
static uint64_t fill_l1(struct machine *machine, struct sim_hot *hot,
                        struct sim_thread *thread, uint64_t line,
                        const struct cache_place *place, uint64_t start, uint64_t now,
                        bool to_write)
{
        struct l1d *l1d = &thread->core->l1d;
        uint32_t bit = cache_victim_bit(&l1d->cache, place->set);
        struct miss miss = miss_to_l1(machine, hot, thread, l1d, line, place, bit, start,
                                      now, to_write, false);

        place->set->mark |= bit; /* no load has asked for it */
        if (miss.from_beyond)
                place->set->mark |= l1d_from_beyond(bit);
        return miss.begin;
}

/* LINE is in L2, or the queue beyond has room for it. */
static bool may_be_brought(const struct core *core, uint64_t line, uint64_t now)
{
        struct cache_place place = cache_place_of(&core->l2, line);

        return cache_find(&core->l2, &place) != 0 ||
               places_fewer(&core->queue, now, core->queue.count);
}

/* Brings LINE to L1 when few misses are in progress. Intel's manual names this
 * condition of the prefetchers: "not many" outstanding misses. */
static void bring_to_l1(struct machine *machine, struct sim_hot *hot,
                        struct sim_thread *thread, uint64_t line, uint64_t now)
{
        struct cache *l1d = &thread->core->l1d.cache;
        struct cache_place place = cache_place_of(l1d, line);

        if (cache_find(l1d, &place) == 0 && miss_few_in_progress(thread, now) &&
            may_be_brought(thread->core, line, now))
                (void)fill_l1(machine, hot, thread, line, &place, now, now, false);
}

void prefetch_instruction(struct machine *machine, struct sim_hot *hot,
                          struct sim_thread *thread, const struct access_site *site,
                          enum prefetch_into into, uint64_t address)
{
        const uint64_t line = address >> LINE_SHIFT;
        struct cache *l1d = &thread->core->l1d.cache;
        struct cache_place place = cache_place_of(l1d, line);
        uint64_t instruction = hot->instructions + (uint64_t)(int64_t)site->position;

        if (address >> PAGE_SHIFT == 0 ||
            kernel_untouched(machine, address >> PAGE_SHIFT))
                return;
        if (*filter_of_loads(hot, line) == (line << LINE_SHIFT | FILTER_WATCHED))
                return;
        thread_retire(hot, thread, instruction);
        uint64_t now = instruction + thread->stall;
        uint64_t start = hot_waits(hot, &site->address, now);
        enum tlb_outcome translation =
            machine_translate(machine, thread->core, address >> PAGE_SHIFT);
        start += tlb_latency(machine, thread->core, translation, start, false);
        if (cache_find(l1d, &place) != 0)
                return;
        if (into == PREFETCH_INTO_L2) {
                (void)bring_to_l2(machine, thread, line, start, false);
                return;
        }
        window_hold(thread, &thread->loads, instruction, 0,
                    fill_l1(machine, hot, thread, line, &place, start, now,
                            into == PREFETCH_TO_WRITE));
}

static int64_t lines_between(uint64_t from, uint64_t to)
{
        return (int64_t)(to >> LINE_SHIFT) - (int64_t)(from >> LINE_SHIFT);
}

/* Records the load's address. Returns the next address if the load keeps its stride,
 * otherwise the address itself. */
static uint64_t next_of_stride(struct core *core, uint64_t ip, uint64_t address)
{
        struct strided_load *load = &core->strided_loads[ip & (STRIDE_LOADS - 1)];
        struct strided_load before = *load;
        int64_t stride = (int64_t)(address - before.address);
        int64_t lines = lines_between(before.address, address);

        *load = (struct strided_load){ip, address, stride};
        if (before.ip != ip)
                load->stride = 0;
        else if (stride == before.stride && stride >= -STRIDE_BYTES_MAX &&
                 stride <= STRIDE_BYTES_MAX)
                return address + (uint64_t)stride;
        else if ((lines == 1 || lines == -1) &&
                 lines_between(before.address - (uint64_t)before.stride,
                               before.address) == lines)
                return address + (uint64_t)(lines * LINE_BYTES);
        return address;
}

static void follow_stride(struct machine *machine, struct sim_hot *hot,
                          struct sim_thread *thread, const struct first_use *use)
{
        uint64_t next = next_of_stride(thread->core, use->load_ip, use->address);

        if (lines_between(use->address, next) != 0 &&
            next >> PAGE_SHIFT == use->address >> PAGE_SHIFT)
                bring_to_l1(machine, hot, thread, next >> LINE_SHIFT, use->now);
}

void prefetch_after(struct machine *machine, struct sim_hot *hot,
                    struct sim_thread *thread, const struct first_use *use)
{
        const uint64_t line = use->line;
        const uint64_t now = use->now;
        struct stream *stream = stream_of(machine, thread->core, line);
        int32_t last = stream->last;
        int32_t direction = stream_moves(stream, line);
        bool next_in_page = ((line + 1) & (PAGE_LINES - 1)) != 0;
        uint32_t on = machine->prefetch;

        if ((on & 1u << SIMPMU_L2_STREAMER) != 0 && direction != 0)
                run_ahead(machine, thread, stream, direction, now);
        if ((on & 1u << SIMPMU_L2_ADJACENT) != 0 && use->beyond_l2)
                (void)bring_to_l2(machine, thread, line ^ 1, now, false);
        if ((on & 1u << SIMPMU_L1_NEXT) != 0 && next_in_page && last != NO_LINE &&
            stream->last == last + 1)
                bring_to_l1(machine, hot, thread, line + 1, now);
        if ((on & 1u << SIMPMU_L1_IP_STRIDE) != 0 && use->load_ip != 0)
                follow_stride(machine, hot, thread, use);
}
