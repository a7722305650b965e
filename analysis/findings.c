/* SPDX-License-Identifier: MIT */
/* Two passes over the memory samples: the first learns where each line of code gets
 * its data from, in the second each sample gets its cause, and is added to its line,
 * function, object, field and what of these belongs together. The rules are
 * elsewhere. */
#include "findings.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "data_sources.h"
#include "grouping.h"
#include "latencies.h"
#include "pairs.h"
#include "placing.h"
#include "statement.h"
#include "tally.h"
#include "user_code.h"

struct pass {
        const struct findings_input *input;
        struct findings_gaps *gaps;
        struct grouping grouping;
        struct placing placing;
        struct data_sources sources;
        struct origins *line_origins;
        struct origins *function_origins;
        struct pairs touched; /* of function and object: the origins of its loads */
        struct origins run_origins;
        struct tally whole;
        struct tally *lines;
        struct tally *functions;
        struct tally *objects;      /* by grouping_of_object; 0: no object */
        struct pairs pairs;         /* of line and object */
        struct pairs accesses;      /* of such a pair's index and a field: tallies */
        struct pairs fields;        /* of 0 and a field: tallies */
        struct latencies latencies; /* of each line, for the percentiles */
        struct user_code user_code;
};

/* ---- preparation ---- */

static int pass_open(struct db *db, struct pass *pass, struct diag *diag)
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
        pass->touched.value_bytes = sizeof(struct origins);
        pass->accesses.value_bytes = sizeof(struct tally);
        pass->fields.value_bytes = sizeof(struct tally);
        pass->lines = calloc(pass->grouping.line_groups, sizeof(struct tally));
        pass->functions = calloc(pass->grouping.function_groups, sizeof(struct tally));
        pass->objects = calloc(pass->grouping.object_count + 1, sizeof(struct tally));
        if (!pass->line_origins || !pass->function_origins || !pass->lines ||
            !pass->functions || !pass->objects)
                return diag_no_memory(diag);
        return 0;
}

static void pass_close(struct pass *pass)
{
        grouping_free(&pass->grouping);
        placing_free(&pass->placing);
        pairs_free(&pass->pairs);
        pairs_free(&pass->accesses);
        pairs_free(&pass->fields);
        data_sources_free(&pass->sources);
        free(pass->line_origins);
        free(pass->function_origins);
        pairs_free(&pass->touched);
        free(pass->lines);
        free(pass->functions);
        free(pass->objects);
        latencies_free(&pass->latencies);
        user_code_free(&pass->user_code);
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
        if (sample->stall_ns > 0) /* timers tell neither, which is no gap */
                return;
        gaps->samples_without_latency += sample->latency_cycles < 0;
        gaps->samples_without_interval += !interval;
        gaps->waits_of_unknown_contention += level_waits_for_dram(sample->level) &&
                                             sample->bandwidth_short == ANSWER_UNKNOWN &&
                                             !sample->without_waits;
}

enum { COLUMN_OBJECT = 4, COLUMN_STACK = 6, COLUMN_PLACING };

/* Columns: time_ns, latency_cycles, data_source_id, stall_ns, object_id, field_id,
 * stack_id, those of the place. */
static struct sample_facts sample_of_row(const struct pass *pass, sqlite3_stmt *row,
                                         const struct judged_interval *interval)
{
        const struct data_source *source =
            data_sources_find(&pass->sources, sqlite3_column_int64(row, 2));
        bool timed = sqlite3_column_type(row, 1) != SQLITE_NULL &&
                     sqlite3_column_int64(row, 1) >= 0;
        return (struct sample_facts){
            .level = source->level,
            .tlb_missed = source->tlb_missed,
            .hit_modified = source->hit_modified,
            .latency_cycles = timed ? sqlite3_column_int64(row, 1) : -1,
            .stall_ns =
                sqlite3_column_int64(row, 3) > 0 ? sqlite3_column_int64(row, 3) : 0,
            .bandwidth_short = interval ? interval->bandwidth_short : ANSWER_UNKNOWN,
            .interval_bound = interval ? interval->bound : BOUND_UNKNOWN,
            .interval_lacks_buffers = interval && interval->lacks_buffers,
            .without_waits = pass->input->without_waits,
        };
}

