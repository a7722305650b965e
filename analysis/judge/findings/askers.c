/* SPDX-License-Identifier: MIT */
/* See askers.h. */
#include "askers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "contention.h"
#include "verdict.h"

static const double SHARE_MIN = 0.05;

int askers_open(struct askers *askers, size_t lines, size_t functions,
                const uint32_t *line_function)
{
        *askers = (struct askers){
            .line_function = line_function,
            .latest.value_bytes = sizeof(uint32_t),
            .waits.value_bytes = sizeof(int64_t),
            .lines = calloc(lines + 1, sizeof(*askers->lines)),
            .line_count = lines,
            .functions = calloc(functions + 1, sizeof(*askers->functions)),
        };
        return askers->lines && askers->functions ? 0 : -ENOMEM;
}

void askers_close(struct askers *askers)
{
        pairs_free(&askers->latest);
        pairs_free(&askers->waits);
        free(askers->lines);
        free(askers->functions);
}

int askers_add_ask(struct askers *askers, uint32_t object, uint32_t line)
{
        uint32_t function = askers->line_function[line];
        askers->lines[line].asked++;
        askers->functions[function].asked++;
        if (!object)
                return 0;
        uint32_t *latest = pairs_get(&askers->latest, function, object);
        if (!latest)
                return -ENOMEM;
        *latest = line + 1;
        return 0;
}

int askers_add_wait(struct askers *askers, uint32_t object, uint32_t line)
{
        uint32_t function = askers->line_function[line];
        askers->lines[line].waited++;
        askers->functions[function].waited++;
        if (!object)
                return 0;
        const uint32_t *latest = pairs_get(&askers->latest, function, object);
        if (!latest)
                return -ENOMEM;
        if (!*latest)
                return 0;
        int64_t *samples = pairs_get(&askers->waits, line, *latest - 1);
        if (!samples)
                return -ENOMEM;
        (*samples)++;
        return 0;
}

static bool asks_itself(const struct asking *asking)
{
        return LINE_BYTES * asking->asked > asking->waited;
}

static bool waits_for_others(const struct askers *askers, uint32_t line)
{
        const struct asking *asking = &askers->lines[line];
        return asking->waited >= VERDICT_SAMPLES_MIN && !asks_itself(asking);
}

static bool function_asks(const struct askers *askers, uint32_t line)
{
        return asks_itself(&askers->functions[askers->line_function[line]]);
}

int askers_each(struct askers *askers,
                int (*take)(void *context, const struct asker *asker), void *context)
{
        int code = pairs_sort(&askers->waits);
        for (size_t i = 0; !code && i < askers->waits.count; i++) {
                const struct pair *pair = &askers->waits.pairs[i];
                const int64_t *samples = pairs_value(&askers->waits, i);
                double share =
                    (double)*samples / (double)askers->lines[pair->first].waited;
                if (pair->first != pair->second && share >= SHARE_MIN &&
                    waits_for_others(askers, pair->first) &&
                    function_asks(askers, pair->first))
                        code = take(context, &(struct asker){pair->first, pair->second,
                                                             *samples, share});
        }
        for (uint32_t line = 0; !code && line < askers->line_count; line++)
                if (waits_for_others(askers, line) && !function_asks(askers, line))
                        code =
                            take(context, &(struct asker){line, ASKER_ELSEWHERE,
                                                          askers->lines[line].waited, 1});
        return code;
}
