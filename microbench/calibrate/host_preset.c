/* SPDX-License-Identifier: MIT */
/* The simulated CPU modelled on this machine. */
#include "host_preset.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibration.h"
#include "estimate.h"

enum { LINE_BYTES = 64 };

struct level {
        double bytes, cycles;
        unsigned ways;
        bool assumed;
        bool at_least; /* so many bytes */
};

/* The largest size at which chases took the latency of LEVEL rather than of memory. NAN:
 * none is known. */
static double least_bytes(const json_t *calibration, const json_t *level)
{
        double half_way_ns = (calibration_number(level, "latency_ns") +
                              calibration_number(calibration, "memory.0.latency_ns")) /
                             2;
        double bytes = NAN;
        size_t i;
        const json_t *point;
        json_array_foreach(
            json_object_get(json_object_get(calibration, "caches"), "curve"), i,
            point) if (calibration_number(point, "ns") <= half_way_ns) bytes =
            fmax(bytes, calibration_number(point, "size_bytes"));
        return bytes;
}

/* A private cache has its reported size. Other tenants may use the last cache: with their
 * traffic it has the size that fast programs see. Else its measured size may be smaller,
 * or vary. */
static void find_bytes(const json_t *calibration, const json_t *level, bool shared,
                       struct level *found)
{
        double reported = calibration_number(level, "reported_bytes");
        double measured = calibration_number(level, "size_bytes");
        double beside_others = calibration_number(calibration, "tenants.capacity_bytes");
        if (shared && calibration_number(calibration, "tenants.inserted_gbs") > 0) {
                measured = beside_others;
        } else if (shared && isnan(measured)) {
                measured = least_bytes(calibration, level);
                found->at_least = !isnan(measured);
        }
        found->bytes = !(reported > 0) ? measured
                       : shared        ? fmin(reported, measured)
                                       : reported;
}

static struct level level_of(const json_t *calibration, size_t index, bool shared,
                             struct level otherwise)
{
        const json_t *level = json_array_get(
            json_object_get(json_object_get(calibration, "caches"), "levels"), index);
        if (isnan(calibration_number(level, "latency_cycles"))) {
                otherwise.assumed = true;
                return otherwise;
        }
        double ways = calibration_number(level, "reported_ways");
        struct level found = {
            .cycles = fmax(1, round(calibration_number(level, "latency_cycles"))),
            .ways = ways >= 1 && ways <= 32 ? (unsigned)ways : otherwise.ways,
        };
        find_bytes(calibration, level, shared, &found);
        if (!(found.bytes > 0)) {
                found.bytes = otherwise.bytes;
                found.assumed = true;
        }
        double set_bytes = LINE_BYTES * (double)found.ways;
        found.bytes = fmax(1, round(found.bytes / set_bytes)) * set_bytes;
        return found;
}

static void print_level(FILE *out, const char *key, const struct level *level)
{
        const char *note = level->assumed ? " # assumed" : "";
        fprintf(out, "%s.size_bytes = %.0f%s\n%s.ways = %u\n%s.latency_cycles = %.0f%s\n",
                key, level->bytes,
                level->at_least ? " # assumed: at least that, and it varied" : note, key,
                level->ways, key, level->cycles, note);
}

static void print_tenants(FILE *out, const json_t *calibration)
{
        const double little = 0.05;
        double gbs = calibration_number(calibration, "tenants.inserted_gbs");
        double varied = calibration_number(calibration, "tenants.variation");
        if (isnan(gbs))
                return;
        fprintf(out, "l3.tenants_gbs = %.2f", gbs);
        if (varied > little)
                fprintf(out, " # it varied: what programs kept differed by %.0f %%",
                        100 * varied);
        fputc('\n', out);
}

/* The number of outstanding misses of a core: the measured number for memory. By Little's
 * law, it is at least the number that loads from L2 need at that cache's latency. */
static double fill_buffers(const json_t *calibration, double l2_cycles)
{
        const double assumed = 12;
        double misses = calibration_number(calibration, "core.outstanding_misses");
        double bytes_per_cycle =
            calibration_number(calibration, "bandwidth.levels.1.read_gbs") /
            calibration_number(calibration, "clocks.core_ghz");
        double l2_lines = ceil(bytes_per_cycle * l2_cycles / LINE_BYTES);
        return misses >= 1 ? fmax(misses, l2_lines) : assumed;
}

