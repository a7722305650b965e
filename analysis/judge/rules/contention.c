/* SPDX-License-Identifier: MIT */
/* The rules for one interval. doc/method.md explains each rule and the source of its
 * constants; change both together. */
#include "contention.h"

#include <math.h>
#include <stddef.h>

const double LMRL_FACTOR = 1.25;
const double CONTENDED_BANDWIDTH_PART = 0.5;
const double NEAR_BANDWIDTH_PART = 0.75;
const double SATURATED_BANDWIDTH_PART = 0.9;
const double FB_FULL_RATIO = 0.25;
const double FB_SHORT_RATIO = 0.05;
const double PATH_FULL_PART = 0.8;
static const double HIDDEN_PHASE_PART = 0.1;
/* Short intervals move as much more than the peak. */
static const double OVER_PEAK_PART = 0.1;
/* H20: idle LMRL varies by up to 6.62 %, and grows at least by half when DRAM is
 * saturated. A threshold within twice the idle variation would flag noise. A threshold of
 * twice the idle LMRL would miss contended intervals. */
static const double MEASURED_FACTOR_MIN = 1.13;
static const double MEASURED_FACTOR_MAX = 2;
static const double IDLE_USED_CORES = 0.05;
static const double COMPUTE_PENDING_RATIO = 0.3;
static const double COMPUTE_IPC = 2;
static const double LATENCY_PENDING_RATIO = 0.5;
static const double LATENCY_IPC = 1;

double measured_lmrl_factor(const struct machine_facts *facts)
{
        double factor = facts->lmrl_threshold_cycles / facts->idle_lmrl_cycles;
        return factor >= MEASURED_FACTOR_MIN && factor <= MEASURED_FACTOR_MAX ? factor
                                                                              : NAN;
}

double idle_dram_lmrl(const struct machine_facts *facts)
{
        return isnan(measured_lmrl_factor(facts)) ? facts->dram_latency_cycles
                                                  : facts->idle_lmrl_cycles;
}

struct machine_facts machine_of_mix(const struct machine_facts *machine,
                                    double remote_part, double remote_cycles)
{
        struct machine_facts mix = *machine;
        double times = remote_cycles / machine->dram_latency_cycles;
        if (remote_part > 0 && times > 1) {
                double mean = 1 + remote_part * (times - 1);
                mix.dram_latency_cycles *= mean;
                mix.idle_lmrl_cycles *= mean;
                mix.lmrl_threshold_cycles *= mean;
        }
        return mix;
}

static double traffic_gbs(const struct interval_metrics *metrics)
{
        return metrics->read_gbs + metrics->write_gbs;
}

double interval_nodes(const struct interval_metrics *metrics,
                      const struct machine_facts *machine)
{
        double nodes = ceil(interval_bandwidth_use(metrics, machine) - OVER_PEAK_PART);
        return machine->dram_nodes > 1 && nodes > 1 ? fmin(nodes, machine->dram_nodes)
                                                    : 1;
}

struct interval_metrics metrics_of_node(const struct interval_metrics *metrics,
                                        const struct machine_facts *machine)
{
        struct interval_metrics node = *metrics;
        double nodes = interval_nodes(metrics, machine);
        node.read_gbs /= nodes;
        node.write_gbs /= nodes;
        return node;
}

/* Latency of the misses that caches served. L3 has at most the lines that were requested
 * beyond L2 and did not come from DRAM. */
static double cache_cycles(const struct interval *interval,
                           const bool known[CONCEPT_COUNT],
                           const struct machine_facts *facts, double cache_lines,
                           double dram_lines)
{
        double l3_lines = cache_lines;
        if (known[CONCEPT_OFFCORE] && !isnan(facts->l2_latency_cycles))
                l3_lines = fmin(cache_lines,
                                fmax(0, interval->gained[CONCEPT_OFFCORE] - dram_lines));
        double l2_lines = cache_lines - l3_lines;
        return l3_lines * facts->l3_latency_cycles +
               (l2_lines > 0 ? l2_lines * facts->l2_latency_cycles : 0);
}

double uncontended_lmrl(const struct interval *interval, const bool known[CONCEPT_COUNT],
                        const struct machine_facts *facts)
{
        if (!known[CONCEPT_L1_MISS] ||
            (!known[CONCEPT_FB_HIT] && !known[CONCEPT_L1_MISS_ANY]) ||
            !known[CONCEPT_DRAM_READ] || !known[CONCEPT_DRAM_WRITE])
                return NAN;
        double misses = interval->gained[CONCEPT_L1_MISS];
        double loads = known[CONCEPT_L1_MISS_ANY]
                           ? fmax(misses, interval->gained[CONCEPT_L1_MISS_ANY])
                           : misses + interval->gained[CONCEPT_FB_HIT];
        double lines_read = interval->gained[CONCEPT_DRAM_READ] / LINE_BYTES;
        double lines_written = interval->gained[CONCEPT_DRAM_WRITE] / LINE_BYTES;
        if (!(loads > 0))
                return NAN;
        /* Before a write-back, the core read the line for ownership. No load waits for
         * that read. If the program also loads the line, the misses include it. */
        double dram_lines =
            fmax(fmin(lines_read - lines_written, loads), fmin(lines_read, misses));
        double cache_lines = fmax(0, misses - dram_lines);
        return (dram_lines * idle_dram_lmrl(facts) +
                cache_cycles(interval, known, facts, cache_lines, dram_lines)) /
               loads;
}

