/* SPDX-License-Identifier: MIT */
/* What became of the cache lines of samples: rows of line_use and line_reuse. */
#include <string.h>

#include "array.h"
#include "sink_state.h"

int sink_note_watched(struct image *image, uint64_t watch, int64_t sample_id,
                      struct diag *diag)
{
        /* Numbers come nearly in order, but for stores in flight. A target can write
         * any number into its ring. */
        const uint64_t furthest = image->watched_samples + (1u << 20);
        if (watch > furthest)
                return 0;
        if (array_reserve(&image->watched, &image->watched_capacity, watch,
                          sizeof(*image->watched)) < 0)
                return diag_no_memory(diag);
        for (; image->watched_count < watch; image->watched_count++)
                image->watched[image->watched_count] = 0;
        image->watched[watch - 1] = sample_id;
        image->watched_samples++;
        return 0;
}

/* Returns the row of sample WATCH; 0: it is not delivered. */
static int64_t watched_sample(const struct sink *sink, image_key key, uint64_t watch)
{
        const struct image *image = sink_find_image(sink, key);
        return image && watch - 1 < image->watched_count ? image->watched[watch - 1] : 0;
}

int sink_line_use(struct sink *sink, image_key image, uint64_t watch, uint64_t used,
                  struct diag *diag)
{
        int64_t sample_id = watched_sample(sink, image, watch);
        return sample_id ? writer_line_use(sink->writer, sample_id, used, diag) : 0;
}

int sink_line_reuse(struct sink *sink, image_key image, uint64_t watch,
                    int64_t cache_bytes, struct diag *diag)
{
        int64_t sample_id = watched_sample(sink, image, watch);
        return sample_id ? writer_line_reuse(sink->writer, sample_id, cache_bytes, diag)
                         : 0;
}
