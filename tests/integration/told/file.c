/* SPDX-License-Identifier: MIT */
/* A header, records of its size and texts in one mapping of SIZE bytes, all reached from the
 * header's pointer. Memory that the pointer reaches behind the header is no header. */
struct header { char magic[8]; uint32_t records, size; uint64_t texts; uint32_t flags, version; };
struct record { uint64_t key; uint32_t text, length; double value; uint32_t tag, rest; };
enum { RECORDS = 6000, ALL = 32 + 32 * RECORDS };
static struct header *header;
static volatile double result;
__attribute__((noinline)) static double sum_records(void)
{
        const struct record *record = (const struct record *)(header + 1);
        double sum = 0;
        for (uint32_t i = 0; i < header->records; i++) {
                sum += record[i].value;
                if (record[i].tag & 1)
                        sum += record[i].length;
        }
        return sum;
}
__attribute__((noinline)) static uint64_t sum_texts(void)
{
        const struct record *record = (const struct record *)(header + 1);
        const char *texts = (const char *)header + header->texts;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < header->records; i++)
                for (const char *at = texts + record[i].text; *at; at++)
                        sum += *at;
        return sum;
}
int main(void)
{
        header = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        header->records = RECORDS;
        header->texts = ALL;
        struct record *record = (struct record *)(header + 1);
        for (int i = 0; i < RECORDS; i++) {
                record[i].tag = i;
                record[i].text = i & 1023;
                ((char *)header)[ALL + i] = i & 1;
        }
        for (int i = 0; i < 20; i++)
                result += sum_records() + sum_texts();
        return 0;
}
