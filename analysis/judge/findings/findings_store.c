/* SPDX-License-Identifier: MIT */
/* Writes the tables of findings from the sums of the passes over the samples. Other files
 * hold the rules. */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "findings_pass.h"
#include "statement.h"

/* Loads per sample over total cycles; NAN: not known. */
static double loads_per_cycle(const struct findings_input *input)
{
        return input->loads_per_sample / input->total_cycles;
}

struct verdict_facts findings_facts(const struct tally *tally, const struct tally *whole,
                                    const struct findings_input *input)
{
        struct verdict_facts facts =
            tally_facts(tally, loads_per_cycle(input), input->total_cycles);
        facts.bandwidth_untold |= input->without_waits;
        const struct share stalled =
            tally_stalled(tally, whole, input->loads_per_sample, loads_per_cycle(input));
        facts.stalls_known =
            tally->retirements == tally->samples &&
            (stalled.value > 0 || stalled.high < VERDICT_HIDDEN_RATIO_MAX ||
             tally->retirements >= VERDICT_UNSTALLED_MIN);
        facts.may_stall = stalled.high >= VERDICT_HIDDEN_RATIO_MAX;
        return facts;
}

/* Timer samples have no cause. Page faults are counted, not sampled: a place with page
 * faults only needs no number of samples. */
static enum verdict tally_verdict(const struct tally *tally, const struct tally *whole,
                                  const struct findings_input *input)
{
        if (tally->latencies == 0 && tally->cost > 0)
                return VERDICT_NONE;
        struct verdict_facts facts = findings_facts(tally, whole, input);
        enum verdict verdict = verdict_of(&facts);
        return verdict == VERDICT_TOO_FEW_SAMPLES && !tally->samples ? VERDICT_NONE
                                                                     : verdict;
}

/* Binds COUNT, or NULL for a negative (unknown) COUNT. */
static void bind_count(sqlite3_stmt *insert, int index, int64_t count)
{
        if (count < 0)
                sqlite3_bind_null(insert, index);
        else
                sqlite3_bind_int64(insert, index, count);
}

/* A run that never measured contention gets NULL, also for samples that cannot have been
 * contended. */
static void bind_contended(sqlite3_stmt *insert, int index, const struct tally *whole,
                           const struct contended_tally *tally)
{
        bind_count(insert, index,
                   whole->contended.told > 0 ? tally_contended(tally) : -1);
}

/* The share of cycles that loads and page faults stalled. STALLED is NAN for code with
 * page faults but no loads. Not known if WHOLE has loads, but not their stalls. */
static double with_faults(double stalled, double faulted, const struct tally *whole)
{
        if (!(faulted > 0) || (whole->samples && !whole->retirements))
                return stalled;
        return isnan(stalled) ? faulted : stalled + faulted;
}

/* Binds the findings' common columns. From parameter 2: samples, dram_samples, mean, p95,
 * share, low, high, contended_samples, verdict. From 17: stalled_ratio with low and high,
 * cache_level, level_samples, page_faults and fault_ratio. OTHERWISE gives cache_level if
 * TALLY does not. */
static enum verdict bind_finding(sqlite3_stmt *insert, const struct tally *tally,
                                 double p95, const struct findings_pass *pass,
                                 const struct tally *otherwise)
{
        struct share share = cost_share(tally, &pass->whole);
        enum verdict verdict = tally_verdict(tally, &pass->whole, pass->input);
        sqlite3_bind_int64(insert, 2, tally->samples);
        bind_count(insert, 3, tally_dram(tally));
        statement_bind_real(insert, 4,
                            tally_mean_latency(tally->latency_cycles, tally->latencies));
        statement_bind_real(insert, 5, p95);
        statement_bind_real(insert, 6, share.value);
        statement_bind_real(insert, 7, share.low);
        statement_bind_real(insert, 8, share.high);
        bind_contended(insert, 9, &pass->whole, &tally->contended);
        sqlite3_bind_text(insert, 10, verdict_name(verdict), -1, SQLITE_STATIC);
        struct share stalled =
            tally_stalled(tally, &pass->whole, pass->input->loads_per_sample,
                          loads_per_cycle(pass->input));
        double faulted = tally->fault_cycles / pass->input->total_cycles;
        statement_bind_real(insert, 17,
                            with_faults(stalled.value, faulted, &pass->whole));
        statement_bind_real(insert, 18, with_faults(stalled.low, faulted, &pass->whole));
        statement_bind_real(insert, 19, with_faults(stalled.high, faulted, &pass->whole));
        enum level cache = tally_cache_level(tally);
        if (cache == LEVEL_NA)
                cache = tally_cache_level(otherwise);
        if (verdict == VERDICT_CACHE && cache != LEVEL_NA)
                sqlite3_bind_text(insert, 20, level_name(cache), -1, SQLITE_STATIC);
        else
                sqlite3_bind_null(insert, 20);
        sqlite3_bind_int64(insert, 21, tally->levels);
        sqlite3_bind_int64(insert, 22, tally->faults);
        statement_bind_real(insert, 23, pass->whole.faults ? faulted : NAN);
        return verdict;
}

