/* SPDX-License-Identifier: MIT */
/* Two passes over the memory samples. The first learns the data origin of each code line.
 * The second finds each sample's cause and adds the sample to its line, function, object,
 * field and their pairs. Other files hold the rules. */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "findings_pass.h"
#include "statement.h"

/* ---- preparation ---- */

static int pass_open(struct db *db, struct findings_pass *pass, struct diag *diag)
{
        int code = grouping_read(db, &pass->grouping, diag);
        if (!code)
                code = placing_read(db, &pass->placing, diag);
        if (!code)
                code = data_sources_read(db, &pass->sources, diag);
        if (!code)
                code = user_code_read(db, &pass->user_code, diag);
        if (code)
                return code;
        pass->line_origins = calloc(pass->grouping.line_groups, sizeof(struct origins));
        pass->function_origins =
            calloc(pass->grouping.function_groups, sizeof(struct origins));
        pass->buffer_uses =
            calloc(pass->grouping.function_groups, sizeof(struct buffer_use));
        pass->touched.value_bytes = sizeof(struct origins);
        pass->accesses.value_bytes = sizeof(struct short_tally);
        pass->fields.value_bytes = sizeof(struct tally);
        pass->requests.value_bytes = sizeof(struct requests);
        pass->lines = calloc(pass->grouping.line_groups, sizeof(struct tally));
        pass->functions = calloc(pass->grouping.function_groups, sizeof(struct tally));
        pass->objects = calloc(pass->grouping.object_count + 1, sizeof(struct tally));
        if (askers_open(&pass->askers, pass->grouping.line_groups,
                        pass->grouping.function_groups, pass->grouping.line_function) ||
            !pass->buffer_uses || !pass->line_origins || !pass->function_origins ||
            !pass->lines || !pass->functions || !pass->objects)
                return diag_no_memory(diag);
        if (pass->input->stores_parts)
                code = statement_prepare(db, "INSERT INTO sample_part VALUES (?1, ?2)",
                                         &pass->insert_part, diag);
        if (code || !pass->input->estimates_gains)
                return code;
        pass->gains = calloc(pass->grouping.line_groups, sizeof(*pass->gains));
        pass->object_gains =
            calloc(pass->grouping.object_count + 1, sizeof(*pass->object_gains));
        return pass->gains && pass->object_gains ? 0 : diag_no_memory(diag);
}

static void pass_close(struct findings_pass *pass)
{
        grouping_free(&pass->grouping);
        placing_free(&pass->placing);
        pairs_free(&pass->pairs);
        pairs_free(&pass->accesses);
        pairs_free(&pass->fields);
        pairs_free(&pass->requests);
        data_sources_free(&pass->sources);
        free(pass->line_origins);
        free(pass->function_origins);
        free(pass->buffer_uses);
        pairs_free(&pass->touched);
        free(pass->lines);
        free(pass->functions);
        free(pass->objects);
        latencies_free(&pass->latencies);
        user_code_free(&pass->user_code);
        askers_close(&pass->askers);
        free(pass->gains);
        free(pass->object_gains);
        sqlite3_finalize(pass->insert_part);
}

/* ---- one sample ---- */

static int compare_interval(const void *id, const void *interval)
{
        int64_t a = *(const int64_t *)id;
        int64_t b = ((const struct judged_interval *)interval)->id;
        return (a > b) - (a < b);
}

static const struct judged_interval *interval_at(const struct findings_input *input,
                                                 int64_t time_ns)
{
        if (input->interval_ns <= 0 || time_ns < 0)
                return NULL;
        int64_t id = time_ns / input->interval_ns;
        return input->interval_count
                   ? bsearch(&id, input->intervals, input->interval_count,
                             sizeof(*input->intervals), compare_interval)
                   : NULL;
}

static void count_gaps(struct findings_gaps *gaps, const struct sample_facts *sample,
                       const struct judged_interval *interval)
{
        if (sample->stall_ns > 0) /* timer samples have neither; that is no gap */
                return;
        gaps->samples_without_latency += sample->latency_cycles < 0;
        gaps->samples_without_interval += !interval;
        gaps->waits_of_unknown_contention += level_waits_for_dram(sample->level) &&
                                             sample->bandwidth_short == ANSWER_UNKNOWN &&
                                             !sample->without_waits;
}

enum {
        COLUMN_SOURCE = 2,
        COLUMN_STALL = 4,
        COLUMN_OBJECT,
        COLUMN_FIELD,
        COLUMN_STACK,
        COLUMN_RETIRE,
        COLUMN_SAMPLE,
        COLUMN_CONFLICT_SETS,
        COLUMN_PLACING
};

