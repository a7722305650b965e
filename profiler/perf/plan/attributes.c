/* SPDX-License-Identifier: MIT */
/* Fills in struct perf_event_attr; perf_event_open(2) explains each field. */
#include "attributes.h"

#include <asm/perf_regs.h>

/* Registers for unwinding, all recorded by PEBS itself: the general registers, the
 * instruction pointer and the flags. */
#define GENERAL_REGISTERS                                                                \
        (((1ULL << (PERF_REG_X86_FLAGS + 1)) - 1) | 0xffULL << PERF_REG_X86_R8)

static struct perf_event_attr of_user_code(uint32_t type, uint64_t config)
{
        return (struct perf_event_attr){
            .size = sizeof(struct perf_event_attr),
            .type = type,
            .config = config,
            .exclude_kernel = 1,
            .exclude_hv = 1,
        };
}

static void add_stack(struct perf_event_attr *attr, const struct plan_options *options)
{
        if (options->stack == PLAN_STACK_FRAME_POINTERS) {
                attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
                attr->exclude_callchain_kernel = 1;
        }
        /* With a size of 0 the kernel writes samples with misplaced fields. */
        if (options->stack == PLAN_STACK_COPY && options->stack_bytes) {
                attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
                attr->sample_regs_user = GENERAL_REGISTERS;
                attr->sample_stack_user = options->stack_bytes;
        }
}

struct perf_event_attr attributes_of_samples(uint32_t type, uint64_t config,
                                             const struct plan_options *options,
                                             bool weight_struct)
{
        struct perf_event_attr attr = of_user_code(type, config);
        attr.sample_type =
            PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
            PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC |
            (weight_struct ? PERF_SAMPLE_WEIGHT_STRUCT : PERF_SAMPLE_WEIGHT);
        if (options->phys_addr)
                attr.sample_type |= PERF_SAMPLE_PHYS_ADDR;
        if (options->data_page_size)
                attr.sample_type |= PERF_SAMPLE_DATA_PAGE_SIZE;
        add_stack(&attr, options);
        attr.freq = options->period == 0;
        if (attr.freq)
                attr.sample_freq = options->frequency_hz;
        else
                attr.sample_period = options->period;
        return attr;
}

struct perf_event_attr attributes_of_counter(uint32_t type, uint64_t config)
{
        struct perf_event_attr attr = of_user_code(type, config);
        attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                           PERF_FORMAT_TOTAL_TIME_RUNNING;
        return attr;
}

void attributes_set_code(struct perf_event_attr *attr, const struct pmu_code *code)
{
        attr->config = code->words[0];
        attr->config1 = code->words[1];
        attr->config2 = code->words[2];
}