static bool is_empty(const struct tally *tally)
{
        return !tally->samples && !tally->faults;
}

/* The values of bind_caller's first three parameters. */
#define CALLER                                                                           \
        " (SELECT path FROM module WHERE module_id = ?12),"                              \
        " (SELECT text FROM name WHERE name_id = ?13),"                                  \
        " (SELECT text FROM name WHERE name_id = ?14),"

static enum user_weight weight_of(const struct tally *tally)
{
        return tally_tells_stalls(tally) || tally->fault_cycles > 0 ? USER_RETIRE_CYCLES
                                                                    : USER_COST;
}

/* PART's share of WHOLE. */
static double part_of(const struct user_part *part, const struct tally *whole,
                      const struct findings_input *input)
{
        if (weight_of(whole) == USER_RETIRE_CYCLES)
                return part->retire_cycles /
                       (whole->retire_cycles +
                        findings_faults_as_stall(whole->fault_cycles, input));
        return whole->cost > 0 ? part->cost / whole->cost
                               : (double)part->samples / (double)whole->samples;
}

/* Binds the parameters from 12: the user's PLACE that led to PART of WHOLE. NULL: no such
 * place. */
static void bind_caller(sqlite3_stmt *insert, const struct user_place *place,
                        const struct user_part *part, const struct tally *whole,
                        const struct findings_input *input)
{
        for (int i = 12; i <= 15; i++)
                sqlite3_bind_null(insert, i);
        if (!place)
                return;
        sqlite3_bind_int64(insert, 12, place->module_id);
        sqlite3_bind_int64(insert, 13, place->function_id);
        sqlite3_bind_int64(insert, 14, place->file_id);
        statement_bind_real(insert, 15, part_of(part, whole, input));
}