/* ---- streams ---- */

/* Parameters of memory and of a core's requests beyond L2. They reproduce the measured
 * bandwidth of one thread, for loads, stores and STREAM triad. */
struct streams {
        double memory_gbs;
        double queue_lines;
        double write_ns;
        double stream_lines;
};

enum { CHANNELS = 4, QUEUE_MAXIMUM = 256, STREAMER_LINES = 20 };

static const double BUSIEST = 0.97;

/* Extra bandwidth of the path from memory, relative to a stream. */
static const double PATH_RESERVE = 1.25;

/* Latency in ns of memory at GBS of its BANDWIDTH, by the model's formula (dram.h). */
static double loaded_ns(double idle_ns, double gbs, double bandwidth)
{
        double busy = fmin(gbs / bandwidth, BUSIEST);
        double service_ns = CHANNELS * LINE_BYTES / bandwidth;
        return idle_ns + service_ns * busy / (2 * (1 - busy));
}

/* Triad reads three lines per written line; stores read each line first. */
double host_preset_memory_gbs(const json_t *calibration, const char **origin)
{
        static const struct {
                const char *path, *words;
                double factor;
        } kernels[] = {
            {"bandwidth.peak_read_gbs", "what loads reach", 1},
            {"bandwidth.peak_triad_gbs", "4/3 of what triad reaches", 4.0 / 3},
            {"bandwidth.peak_write_gbs", "twice what stores reach", 2},
        };
        double most_gbs = NAN;
        *origin = kernels[0].words;
        for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
                double gbs =
                    calibration_number(calibration, kernels[i].path) * kernels[i].factor;
                if (isnan(gbs) || gbs <= most_gbs)
                        continue;
                most_gbs = gbs;
                *origin = kernels[i].words;
        }
        return most_gbs / BUSIEST;
}

/* Bandwidths in GB/s of one thread, and ns of a line from memory meanwhile. Bandwidths
 * count the bytes that a kernel accesses; a written line is read first. */
struct one_thread {
        double read, triad, write;
        double read_ns, triad_ns, write_ns;
};

static struct one_thread one_thread_of(const json_t *calibration, double memory_gbs)
{
        const json_t *one = json_array_get(
            json_object_get(json_object_get(calibration, "bandwidth"), "threads"), 0);
        double idle_ns = calibration_number(calibration, "memory.0.latency_ns");
        struct one_thread thread = {
            .read = calibration_number(one, "read_gbs"),
            .triad = calibration_number(one, "triad_gbs"),
            .write = calibration_number(one, "write_gbs"),
        };
        thread.read_ns = loaded_ns(idle_ns, thread.read, memory_gbs);
        thread.triad_ns = loaded_ns(idle_ns, thread.triad * 4 / 3, memory_gbs);
        thread.write_ns = loaded_ns(idle_ns, thread.write * 2, memory_gbs);
        return thread;
}

/* Little's law: a stream of loads has bandwidth times latency lines outstanding. Triad
 * reads three lines per written line. Its extra time over loads is the time that written
 * lines occupy the queue. */
static void fit_queue(const struct one_thread *one, struct streams *streams)
{
        double lines = fmax(round(one->read * one->read_ns / LINE_BYTES),
                            round(one->triad * one->triad_ns / LINE_BYTES));
        streams->queue_lines = fmin(fmax(1, lines), QUEUE_MAXIMUM);
        streams->write_ns =
            fmax(0, 3 * (streams->queue_lines * LINE_BYTES / one->triad - one->triad_ns));
        streams->stream_lines = fmin(
            fmax(STREAMER_LINES, streams->queue_lines + STREAMER_LINES), QUEUE_MAXIMUM);
}

/* Where stores are known too: Stores write each line that they read, triad every third.
 * So both give the queue and the time that written lines occupy it. Loads are a
 * single stream: the streamer's lines ahead are outstanding, and the lines in the fill
 * buffers. Returns false where this queue would be too small for loads. */