/* Below the knee, latency does not rise. Fewer cores than saturate the memory cannot
 * delay each other: their loads are slow for a reason inside the core. */
static bool is_too_few_cores(const struct interval_metrics *metrics, double moved_gbs,
                             const struct thresholds *thresholds)
{
        return metrics->active_cores < thresholds->saturating_cores &&
               moved_gbs < thresholds->knee_gbs;
}

/* Bandwidth during the busy part: phases may be shorter than the interval. */
static double busy_gbs(const struct interval_metrics *metrics)
{
        double idle = isnan(metrics->idle_part) ? 0 : metrics->idle_part;
        return traffic_gbs(metrics) / fmax(1 - idle, 1e-3);
}

/* Too few samples may hide a short phase of contention: its traffic can be small in the
 * average of the interval. */
static bool may_hide_phases(const struct interval_metrics *metrics, double moved_gbs,
                            const struct thresholds *thresholds)
{
        return isnan(metrics->idle_part) &&
               moved_gbs > HIDDEN_PHASE_PART * thresholds->bandwidth_gbs;
}

/* The peak of writes is of stores, which read each line before they write it. A line that
 * was not read (stores past the caches, pages that the kernel zeroed) takes memory only
 * once, and counts by the peak of all traffic. */
static bool is_saturated_by_writes(const struct interval_metrics *metrics,
                                   const struct thresholds *thresholds)
{
        double both = fmin(metrics->read_gbs, metrics->write_gbs);
        double unread = metrics->write_gbs - both;
        double used = both / thresholds->saturated_write_gbs;
        return used + (unread > 0 ? unread / thresholds->near_gbs : 0) >= 1;
}

double interval_bandwidth_use(const struct interval_metrics *metrics,
                              const struct machine_facts *machine)
{
        return traffic_gbs(metrics) / machine->dram_bandwidth_gbs;
}

static bool is_saturated(const struct interval_metrics *metrics,
                         const struct thresholds *thresholds)
{
        return traffic_gbs(metrics) >= thresholds->saturated_gbs ||
               is_saturated_by_writes(metrics, thresholds);
}

/* Latency has begun to rise, and the bandwidth that is left bounds what more requests at
 * a time can gain. Neither the core nor DRAM alone is the cause. */
static bool is_near_the_limit(const struct interval_metrics *metrics, double baseline,
                              const struct thresholds *thresholds)
{
        return traffic_gbs(metrics) >= thresholds->near_gbs &&
               !is_saturated(metrics, thresholds) && metrics->lmrl_cycles > baseline;
}

/* Without load misses there is no LMRL. While all fill buffers are full, Little's law
 * gives the least mean latency of a line. */
static enum answer stores_contended(const struct interval_metrics *metrics,
                                    const struct thresholds *thresholds)
{
        return thresholds->lfb_entries * metrics->full_cycles_per_line >
                       thresholds->high_latency_cycles
                   ? ANSWER_YES
                   : ANSWER_NO;
}

/* A line from DRAM comes late because it waited for a buffer, or in DRAM's own queue.
 * LMRL does not show the queue of stores and prefetches, which no load waits for. */
static bool queues_in_dram(const struct interval_metrics *metrics,
                           const struct thresholds *thresholds)
{
        return interval_buffers_free(metrics) &&
               metrics->dram_sample_cycles > thresholds->high_latency_cycles;
}

enum answer interval_contended(const struct interval_metrics *metrics,
                               double uncontended_lmrl,
                               const struct thresholds *thresholds)
{
        double moved_gbs = busy_gbs(metrics);
        bool moved_little = moved_gbs <= thresholds->bandwidth_gbs;
        bool hides = moved_little && may_hide_phases(metrics, moved_gbs, thresholds);
        if ((moved_little && !hides) || is_too_few_cores(metrics, moved_gbs, thresholds))
                return ANSWER_NO;
        if (!moved_little && queues_in_dram(metrics, thresholds))
                return ANSWER_YES;
        if (metrics->miss_loads == 0)
                return hides ? ANSWER_NO : stores_contended(metrics, thresholds);
        double baseline =
            isnan(uncontended_lmrl) ? thresholds->quiet_lmrl_cycles : uncontended_lmrl;
        if (isnan(metrics->lmrl_cycles) || isnan(baseline))
                return ANSWER_UNKNOWN;
        if (!(metrics->lmrl_cycles > thresholds->lmrl_factor * baseline))
                return is_near_the_limit(metrics, baseline, thresholds) ? ANSWER_UNKNOWN
                                                                        : ANSWER_NO;
        return hides ? ANSWER_UNKNOWN : ANSWER_YES;
}