/* -1: not known. */
static int64_t cycles_of_row(sqlite3_stmt *row, int column)
{
        bool known = sqlite3_column_type(row, column) != SQLITE_NULL &&
                     sqlite3_column_int64(row, column) >= 0;
        return known ? sqlite3_column_int64(row, column) : -1;
}

/* Columns: time_ns, latency_cycles, DATA_SOURCE_COLUMNS, stall_ns, object_id, field_id,
 * stack_id, retire_latency_cycles, sample_id, number of few sets, PLACING_COLUMNS. */
static struct sample_facts sample_of_row(const struct findings_pass *pass,
                                         sqlite3_stmt *row,
                                         const struct data_source *source,
                                         const struct judged_interval *interval)
{
        return (struct sample_facts){
            .level = source->level,
            .tlb_missed = source->tlb_missed,
            .tlb_second = source->tlb_second,
            .unforwarded = source->unforwarded,
            .locked = source->locked,
            .hit_modified = source->hit_modified,
            .store = source->store,
            .conflict_sets = sqlite3_column_int64(row, COLUMN_CONFLICT_SETS),
            .latency_cycles = cycles_of_row(row, 1),
            .retire_latency_cycles = cycles_of_row(row, COLUMN_RETIRE),
            .stall_ns = sqlite3_column_int64(row, COLUMN_STALL) > 0
                            ? sqlite3_column_int64(row, COLUMN_STALL)
                            : 0,
            .bandwidth_short = interval ? interval->bandwidth_short : ANSWER_UNKNOWN,
            .interval_bound = interval ? interval->bound : BOUND_UNKNOWN,
            .interval_lacks_buffers = interval && interval->lacks_buffers,
            .interval_buffers_full = interval && interval->buffers_full,
            .interval_sets_crowd = interval && interval->sets_crowd,
            .interval_path_full = interval && interval->path_use >= PATH_FULL_PART,
            .bandwidth_use = interval ? interval->bandwidth_use : NAN,
            .without_waits = pass->input->without_waits,
        };
}