static bool fit_reach(const struct one_thread *one, double buffers,
                      struct streams *streams)
{
        double write_ns = (one->triad * one->triad_ns - one->write * one->write_ns) /
                          (one->write - one->triad / 3);
        double queue_lines =
            round(one->triad * (one->triad_ns + write_ns / 3) / LINE_BYTES);
        double read_lines = round(one->read * one->read_ns / LINE_BYTES);
        bool fits = one->write > one->triad / 3 && write_ns > 0 &&
                    queue_lines >= read_lines && queue_lines <= QUEUE_MAXIMUM &&
                    read_lines >= buffers + STREAMER_LINES;
        if (fits)
                *streams = (struct streams){
                    .memory_gbs = streams->memory_gbs,
                    .queue_lines = queue_lines,
                    .write_ns = write_ns,
                    .stream_lines = read_lines - buffers,
                };
        return fits;
}

static void print_streams(FILE *out, const json_t *calibration, double buffers)
{
        const char *origin;
        struct streams streams = {.memory_gbs =
                                      host_preset_memory_gbs(calibration, &origin)};
        const struct one_thread one = one_thread_of(calibration, streams.memory_gbs);
        bool reach = fit_reach(&one, buffers, &streams);
        if (!reach)
                fit_queue(&one, &streams);
        fprintf(out,
                "l2.queue_entries = %.0f # from the bandwidth of one thread\n"
                "prefetch.stream_lines = %.0f # %s\n",
                streams.queue_lines, streams.stream_lines,
                reach ? "from the bandwidth of one thread that loads"
                      : "as many as the queue holds, and more");
        fprintf(out,
                "# Reads and writes together: what loads, or triad, or stores reach.\n"
                "dram.bandwidth_gbs = %.2f\n"
                "dram.channels = %d # assumed\n"
                "# The time that memory takes to turn round is part of its bandwidth.\n"
                "dram.turnaround_ns = 0\ndram.write_batch = 32\n"
                "dram.write_ns = %.1f # %s\n",
                streams.memory_gbs, CHANNELS, streams.write_ns,
                streams.write_ns > 0 ? "from the bandwidth of one thread that writes"
                                     : "assumed");
}

/* Rounds ENTRIES to whole sets of WAYS. */
static double whole_sets(double entries, double ways)
{
        return fmax(1, round(entries / ways)) * ways;
}

/* The second level of the TLB hides no further loads than one in its interval. 0: loads
 * take no longer than with translations of the first level, within noise. */
static void print_tlb(FILE *out, const json_t *calibration)
{
        const double longer = 1.25;
        const json_t *tlb = json_object_get(calibration, "tlb");
        double first = calibration_number(tlb, "first_pages");
        double second = calibration_number(tlb, "second_pages");
        double first_load = calibration_number(tlb, "first_load_cycles");
        double second_load = calibration_number(tlb, "second_load_cycles");
        double walk = calibration_number(tlb, "walk_cycles");
        if (first > 0)
                fprintf(out, "dtlb.entries = %.0f\ndtlb.ways = 4 # assumed\n",
                        whole_sets(first, 4));
        if (second > 0)
                fprintf(out, "stlb.entries = %.0f\nstlb.ways = 8 # assumed\n",
                        whole_sets(fmax(second, first + 8), 8));
        if (first_load > 0 && second_load > 0)
                fprintf(out, "stlb.interval_cycles = %.1f\n",
                        second_load >= longer * first_load ? second_load : 0);
        if (walk > 0)
                fprintf(out,
                        "page_walk.latency_cycles = %.0f\n"
                        "page_walk.huge_latency_cycles = %.0f # assumed\n",
                        round(walk), round(0.75 * walk));
}

/* Stores to lines in L2 bring a line and send one back: on one path at half the rate of
 * loads. */
static void print_write_path(FILE *out, const json_t *calibration)
{
        double reads = calibration_number(calibration, "bandwidth.levels.1.read_gbs");
        double writes = calibration_number(calibration, "bandwidth.levels.1.write_gbs");
        if (reads > 0 && writes > 0)
                fprintf(out, "l2.write_path = %d\n", writes > 0.75 * reads);
}