static bool is_compute_bound(const struct interval_metrics *metrics)
{
        return metrics->pending_ratio < COMPUTE_PENDING_RATIO ||
               metrics->instructions_per_cycle >= COMPUTE_IPC;
}

static bool is_latency_bound(const struct interval_metrics *metrics)
{
        return metrics->pending_ratio >= LATENCY_PENDING_RATIO &&
               metrics->instructions_per_cycle < LATENCY_IPC;
}

/* The largest class of M17. Productive cycles and other stalls count as compute, without
 * the kernel's cycles. */
static enum bound largest_class(const struct interval_metrics *metrics,
                                enum answer contended)
{
        double bandwidth = metrics->bandwidth_stall_ratio;
        double latency = metrics->memory_stall_ratio - bandwidth;
        double compute = 1 - metrics->memory_stall_ratio - metrics->kernel_ratio;
        if (compute >= fmax(bandwidth, latency))
                return BOUND_COMPUTE;
        if (latency >= bandwidth)
                return BOUND_LATENCY;
        return contended == ANSWER_NO ? BOUND_IN_CORE : BOUND_UNKNOWN;
}

/* Full buffers stall loads. But if the core stalled longer while buffers were free (for
 * example on translations), the buffers were not the cause. */
static bool is_short_of_buffers(const struct interval_metrics *metrics)
{
        double latency = metrics->memory_stall_ratio - metrics->bandwidth_stall_ratio;
        return metrics->fb_full_ratio >= FB_FULL_RATIO &&
               !(latency > metrics->bandwidth_stall_ratio);
}

/* M17 has no class for kernel time. The kernel bounds the interval if page faults and
 * system calls took longer than any class. If the classes are unknown, they must take
 * more than half. */
static bool is_kernel_bound(const struct interval_metrics *metrics)
{
        double kernel = metrics->kernel_ratio, memory = metrics->memory_stall_ratio;
        double bandwidth = metrics->bandwidth_stall_ratio;
        return kernel >
               (isnan(memory + bandwidth)
                    ? 0.5
                    : fmax(1 - memory - kernel, fmax(bandwidth, memory - bandwidth)));
}

/* Traffic that nothing waits for is no bound: the program asks for no more. */
static bool is_held_up(const struct interval_metrics *metrics)
{
        return !(metrics->memory_stall_ratio < FB_SHORT_RATIO);
}

/* Contention in bursts that hardly stall the interval does not bound it. */
static bool is_in_short_bursts(const struct interval_metrics *metrics,
                               const struct thresholds *thresholds)
{
        return traffic_gbs(metrics) <= thresholds->bandwidth_gbs && !is_held_up(metrics);
}

enum bound interval_bound(const struct interval_metrics *metrics, enum answer contended,
                          const struct thresholds *thresholds)
{
        if (metrics->used_cores < IDLE_USED_CORES)
                return BOUND_IDLE;
        if (is_saturated(metrics, thresholds) && is_held_up(metrics))
                return BOUND_BANDWIDTH;
        if (is_kernel_bound(metrics))
                return BOUND_KERNEL;
        if (contended == ANSWER_YES && !is_in_short_bursts(metrics, thresholds))
                return BOUND_BANDWIDTH;
        if (is_short_of_buffers(metrics))
                return contended == ANSWER_NO ? BOUND_IN_CORE : BOUND_UNKNOWN;
        if (!isnan(metrics->memory_stall_ratio + metrics->bandwidth_stall_ratio))
                return largest_class(metrics, contended);
        if (is_compute_bound(metrics))
                return BOUND_COMPUTE;
        return is_latency_bound(metrics) ? BOUND_LATENCY : BOUND_UNKNOWN;
}

enum answer bandwidth_short(enum answer contended, enum bound bound)
{
        return bound == BOUND_BANDWIDTH ? ANSWER_YES : contended;
}

bool interval_lacks_buffers(const struct interval_metrics *metrics)
{
        return metrics->buffers_full_ratio >= FB_SHORT_RATIO;
}

bool interval_buffers_full(const struct interval_metrics *metrics)
{
        return metrics->buffers_full_ratio >= FB_FULL_RATIO;
}

bool interval_buffers_free(const struct interval_metrics *metrics)
{
        return metrics->buffers_full_ratio < FB_SHORT_RATIO;
}

double interval_path_use(const struct interval *interval, const bool known[CONCEPT_COUNT],
                         const struct machine_facts *machine)
{
        if (!known[CONCEPT_OFFCORE] || !known[CONCEPT_CYCLES])
                return NAN;
        return interval->gained[CONCEPT_OFFCORE] * LINE_BYTES /
               (machine->l3_bytes_per_cycle * interval->gained[CONCEPT_CYCLES]);
}

const char *bound_name(enum bound bound)
{
        static const char *const names[] = {
            [BOUND_IDLE] = "idle",           [BOUND_COMPUTE] = "compute",
            [BOUND_LATENCY] = "latency",     [BOUND_IN_CORE] = "in-core",
            [BOUND_BANDWIDTH] = "bandwidth", [BOUND_KERNEL] = "kernel",
        };
        return bound == BOUND_UNKNOWN ? NULL : names[bound];
}