/* 0: none, or no number that symbolize gives. */
static uint32_t field_of_row(sqlite3_stmt *row, int column)
{
        int64_t id = sqlite3_column_int64(row, column);
        return id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

static uint32_t object_of_row(const struct pass *pass, sqlite3_stmt *row)
{
        return grouping_of_object(&pass->grouping,
                                  sqlite3_column_int64(row, COLUMN_OBJECT));
}

static int add_origin(void *context, sqlite3_stmt *row)
{
        struct pass *pass = context;
        struct sample_facts sample = sample_of_row(pass, row, NULL);
        enum origin origin = sample_origin(&sample, &pass->input->thresholds);
        if (origin == ORIGIN_UNKNOWN)
                return 0;
        uint32_t line, function;
        grouping_of_location(&pass->grouping,
                             placing_of_row(&pass->placing, row, COLUMN_PLACING), &line,
                             &function);
        struct origins *touched =
            pairs_get(&pass->touched, function, object_of_row(pass, row));
        if (!touched)
                return -ENOMEM;
        /* Lines that cores fight for tell nothing of the run's other lines. */
        struct origins *places[] = {&pass->line_origins[line], touched,
                                    &pass->function_origins[function],
                                    origin == ORIGIN_SHARING ? NULL : &pass->run_origins};
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
                if (places[i])
                        origins_add(places[i], origin, (double)sample.latency_cycles);
        return 0;
}

/* Where the lines on their way at a place come from: what is known of it first, then what
 * is known of its time, then of the run. TOUCHED: of its function's loads from the same
 * object; NULL where that is not known. */
static enum origin origin_at(const struct pass *pass, uint32_t line, uint32_t function,
                             const struct origins *touched,
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

static int add_sample(void *context, sqlite3_stmt *row)
{
        struct pass *pass = context;
        const struct findings_input *input = pass->input;
        const struct judged_interval *interval =
            interval_at(input, sqlite3_column_int64(row, 0));
        struct sample_facts sample = sample_of_row(pass, row, interval);
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
        enum answer contended = sample_contended(&sample, &input->thresholds);
        enum cause cause = sample_cause(&sample, &input->machine, &input->thresholds);
        uint32_t field = field_of_row(row, 5);
        uint32_t pair = pairs_place(&pass->pairs, line, object);
        struct tally *access =
            pair == UINT32_MAX ? NULL : pairs_get(&pass->accesses, pair, field);
        struct tally *of_field = pairs_get(&pass->fields, 0, field);
        if (!access || !of_field)
                return -ENOMEM;
        struct tally *tallies[] = {&pass->whole,
                                   &pass->lines[line],
                                   &pass->functions[function],
                                   &pass->objects[object],
                                   access,
                                   of_field};
        for (size_t i = 0; i < sizeof(tallies) / sizeof(tallies[0]); i++)
                tally_add(tallies[i], &sample, contended, cause);
        count_gaps(pass->gaps, &sample, interval);
        if (user_code_add(&pass->user_code, line, function, location,
                          sqlite3_column_int64(row, COLUMN_STACK), tally_cost(&sample)))
                return -ENOMEM;
        return sample.latency_cycles < 0
                   ? 0
                   : latencies_add(&pass->latencies, line, sample.latency_cycles);
}

static int each_sample(struct db *db, struct pass *pass, statement_take *take,
                       struct diag *diag)
{
        static const char sql[] =
            "SELECT s.time_ns, s.latency_cycles, s.data_source_id, s.stall_ns,"
            " a.object_id, a.field_id, s.stack_id, " PLACING_COLUMNS
            " " PLACING_SAMPLES STATEMENT_MEMORY_SAMPLES "ORDER BY s.sample_id";
        return statement_each(db, sql, take, pass, diag);
}

/* ---- the tables ---- */

/* Timer samples tell of no cause. */
static enum verdict tally_verdict(const struct tally *tally,
                                  const struct findings_input *input)
{
        if (tally->latencies == 0 && tally->cost > 0)
                return VERDICT_NONE;
        double loads_per_cycle = input->loads_per_sample / input->total_cycles;
        struct verdict_facts facts = tally_facts(tally, loads_per_cycle);
        facts.bandwidth_untold |= input->without_waits;
        return verdict_of(&facts);
}

static void bind_contended(sqlite3_stmt *insert, int index, const struct tally *tally)
{
        int64_t contended = tally_contended(tally);
        if (contended < 0)
                sqlite3_bind_null(insert, index);
        else
                sqlite3_bind_int64(insert, index, contended);
}

/* Binds the findings' common columns from parameter 2 on: samples, dram_samples,
 * mean, p95, share, low, high, contended_samples, verdict. */
static enum verdict bind_finding(sqlite3_stmt *insert, const struct tally *tally,
                                 double p95, const struct pass *pass)
{
        struct share share = cost_share(tally, &pass->whole);
        enum verdict verdict = tally_verdict(tally, pass->input);
        sqlite3_bind_int64(insert, 2, tally->samples);
        sqlite3_bind_int64(insert, 3, tally->dram_samples);
        statement_bind_real(insert, 4, tally_mean_latency(tally));
        statement_bind_real(insert, 5, p95);
        statement_bind_real(insert, 6, share.value);
        statement_bind_real(insert, 7, share.low);
        statement_bind_real(insert, 8, share.high);
        bind_contended(insert, 9, tally);
        sqlite3_bind_text(insert, 10, verdict_name(verdict), -1, SQLITE_STATIC);
        return verdict;
}

/* What the first three of bind_caller's parameters become. */
#define CALLER                                                                           \
        " (SELECT path FROM module WHERE module_id = ?12),"                              \
        " (SELECT text FROM name WHERE name_id = ?13),"                                  \
        " (SELECT text FROM name WHERE name_id = ?14),"

/* Parameters from 12 on: the PLACE of the user's that led to PART of WHOLE; NULL: there
 * is none. */
static void bind_caller(sqlite3_stmt *insert, const struct user_place *place,
                        const struct user_part *part, const struct tally *whole)
{
        for (int i = 12; i <= 15; i++)
                sqlite3_bind_null(insert, i);
        if (!place)
                return;
        sqlite3_bind_int64(insert, 12, place->module_id);
        sqlite3_bind_int64(insert, 13, place->function_id);
        sqlite3_bind_int64(insert, 14, place->file_id);
        statement_bind_real(insert, 15,
                            whole->cost > 0
                                ? part->cost / whole->cost
                                : (double)part->samples / (double)whole->samples);
}

static int store_lines(struct db *db, struct pass *pass, const double *p95,
                       struct diag *diag)
{
        static const char sql[] =
            "INSERT INTO line_finding SELECT ?1, m.path, l.function, l.file, l.line,"
            " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10," CALLER " ?16, ?15 "
            "FROM (SELECT 1) LEFT JOIN location AS l ON l.location_id = ?11"
            " LEFT JOIN module AS m USING (module_id)";
        struct user_place place;
        struct user_part part;
        sqlite3_stmt *insert;
        int code = statement_prepare(db, sql, &insert, diag);
        for (size_t g = 0; code == 0 && g < pass->grouping.line_groups; g++) {
                if (!pass->lines[g].samples)
                        continue;
                sqlite3_bind_int64(insert, 1, (int64_t)g);
                enum verdict verdict =
                    bind_finding(insert, &pass->lines[g], p95[g], pass);
                sqlite3_bind_int64(insert, 11, pass->grouping.line_location[g]);
                bool led =
                    user_code_of_line(&pass->user_code, (uint32_t)g, &place, &part);
                bind_caller(insert, led ? &place : NULL, &part, &pass->lines[g]);
                sqlite3_bind_null(insert, 16);
                if (led && place.line)
                        sqlite3_bind_int64(insert, 16, place.line);
                pass->gaps->lines_with_too_few_samples +=
                    verdict == VERDICT_TOO_FEW_SAMPLES;
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static int store_functions(struct db *db, struct pass *pass, const double *p95,
                           struct diag *diag)
{
        static const char sql[] =
            "INSERT INTO function_finding SELECT ?1, m.path, l.function,"
            " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10," CALLER " ?15 "
            "FROM (SELECT 1) LEFT JOIN location AS l ON l.location_id = ?11"
            " LEFT JOIN module AS m USING (module_id)";
        struct user_place place;
        struct user_part part;
        sqlite3_stmt *insert;
        int code = statement_prepare(db, sql, &insert, diag);
        for (size_t g = 0; code == 0 && g < pass->grouping.function_groups; g++) {
                if (!pass->functions[g].samples)
                        continue;
                sqlite3_bind_int64(insert, 1, (int64_t)g);
                bind_finding(insert, &pass->functions[g], p95[g], pass);
                sqlite3_bind_int64(insert, 11, pass->grouping.function_location[g]);
                bool led =
                    user_code_of_function(&pass->user_code, (uint32_t)g, &place, &part);
                bind_caller(insert, led ? &place : NULL, &part, &pass->functions[g]);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static int store_objects(struct db *db, struct pass *pass, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(db,
                                     "INSERT INTO object_finding "
                                     "VALUES (?1, ?2, ?3, ?4, ?6, ?7, ?8, ?9, ?10)",
                                     &insert, diag);
        for (size_t i = 0; code == 0 && i < pass->grouping.object_count; i++) {
                const struct tally *tally = &pass->objects[i + 1];
                if (!tally->samples)
                        continue;
                if (pass->grouping.objects[i].own) {
                        pass->gaps->samples_in_own_objects += tally->samples;
                        continue;
                }
                sqlite3_bind_int64(insert, 1, pass->grouping.objects[i].object_id);
                bind_finding(insert, tally, NAN, pass);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static int store_fields(struct db *db, struct pass *pass, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(db,
                                     "INSERT INTO field_finding "
                                     "SELECT ?1, ?2, ?3, ?4, ?6, ?7, ?8, ?9, ?10 "
                                     "WHERE EXISTS (SELECT 1 FROM type_field"
                                     " WHERE field_id = ?1)",
                                     &insert, diag);
        if (code == 0 && pairs_sort(&pass->fields))
                code = diag_no_memory(diag);
        for (size_t i = 0; code == 0 && i < pass->fields.count; i++) {
                const struct pair *field = &pass->fields.pairs[i];
                if (!field->second)
                        continue;
                sqlite3_bind_int64(insert, 1, field->second);
                bind_finding(insert, pairs_value(&pass->fields, i), NAN, pass);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static int store_pairs(struct db *db, struct pass *pass, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(
            db, "INSERT INTO line_object_finding VALUES (?, ?, ?, ?, ?, ?)", &insert,
            diag);
        if (code == 0 && pairs_sort(&pass->accesses))
                code = diag_no_memory(diag);
        for (size_t i = 0; code == 0 && i < pass->accesses.count; i++) {
                const struct pair *access = &pass->accesses.pairs[i];
                const struct tally *tally = pairs_value(&pass->accesses, i);
                const struct pair *pair = &pass->pairs.pairs[access->first];
                sqlite3_bind_int64(insert, 1, pair->first);
                if (pair->second)
                        sqlite3_bind_int64(
                            insert, 2,
                            pass->grouping.objects[pair->second - 1].object_id);
                else
                        sqlite3_bind_null(insert, 2);
                sqlite3_bind_int64(insert, 3, tally->samples);
                statement_bind_real(insert, 4, tally_mean_latency(tally));
                bind_contended(insert, 5, tally);
                if (access->second)
                        sqlite3_bind_int64(insert, 6, access->second);
                else
                        sqlite3_bind_null(insert, 6);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static int store_findings(struct db *db, struct pass *pass, struct diag *diag)
{
        const struct latencies *latencies = &pass->latencies;
        const struct grouping *grouping = &pass->grouping;
        double *line_p95 = calloc(grouping->line_groups, sizeof(*line_p95));
        double *function_p95 = calloc(grouping->function_groups, sizeof(*function_p95));
        int code;
        if (!line_p95 || !function_p95 || user_code_sort(&pass->user_code) ||
            latencies_percentile(latencies, NULL, grouping->line_groups, 95, line_p95) ||
            latencies_percentile(latencies, grouping->line_function,
                                 grouping->function_groups, 95, function_p95))
                code = diag_no_memory(diag);
        else
                code = store_lines(db, pass, line_p95, diag);
        if (!code)
                code = store_functions(db, pass, function_p95, diag);
        if (!code)
                code = store_objects(db, pass, diag);
        if (!code)
                code = store_fields(db, pass, diag);
        if (!code)
                code = store_pairs(db, pass, diag);
        free(line_p95);
        free(function_p95);
        return code;
}

int findings_make(struct db *db, const struct findings_input *input,
                  struct findings_gaps *gaps, struct diag *diag)
{
        *gaps = (struct findings_gaps){0};
        struct pass pass = {.input = input, .gaps = gaps};
        int code = pass_open(db, &pass, diag);
        if (!code && data_sources_have(&pass.sources,
                                       LEVEL_LFB)) /* nothing else asks for origins */
                code = each_sample(db, &pass, add_origin, diag);
        if (!code)
                code = each_sample(db, &pass, add_sample, diag);
        if (!code)
                code = store_findings(db, &pass, diag);
        pass_close(&pass);
        return code;
}