/* Bytes per cycle from L2 and L3 to a core. Lines from memory take the same path as lines
 * from L3. */
static void print_paths(FILE *out, const json_t *calibration)
{
        double ghz = calibration_number(calibration, "clocks.core_ghz");
        double memory_gbs =
            calibration_number(calibration, "bandwidth.threads.0.read_gbs");
        double l2_gbs = calibration_number(calibration, "bandwidth.levels.1.read_gbs");
        double l3_gbs = calibration_number(calibration, "bandwidth.levels.2.read_gbs");
        if (l2_gbs > 0)
                fprintf(out, "l2.bytes_per_cycle = %.2f\n", l2_gbs / ghz);
        fprintf(out, "l3.bytes_per_cycle = %.2f%s\n",
                fmax(l3_gbs, PATH_RESERVE * memory_gbs) / ghz,
                l3_gbs > 0 ? "" : " # assumed");
        print_write_path(out, calibration);
}

/* Prints the figures that are whole numbers in a preset, as far as they are certain. */
static void print_whole_numbers(FILE *out, const json_t *calibration)
{
        static const struct {
                const char *key, *measured;
                double least;
        } numbers[] = {
            {"arithmetic.multiply_cycles", "arithmetic.multiply_cycles", 1},
            {"arithmetic.divide_cycles", "arithmetic.divide_cycles", 1},
            {"arithmetic.divide_interval_cycles", "arithmetic.divide_interval_cycles", 1},
            {"float.add_cycles", "arithmetic.float_add_cycles", 1},
            {"float.multiply_cycles", "arithmetic.float_multiply_cycles", 1},
            {"float.fma_cycles", "arithmetic.float_fma_cycles", 1},
            {"float.divide_cycles", "arithmetic.float_divide_cycles", 1},
            {"float.sqrt_cycles", "arithmetic.float_sqrt_cycles", 1},
            {"float.divide_interval_cycles", "arithmetic.float_divide_interval_cycles",
             1},
            {"core.unforwarded_cycles", "arithmetic.unforwarded_cycles", 1},
            {"core.lock_cycles", "arithmetic.locked_cycles", 1},
            {"core.rob_entries", "window.in_flight", 16}, /* limit of a preset */
            {"core.scheduler_entries", "window.waiting", 1},
            {"branch.mispredict_cycles", "core.mispredict_cycles", 1},
            {"fetch.call_cycles", "core.call_cycles", 1},
            {"fetch.indirect_cycles", "core.indirect_jump_cycles", 1},
            {"hitm.latency_cycles", "sharing.modified_cycles", 1},
            {"stlb.latency_cycles", "tlb.second_cycles", 0},
            {"page_walk.walkers", "tlb.walkers", 1},
        };
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
                double whole =
                    estimate_whole(calibration_number(calibration, numbers[i].measured));
                if (whole >= 0)
                        fprintf(out, "%s = %.0f\n", numbers[i].key,
                                fmax(numbers[i].least, whole));
        }
}

/* The interval at which a set of L1 accepts lines from the cache FROM. 0: loads of one
 * set take no longer than loads of two sets, within noise. NAN: not measured. */
static double set_interval(const json_t *calibration, const char *from)
{
        const double longer = 1.25;
        const json_t *loads =
            json_object_get(json_object_get(calibration, "l1d_sets"), from);
        double one_set = calibration_number(loads, "one_set_cycles");
        double two_sets = calibration_number(loads, "two_sets_cycles");
        return isnan(one_set) || isnan(two_sets) ? NAN
               : one_set >= longer * two_sets    ? one_set
                                                 : 0;
}

static void print_set_intervals(FILE *out, const json_t *calibration)
{
        double l2 = set_interval(calibration, "l2"), l3 = set_interval(calibration, "l3");
        if (!isnan(l2))
                fprintf(out, "l1d.set_interval_l2_cycles = %.1f\n", l2);
        if (!isnan(l2) && !isnan(l3))
                fprintf(out, "l1d.set_interval_l3_cycles = %.1f\n", fmax(l3, l2));
}