/* 0: none, or an id outside the range of symbolize. */
static uint32_t field_of_row(sqlite3_stmt *row, int column)
{
        int64_t id = sqlite3_column_int64(row, column);
        return id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

static uint32_t object_of_row(const struct findings_pass *pass, sqlite3_stmt *row)
{
        return grouping_of_object(&pass->grouping,
                                  sqlite3_column_int64(row, COLUMN_OBJECT));
}

static int add_request_facts(void *context, sqlite3_stmt *row)
{
        struct findings_pass *pass = context;
        const struct data_source *source =
            data_sources_of_row(&pass->sources, row, COLUMN_SOURCE);
        if (!source)
                return 0;
        const struct judged_interval *interval =
            interval_at(pass->input, sqlite3_column_int64(row, 0));
        struct sample_facts sample = sample_of_row(pass, row, source, interval);
        uint32_t line, function;
        grouping_of_location(&pass->grouping,
                             placing_of_row(&pass->placing, row, COLUMN_PLACING), &line,
                             &function);
        buffer_use_add(&pass->buffer_uses[function], &sample, &pass->input->machine,
                       interval ? interval->path_use : NAN);
        enum origin origin = sample_origin(&sample, &pass->input->thresholds);
        if (origin == ORIGIN_UNKNOWN || source->store)
                return 0; /* stores may go where no load has a line from */
        struct origins *touched =
            pairs_get(&pass->touched, function, object_of_row(pass, row));
        if (!touched)
                return -ENOMEM;
        /* Contended cache lines say nothing about other lines. */
        struct origins *places[] = {&pass->line_origins[line], touched,
                                    &pass->function_origins[function],
                                    origin == ORIGIN_SHARING ? NULL : &pass->run_origins};
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
                if (places[i])
                        origins_add(places[i], origin, (double)sample.latency_cycles);
        return 0;
}

/* The origin of outstanding lines. Tries the code line, TOUCHED, the function, the
 * interval's traffic and the run, in this order. TOUCHED: origins of the function's loads
 * from the same object; NULL if the object is unknown. */
static enum origin origin_at(const struct findings_pass *pass, uint32_t line,
                             uint32_t function, const struct origins *touched,
                             const struct judged_interval *interval)
{
        const enum origin told[] = {
            place_origin(&pass->line_origins[line]),
            touched ? place_origin(touched) : ORIGIN_UNKNOWN,
            place_origin(&pass->function_origins[function]),
            interval ? interval->traffic : ORIGIN_UNKNOWN,
            run_origin(&pass->run_origins, interval && interval->buffers_free),
        };
        for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
                if (told[i] != ORIGIN_UNKNOWN)
                        return told[i];
        return ORIGIN_UNKNOWN;
}

/* Adds a slow load: it requested a cache line, or waited for an outstanding one. A mixed
 * object, such as allocator metadata, counts as unknown: its loads are unrelated. */
static int add_asker(struct findings_pass *pass, const struct sample_facts *sample,
                     uint32_t line, uint32_t object)
{
        const struct thresholds *thresholds = &pass->input->thresholds;
        if (object && pass->grouping.objects[object - 1].mixed)
                object = 0;
        if (sample_origin(sample, thresholds) != ORIGIN_UNKNOWN)
                return askers_add_ask(&pass->askers, object, line);
        return sample_is_slow_buffer_hit(sample, thresholds)
                   ? askers_add_wait(&pass->askers, object, line)
                   : 0;
}

static void add_gains(struct findings_pass *pass, const struct sample_facts *sample,
                      uint32_t line, uint32_t object)
{
        if (!pass->gains)
                return;
        const struct gain_parts parts = gain_of_sample(sample, &pass->input->machine);
        gain_add(&pass->gains[line], &parts);
        gain_add(&pass->object_gains[object], &parts);
        gain_add(&pass->run_gains, &parts);
}

/* Returns 0 or -ENOMEM. */
static int add_request(struct findings_pass *pass, const struct sample_facts *sample,
                       uint32_t line, int64_t location)
{
        const bool requests = sample->level > LEVEL_LFB && sample->latency_cycles > 0;
        if (!requests || location <= 0 || location > UINT32_MAX)
                return 0;
        struct requests *here = pairs_get(&pass->requests, line, (uint32_t)location);
        if (!here)
                return -ENOMEM;
        here->samples++;
        here->latency_cycles += (double)sample->latency_cycles;
        return 0;
}

/* Returns 0, or -ENOMEM if SQLite has no room for a row. */
static int store_part(struct findings_pass *pass, int64_t sample_id, int part)
{
        if (!pass->insert_part)
                return 0;
        sqlite3_bind_int64(pass->insert_part, 1, sample_id);
        sqlite3_bind_int(pass->insert_part, 2, part);
        sqlite3_step(pass->insert_part);
        return sqlite3_reset(pass->insert_part) == SQLITE_OK ? 0 : -ENOMEM;
}

static int add_sample(void *context, sqlite3_stmt *row)
{
        struct findings_pass *pass = context;
        const struct findings_input *input = pass->input;
        const struct data_source *source =
            data_sources_of_row(&pass->sources, row, COLUMN_SOURCE);
        if (!source)
                return 0;
        const struct judged_interval *interval =
            interval_at(input, sqlite3_column_int64(row, 0));
        struct sample_facts sample = sample_of_row(pass, row, source, interval);
        int64_t location = placing_of_row(&pass->placing, row, COLUMN_PLACING);
        uint32_t line, function;
        grouping_of_location(&pass->grouping, location, &line, &function);
        uint32_t object = object_of_row(pass, row);
        if (sample.level == LEVEL_LFB) {
                const struct origins *touched =
                    object ? pairs_get(&pass->touched, function, object) : NULL;
                if (object && !touched)
                        return -ENOMEM;
                sample.line_origin = origin_at(pass, line, function, touched, interval);
        }
        sample.full_cause = buffer_use_cause(&pass->buffer_uses[function]);
        enum answer contended = sample_contended(&sample, &input->thresholds);
        enum cause cause = sample_cause(&sample, &input->machine, &input->thresholds);
        uint32_t field = field_of_row(row, COLUMN_FIELD);
        uint32_t pair = pairs_place(&pass->pairs, line, object);
        struct short_tally *access =
            pair == UINT32_MAX ? NULL : pairs_get(&pass->accesses, pair, field);
        struct tally *of_field = pairs_get(&pass->fields, 0, field);
        if (!access || !of_field)
                return -ENOMEM;
        struct tally *tallies[] = {&pass->whole, &pass->lines[line],
                                   &pass->functions[function], &pass->objects[object],
                                   of_field};
        for (size_t i = 0; i < sizeof(tallies) / sizeof(tallies[0]); i++)
                tally_add(tallies[i], &sample, contended, cause);
        short_tally_add(access, &sample, contended);
        add_gains(pass, &sample, line, object);
        count_gaps(pass->gaps, &sample, interval);
        if (add_request(pass, &sample, line, location) ||
            add_asker(pass, &sample, line, object) ||
            store_part(pass, sqlite3_column_int64(row, COLUMN_SAMPLE),
                       tally_part(&sample, contended, cause)))
                return -ENOMEM;
        struct user_part part = {
            .samples = 1,
            .cost = tally_cost(&sample),
            .retire_cycles = fmax(0, (double)sample.retire_latency_cycles),
        };
        if (user_code_add(&pass->user_code, line, function, location,
                          sqlite3_column_int64(row, COLUMN_STACK), &part))
                return -ENOMEM;
        return sample.latency_cycles < 0
                   ? 0
                   : latencies_add(&pass->latencies, line, sample.latency_cycles);
}

static int each_sample(struct db *db, struct findings_pass *pass, statement_take *take,
                       struct diag *diag)
{
        static const char sql[] =
            "SELECT s.time_ns, s.latency_cycles, " DATA_SOURCE_COLUMNS ", s.stall_ns,"
            " a.object_id, a.field_id, s.stack_id," STATEMENT_STALL
            ", s.sample_id, (SELECT sets FROM set_conflict AS c"
            "  WHERE c.sample_id = s.sample_id),"
            " " PLACING_COLUMNS " " PLACING_SAMPLES " ORDER BY s.sample_id";
        return statement_each(db, sql, take, pass, diag);
}

/* ---- page faults ---- */

/* A page fault counts at its location, but not as a load. */
static int add_fault(void *context, sqlite3_stmt *row)
{
        enum {
                COLUMN_CYCLES = 1,
                COLUMN_OBJECT_HERE,
                COLUMN_FIELD_HERE,
                COLUMN_STACK_HERE,
                COLUMN_PLACING_HERE
        };
        struct findings_pass *pass = context;
        const int64_t faults = sqlite3_column_int64(row, 0);
        const double cycles = sqlite3_column_double(row, COLUMN_CYCLES);
        int64_t location = placing_of_row(&pass->placing, row, COLUMN_PLACING_HERE);
        uint32_t line, function;
        grouping_of_location(&pass->grouping, location, &line, &function);
        uint32_t object = grouping_of_object(
            &pass->grouping, sqlite3_column_int64(row, COLUMN_OBJECT_HERE));
        struct tally *of_field =
            pairs_get(&pass->fields, 0, field_of_row(row, COLUMN_FIELD_HERE));
        if (!of_field)
                return -ENOMEM;
        struct tally *tallies[] = {&pass->whole, &pass->lines[line],
                                   &pass->functions[function], &pass->objects[object],
                                   of_field};
        for (size_t i = 0; i < sizeof(tallies) / sizeof(tallies[0]); i++)
                tally_add_faults(tallies[i], faults, cycles);
        if (pass->gains) {
                pass->gains[line].fault_cycles += cycles;
                pass->run_gains.fault_cycles += cycles;
        }
        const struct user_part part = {.retire_cycles =
                                           findings_faults_as_stall(cycles, pass->input)};
        return user_code_add(&pass->user_code, line, function, location,
                             sqlite3_column_int64(row, COLUMN_STACK_HERE), &part);
}

static int each_fault(struct db *db, struct findings_pass *pass, struct diag *diag)
{
        static const char sql[] =
            "SELECT f.faults, f.kernel_cycles, a.object_id, a.field_id, "
            "s.stack_id, " PLACING_COLUMNS
            " FROM page_fault AS f JOIN sample AS s USING (sample_id)"
            " LEFT JOIN attribution AS a USING (sample_id) ORDER BY f.sample_id";
        return statement_each(db, sql, add_fault, pass, diag);
}

/* The totals also include timer samples without a load. */
static int add_unstalled(struct db *db, struct findings_pass *pass, struct diag *diag)
{
        struct tally *whole = &pass->whole;
        int64_t all_ns;
        if (!(whole->cost > 0) || whole->latencies > 0)
                return 0;
        int code = statement_number(db, "SELECT CAST(" STATEMENT_TIMED_NS "AS INTEGER)",
                                    &all_ns, diag);
        double others_ns = (double)all_ns - whole->cost;
        if (code < 0 || !(others_ns > 0))
                return code;
        double period_ns = whole->cost / (double)whole->samples;
        whole->cost += others_ns;
        whole->cost_squared += others_ns * period_ns;
        return 0;
}

int findings_make(struct db *db, const struct findings_input *input,
                  struct findings_gaps *gaps, struct diag *diag)
{
        *gaps = (struct findings_gaps){0};
        struct findings_pass pass = {.input = input, .gaps = gaps};
        int code = pass_open(db, &pass, diag);
        if (!code)
                code = each_sample(db, &pass, add_request_facts, diag);
        if (!code)
                code = each_sample(db, &pass, add_sample, diag);
        if (!code)
                code = each_fault(db, &pass, diag);
        if (!code)
                code = add_unstalled(db, &pass, diag);
        if (!code)
                code = findings_store(db, &pass, diag);
        if (!code)
                code = findings_store_certainty(db, &pass, diag);
        pass_close(&pass);
        return code;
}
