/* SPDX-License-Identifier: MIT */
/* See window_loads.h. */
#include "window_loads.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "elapsed.h"

enum { LINE_BYTES = 64, CODE_BYTES = 1 << 16 };

/* ---- code ---- */

struct text {
        const char *bytes;
        size_t count;
};

#define TEXT(literal)                                                                    \
        (struct text)                                                                    \
        {                                                                                \
                literal, sizeof(literal) - 1                                             \
        }

/* rdi: iterations; rsi and rdx: positions of the two chases; rcx: where the positions are
 * stored at the end. */
static const struct text load[2] = {TEXT("\x48\x8b\x36"), TEXT("\x48\x8b\x12")};
/* movq %rsi,%xmm0, movq %rdx,%xmm1 */
static const struct text to_vector[2] = {TEXT("\x66\x48\x0f\x6e\xc6"),
                                         TEXT("\x66\x48\x0f\x6e\xca")};
/* lea 1(%rsi),%eax */
static const struct text general[2] = {TEXT("\x8d\x46\x01"), TEXT("\x8d\x42\x01")};
/* paddq %xmm0,%xmm2, paddq %xmm1,%xmm3 */
static const struct text vector[2] = {TEXT("\x66\x0f\xd4\xd0"), TEXT("\x66\x0f\xd4\xd9")};
/* mov 8(%rsi),%eax */
static const struct text address[2] = {TEXT("\x8b\x46\x08"), TEXT("\x8b\x42\x08")};
/* mov $1,%eax, paddq %xmm0,%xmm1 and test %eax,%eax: a third each, because a core has
 * fewer registers of one kind than instructions in flight. */
static const struct text independent[3] = {TEXT("\xb8\x01\x00\x00\x00"),
                                           TEXT("\x66\x0f\xd4\xc8"), TEXT("\x85\xc0")};
/* dec %rdi; jnz with a displacement that follows */
static const struct text next_turn = TEXT("\x48\xff\xcf\x0f\x85");
/* mov %rsi,(%rcx); mov %rdx,8(%rcx); ret */
static const struct text end = TEXT("\x48\x89\x31\x48\x89\x51\x08\xc3");

static struct text instruction_of(enum window_kind kind, unsigned number, unsigned chase)
{
        switch (kind) {
        case WINDOW_GENERAL:
                return general[chase];
        case WINDOW_VECTOR:
                return vector[chase];
        case WINDOW_ADDRESS:
                return address[chase];
        case WINDOW_GENERAL_AND_VECTOR:
                return number % 2 == 0 ? general[chase] : vector[chase];
        case WINDOW_GENERAL_AND_ADDRESS:
                return number % 2 == 0 ? general[chase] : address[chase];
        default:
                return independent[number % 3];
        }
}

static unsigned char *append(unsigned char *code, struct text text)
{
        memcpy(code, text.bytes, text.count);
        return code + text.count;
}

static void write_code(unsigned char *begin, enum window_kind kind, unsigned instructions)
{
        unsigned char *at = begin;
        for (unsigned chase = 0; chase < 2; chase++) {
                at = append(at, load[chase]);
                if (kind == WINDOW_VECTOR || kind == WINDOW_GENERAL_AND_VECTOR)
                        at = append(at, to_vector[chase]);
                for (unsigned i = 0; i < instructions; i++)
                        at = append(at, instruction_of(kind, i, chase));
        }
        at = append(at, next_turn);
        int32_t back = (int32_t)(begin - (at + sizeof(back)));
        memcpy(at, &back, sizeof(back));
        (void)append(at + sizeof(back), end);
}

static int make_code(struct window_loads *loads, enum window_kind kind,
                     unsigned instructions, struct diag *diag)
{
        void *code = loads->code.addr;
        if (mprotect(code, CODE_BYTES, PROT_READ | PROT_WRITE) == 0) {
                write_code(code, kind, instructions);
                if (mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC) == 0)
                        return 0;
        }
        return diag_set(diag, -EACCES,
                        "this system does not let a program run code that it makes: %s",
                        strerror(errno));
}

/* ---- data ---- */

/* A cycle through all lines of BUFFER, a power of two, in an unpredictable order (a
 * linear congruential generator: Knuth, TAOCP 2, 3.2.1.2). */
static void fill(const struct buffer *buffer)
{
        const uint64_t factor = UINT64_C(6364136223846793005), constant = 1;
        uint64_t lines = buffer->bytes / LINE_BYTES;
        char *base = buffer->addr;
        for (uint64_t line = 0; line < lines; line++) {
                uint64_t next = (line * factor + constant) % lines;
                void **place = (void **)(void *)(base + line * LINE_BYTES);
                place[0] = base + next * LINE_BYTES;
                place[1] = NULL;
        }
}

int window_loads_make(struct window_loads *loads, uint64_t bytes, struct diag *diag)
{
        *loads = (struct window_loads){0};
        int rc = buffer_map(CODE_BYTES, PAGES_SMALL, -1, &loads->code, diag);
        for (unsigned chase = 0; rc == 0 && chase < 2; chase++) {
                rc = buffer_map(bytes, PAGES_HUGE, -1, &loads->data[chase], diag);
                if (rc < 0)
                        break;
                fill(&loads->data[chase]);
                loads->at[chase] = loads->data[chase].addr;
        }
        return rc;
}

void window_loads_free(struct window_loads *loads)
{
        if (loads->code.addr)
                buffer_unmap(&loads->code);
        for (unsigned chase = 0; chase < 2; chase++)
                if (loads->data[chase].addr)
                        buffer_unmap(&loads->data[chase]);
        *loads = (struct window_loads){0};
}

/* ---- timing ---- */

/* SECONDS gets the time of an iteration, from the shortest of some rounds. */
static int time_turn(struct window_loads *loads, enum window_kind kind,
                     unsigned instructions, double *seconds, struct diag *diag)
{
        enum { ROUNDS = 9, TURNS = 500 };
        void (*code)(uint64_t turns, void *first, void *second, void **ends);
        int rc = make_code(loads, kind, instructions, diag);
        if (rc < 0)
                return rc;
        memcpy(&code, &loads->code.addr, sizeof(code));
        *seconds = INFINITY;
        for (unsigned i = 0; i < ROUNDS; i++) {
                double begin = clock_seconds();
                code(TURNS, loads->at[0], loads->at[1], loads->at);
                *seconds = fmin(*seconds, (clock_seconds() - begin) / TURNS);
        }
        return 0;
}

int window_loads_find(struct window_loads *loads, enum window_kind kind,
                      unsigned *instructions, struct diag *diag)
{
        const double one_after_another = 1.5; /* half way to double time */
        unsigned low = 8, high = WINDOW_MAX;
        double beside = 0;
        int rc = time_turn(loads, kind, low, &beside, diag);
        while (rc == 0 && high - low > 1 + low / 64) {
                unsigned middle = (low + high) / 2;
                double seconds = 0;
                rc = time_turn(loads, kind, middle, &seconds, diag);
                if (seconds < one_after_another * beside)
                        low = middle;
                else
                        high = middle;
        }
        *instructions = low;
        return rc;
}