/* Store buffer parameters from chains through memory. A register with less than half of a
 * byte's time is renamed. */
static void print_forwarding(FILE *out, const json_t *calibration)
{
        const json_t *arithmetic = json_object_get(calibration, "arithmetic");
        double byte =
            calibration_number(arithmetic, "forward_byte_and_addition_cycles") - 1;
        double alike =
            calibration_number(arithmetic, "forward_alike_and_4_additions_cycles") - 4;
        double unlike =
            calibration_number(arithmetic, "forward_unlike_and_4_additions_cycles") - 4;
        double vector = calibration_number(arithmetic, "forward_vector_cycles");
        if (!(byte > 0) || !(vector > 0) || isnan(alike) || isnan(unlike))
                return;
        fprintf(out,
                "store_forward.latency_cycles = %.0f\n"
                "store_forward.vector_cycles = %.0f\n"
                "store_forward.renamed_cycles = %.0f\n"
                "store_forward.renames = %d\n",
                round(byte), round(vector), fmax(0, round(alike)),
                unlike < byte / 2  ? 2
                : alike < byte / 2 ? 1
                                   : 0);
}

/* Prints the number of runs of code, each up to a jump, that the core fetches per cycle.
 * JUMP_CYCLES: the time of one run. */
static void print_runs(FILE *out, double jump_cycles)
{
        static const double least = 0.1, most = 16; /* limits of a preset */
        if (jump_cycles > 0)
                fprintf(out, "fetch.runs_per_cycle = %.2f\n",
                        fmin(fmax(least, 1 / jump_cycles), most));
}

/* Kernel time for new pages without zeroing, for zeroing, and for a system call. Two page
 * sizes separate the first two. */
static void print_kernel(FILE *out, const json_t *calibration)
{
        const double small_bytes = 4096, huge_bytes = 2 << 20, assumed_gbs = 10;
        const json_t *kernel = json_object_get(calibration, "kernel");
        double small_ns = calibration_number(kernel, "small_fault_ns");
        double huge_ns = calibration_number(kernel, "huge_fault_ns");
        double call_ns = calibration_number(kernel, "call_ns");
        double gbs = (huge_bytes - small_bytes) / (huge_ns - small_ns);
        bool zeroing_told = small_ns > 0 && gbs > 0 && isfinite(gbs);
        if (small_ns > 0)
                fprintf(
                    out, "kernel.fault_ns = %.0f\n",
                    fmax(0, small_ns - small_bytes / (zeroing_told ? gbs : assumed_gbs)));
        if (zeroing_told)
                fprintf(out, "kernel.copy_gbs = %.2f\n", gbs);
        if (call_ns > 0)
                fprintf(out, "kernel.call_ns = %.0f\n", call_ns);
}

/* The fill buffers, and the time by Little's law that a line of non-temporal stores keeps
 * one. */
static void print_fill_buffers(FILE *out, const json_t *calibration, double l2_cycles)
{
        double buffers = fill_buffers(calibration, l2_cycles);
        double nontemporal_gbs =
            calibration_number(calibration, "bandwidth.threads.0.nontemporal_gbs");
        bool told = calibration_number(calibration, "core.outstanding_misses") >= 1;
        fprintf(out, "core.lfb_entries = %.0f%s\n", buffers, told ? "" : " # assumed");
        if (nontemporal_gbs > 0)
                fprintf(out,
                        "dram.nontemporal_ns = %.1f # from the bandwidth of one thread\n",
                        buffers * LINE_BYTES / nontemporal_gbs);
}

/* Instructions of KIND have separate scheduler entries if alternating with others lets
 * more instructions wait than the others alone. */
static void print_own_places(FILE *out, const json_t *window, const char *key,
                             const char *kind, const char *by_turns)
{
        const double more = 1.25;
        double general = calibration_number(window, "waiting");
        double own = calibration_number(window, kind);
        double together = calibration_number(window, by_turns);
        if (own >= 1 && together >= 1 && general >= 1)
                fprintf(out, "%s = %.0f\n", key, together > more * general ? own : 0);
}

