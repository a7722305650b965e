/* SPDX-License-Identifier: MIT */
/* Instructions do not distinguish these members of a union. The source at the instruction's
 * line and column does, unless it has changed since, or the compiler merged two accesses. */
enum { RECORDS = 4096, READS = 20000 };
struct record {
        uint32_t version, id;
        union {
                struct { uint16_t port, weight; uint32_t ttl; } service;
                struct { uint32_t serial, refresh; const struct record *primary; } zone;
                struct { uint64_t first; const struct record *target; } name;
                uint8_t address[16];
        } u;
        uint64_t rest[5];
};
static volatile uint64_t result;
static volatile uint8_t kinds[RECORDS];
#define READ(name, expression) \
        static __attribute__((noinline)) void name(const struct record *records) \
        { \
                uint64_t sum = 0; \
                for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3) { \
                        const struct record *r = &records[at % RECORDS]; \
                        sum += expression(r); \
                } \
                result = sum; \
        }
static inline uint64_t get_port(const struct record *r) { return r->u.service.port; }
static inline uint64_t get_weight(const struct record *r) { return r->u.service.weight; }
static inline uint64_t get_third(const struct record *r) { return r->u.address[3]; }
static inline uint64_t get_refresh(const struct record *r) { return r->u.zone.refresh; }
static inline uint64_t get_primary(const struct record *r) { return r->u.zone.primary->id; }
static inline uint64_t get_compared(const struct record *r) { return r->u.zone.serial < 77; }
READ(port, get_port)
READ(weight, get_weight)
READ(third, get_third)
READ(refresh, get_refresh)
READ(primary, get_primary)
READ(compared, get_compared)

/* gcc merges two cases into one access: neither case's member may be reported for the other. */
static __attribute__((noinline)) void cases(const struct record *records)
{
        uint64_t sum = 0;
        for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3) {
                const struct record *r = &records[at % RECORDS];
                switch (kinds[at % RECORDS]) {
                case 5:
                        sum += r->u.service.ttl;
                        break;
                case 6:
                        sum ^= at;
                        break;
                default:
                        sum += r->u.zone.refresh;
                        break;
                }
        }
        result = sum;
}

static __attribute__((noinline)) uint32_t chosen(const struct record *r, int kind)
{
        switch (kind) {
        case 5:
                return r->u.service.ttl;
        case 6:
                return r->u.zone.refresh;
        }
        return 0;
}

int main(void)
{
        char *memory = calloc(RECORDS, sizeof(struct record));
        struct record *records = (struct record *)memory;
        for (int i = 0; i < RECORDS; i++)
                records[i].u.zone.primary = records;
        port(records);
        weight(records);
        third(records);
        refresh(records);
        compared(records);
        primary(records);
        for (int i = 0; i < RECORDS; i++)
                kinds[i] = 5;
        cases(records);
        for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3)
                result += chosen(&records[at % RECORDS], kinds[at % RECORDS]);
        return 0;
}