static int store_lines(struct db *db, struct findings_pass *pass, const double *p95,
                       struct diag *diag)
{
        static const char sql[] =
            "INSERT INTO line_finding SELECT ?1, m.path, l.function, l.file, l.line,"
            " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10," CALLER " ?16, ?15, l.function_offset,"
            " ?17, ?18, ?19, ?20, ?21, ?22, ?23 "
            "FROM (SELECT 1) LEFT JOIN location AS l ON l.location_id = ?11"
            " LEFT JOIN module AS m USING (module_id)";
        struct user_place place;
        struct user_part part;
        sqlite3_stmt *insert;
        int code = statement_prepare(db, sql, &insert, diag);
        for (size_t g = 0; code == 0 && g < pass->grouping.line_groups; g++) {
                if (is_empty(&pass->lines[g]))
                        continue;
                sqlite3_bind_int64(insert, 1, (int64_t)g);
                enum verdict verdict =
                    bind_finding(insert, &pass->lines[g], p95[g], pass,
                                 &pass->functions[pass->grouping.line_function[g]]);
                sqlite3_bind_int64(insert, 11, pass->grouping.line_location[g]);
                bool led = user_code_of_line(&pass->user_code, (uint32_t)g,
                                             weight_of(&pass->lines[g]), &place, &part);
                bind_caller(insert, led ? &place : NULL, &part, &pass->lines[g],
                            pass->input);
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

static int store_functions(struct db *db, struct findings_pass *pass, const double *p95,
                           struct diag *diag)
{
        static const char sql[] =
            "INSERT INTO function_finding SELECT ?1, m.path, l.function,"
            " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10," CALLER " ?15, l.function_offset,"
            " ?17, ?18, ?19, ?20, ?21, ?22, ?23 "
            "FROM (SELECT 1) LEFT JOIN location AS l ON l.location_id = ?11"
            " LEFT JOIN module AS m USING (module_id)";
        struct user_place place;
        struct user_part part;
        sqlite3_stmt *insert;
        int code = statement_prepare(db, sql, &insert, diag);
        for (size_t g = 0; code == 0 && g < pass->grouping.function_groups; g++) {
                if (is_empty(&pass->functions[g]))
                        continue;
                sqlite3_bind_int64(insert, 1, (int64_t)g);
                bind_finding(insert, &pass->functions[g], p95[g], pass,
                             &pass->functions[g]);
                sqlite3_bind_int64(insert, 11, pass->grouping.function_location[g]);
                bool led =
                    user_code_of_function(&pass->user_code, (uint32_t)g,
                                          weight_of(&pass->functions[g]), &place, &part);
                bind_caller(insert, led ? &place : NULL, &part, &pass->functions[g],
                            pass->input);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static int store_objects(struct db *db, struct findings_pass *pass, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code =
            statement_prepare(db,
                              "INSERT INTO object_finding "
                              "VALUES (?1, ?2, ?3, ?4, ?6, ?7, ?8, ?9, ?10, ?17, ?18, "
                              "?19, ?20, ?21, ?22, ?23)",
                              &insert, diag);
        for (size_t i = 0; code == 0 && i < pass->grouping.object_count; i++) {
                const struct tally *tally = &pass->objects[i + 1];
                if (is_empty(tally))
                        continue;
                if (pass->grouping.objects[i].own) {
                        pass->gaps->samples_in_own_objects += tally->samples;
                        continue;
                }
                sqlite3_bind_int64(insert, 1, pass->grouping.objects[i].object_id);
                bind_finding(insert, tally, NAN, pass, tally);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static int store_fields(struct db *db, struct findings_pass *pass, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(db,
                                     "INSERT INTO field_finding "
                                     "SELECT ?1, ?2, ?3, ?4, ?6, ?7, ?8, ?9, ?10, ?17, "
                                     "?18, ?19, ?20, ?21, ?22, ?23 "
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
                const struct tally *tally = pairs_value(&pass->fields, i);
                bind_finding(insert, tally, NAN, pass, tally);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

static int store_pairs(struct db *db, struct findings_pass *pass, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(
            db, "INSERT INTO line_object_finding VALUES (?, ?, ?, ?, ?, ?, ?)", &insert,
            diag);
        if (code == 0 && pairs_sort(&pass->accesses))
                code = diag_no_memory(diag);
        for (size_t i = 0; code == 0 && i < pass->accesses.count; i++) {
                const struct pair *access = &pass->accesses.pairs[i];
                const struct short_tally *tally = pairs_value(&pass->accesses, i);
                const struct pair *pair = &pass->pairs.pairs[access->first];
                sqlite3_bind_int64(insert, 1, pair->first);
                if (pair->second)
                        sqlite3_bind_int64(
                            insert, 2,
                            pass->grouping.objects[pair->second - 1].object_id);
                else
                        sqlite3_bind_null(insert, 2);
                sqlite3_bind_int64(insert, 3, tally->samples);
                statement_bind_real(
                    insert, 4,
                    tally_mean_latency(tally->latency_cycles, tally->latencies));
                bind_contended(insert, 5, &pass->whole, &tally->contended);
                statement_bind_real(insert, 7,
                                    tally->retirements ? tally->retire_cycles *
                                                             loads_per_cycle(pass->input)
                                                       : NAN);
                if (access->second)
                        sqlite3_bind_int64(insert, 6, access->second);
                else
                        sqlite3_bind_null(insert, 6);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

struct asker_rows {
        struct db *db;
        sqlite3_stmt *insert;
        struct diag *diag;
};

static int store_asker(void *context, const struct asker *asker)
{
        struct asker_rows *rows = context;
        sqlite3_bind_int64(rows->insert, 1, asker->line);
        if (asker->asker == ASKER_ELSEWHERE)
                sqlite3_bind_null(rows->insert, 2);
        else
                sqlite3_bind_int64(rows->insert, 2, asker->asker);
        sqlite3_bind_int64(rows->insert, 3, asker->samples);
        sqlite3_bind_double(rows->insert, 4, asker->share);
        return statement_run(rows->db, rows->insert, rows->diag);
}

static int store_askers(struct db *db, struct findings_pass *pass, struct diag *diag)
{
        struct asker_rows rows = {.db = db, .diag = diag};
        int code = statement_prepare(
            db, "INSERT INTO line_asker_finding VALUES (?, ?, ?, ?)", &rows.insert, diag);
        if (code)
                return code;
        code = askers_each(&pass->askers, store_asker, &rows);
        sqlite3_finalize(rows.insert);
        return code == -ENOMEM ? diag_no_memory(diag) : code;
}

int findings_store(struct db *db, struct findings_pass *pass, struct diag *diag)
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
        if (!code)
                code = store_askers(db, pass, diag);
        if (!code)
                code = gains_store(db, pass, diag);
        if (!code)
                code = prefetch_store(db, pass, diag);
        free(line_p95);
        free(function_p95);
        return code;
}