static void print_window(FILE *out, const json_t *calibration)
{
        const json_t *window = json_object_get(calibration, "window");
        print_own_places(out, window, "core.vector_scheduler_entries", "vectors_waiting",
                         "waiting_with_vectors");
        print_own_places(out, window, "core.address_scheduler_entries",
                         "addresses_waiting", "waiting_with_addresses");
}

const char *host_preset_lacks(const json_t *calibration, size_t number)
{
        /* REPORTED: required only if the system reports it. An invented cache would hit
         * where this machine waits. */
        static const struct {
                const char *path, *words, *reported;
        } needed[] = {
            {"clocks.core_ghz", "the core's clock", NULL},
            {"caches.levels.0.latency_cycles", "the latency of L1", NULL},
            {"memory.0.latency_ns", "the latency of memory", NULL},
            {"core.issue_width", "the instructions that issue in a cycle", NULL},
            {"bandwidth.threads.0.read_gbs", "the bandwidth of loads of 1 thread", NULL},
            {"bandwidth.threads.0.triad_gbs", "the bandwidth of triad of 1 thread", NULL},
            {"bandwidth.peak_read_gbs", "the peak bandwidth of loads", NULL},
            {"bandwidth.peak_write_gbs", "the peak bandwidth of stores", NULL},
            {"bandwidth.peak_triad_gbs", "the peak bandwidth of triad", NULL},
            {"caches.levels.1.latency_cycles", "the latency of L2",
             "caches.levels.1.reported_bytes"},
            {"caches.levels.2.latency_cycles", "the latency of L3",
             "caches.levels.2.reported_bytes"},
        };
        for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
                bool lacks = isnan(calibration_number(calibration, needed[i].path)) &&
                             (!needed[i].reported ||
                              calibration_number(calibration, needed[i].reported) > 0);
                if (lacks && number-- == 0)
                        return needed[i].words;
        }
        return NULL;
}

char *host_preset(const json_t *calibration)
{
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        if (!out)
                return NULL;
        struct level l1 =
            level_of(calibration, 0, false, (struct level){32768, 4, 8, false, false});
        struct level l2 = level_of(calibration, 1, false,
                                   (struct level){1 << 20, 14, 16, false, false});
        struct level l3 = level_of(calibration, 2, true,
                                   (struct level){32 << 20, 50, 16, false, false});
        l2.cycles = fmax(l2.cycles, l1.cycles + 1);
        l3.cycles = fmax(l3.cycles, l2.cycles + 1);
        fprintf(out, "# This machine, by 'memlag calibrate'. Sizes are those that the "
                     "system reports, where it does;\n"
                     "# of the last cache what was found, if that is less. Lines marked "
                     "'assumed', and keys that are missing, are not measured.\n");
        fprintf(out, "core.count = %.0f\n",
                calibration_number(calibration, "machine.cpus"));
        fprintf(out, "core.clock_mhz = %.0f\n",
                1000 * calibration_number(calibration, "clocks.core_ghz"));
        fprintf(out, "core.issue_width = %.0f\n",
                calibration_number(calibration, "core.issue_width"));
        print_window(out, calibration);
        print_fill_buffers(out, calibration, l2.cycles);
        print_kernel(out, calibration);
        print_runs(out, calibration_number(calibration, "core.jump_cycles"));
        print_forwarding(out, calibration);
        print_whole_numbers(out, calibration);
        print_level(out, "l1d", &l1);
        print_set_intervals(out, calibration);
        print_level(out, "l2", &l2);
        print_level(out, "l3", &l3);
        print_tenants(out, calibration);
        print_tlb(out, calibration);
        fprintf(out, "dram.latency_ns = %.1f\n",
                calibration_number(calibration, "memory.0.latency_ns"));
        print_streams(out, calibration, fill_buffers(calibration, l2.cycles));
        print_paths(out, calibration);
        /* One node, because memory was measured from one node: the other values have no
         * effect. */
        fprintf(out, "numa.nodes = 1\nnuma.spread = 0\nnuma.link_latency_ns = 50\n"
                     "numa.link_bandwidth_gbs = 20\nnuma.cache_latency_ns = 100\n");
        if (fclose(out) == 0)
                return text;
        free(text);
        return NULL;
}
