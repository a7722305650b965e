/* SPDX-License-Identifier: MIT */
/* The output file of a recording, by the user's pattern and the job's rank. */

#define TEST_SETUP without_ranks
#include "output_name.h"
#include "unit_test.h"

static const char *const variables[] = {"MV2_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK",
                                        "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
enum { VARIABLES = LENGTH(variables) };

static int without_ranks(void **state)
{
        unsetenv("SLURM_STEP_NUM_TASKS");
        unsetenv("PMI_SIZE");
        for (size_t i = 0; i < VARIABLES; i++)
                unsetenv(variables[i]);
        return 0;
}

static struct job_rank rank_here(void)
{
        struct job_rank rank;
        struct diag diag;
        assert_int_equal(job_rank_read(&rank, &diag), 0);
        return rank;
}

static void assert_named(const char *pattern, const char *expected)
{
        struct job_rank rank = rank_here();
        struct diag diag;
        char *file;
        assert_ok(output_name(pattern, &rank, &file, &diag));
        assert_string_equal(file, expected);
        free(file);
}

static void assert_refused(const char *pattern, const char *word)
{
        struct job_rank rank = rank_here();
        struct diag diag;
        char *file;
        assert_int_equal(output_name(pattern, &rank, &file, &diag), -EINVAL);
        assert_null(file);
        assert_non_null(strstr(diag.text, word));
}

TEST(each_launcher_tells_the_rank_by_its_own_variable)
{
        assert_null(rank_here().digits);
        setenv("SLURM_STEP_NUM_TASKS", "2", 1);
        for (size_t i = 0; i < VARIABLES; i++) { /* from the last to the first choice */
                char digits[8];
                snprintf(digits, sizeof(digits), "%zu", 10 + i);
                setenv(variables[i], digits, 1);
                assert_string_equal(rank_here().variable, variables[i]);
                assert_string_equal(rank_here().digits, digits);
        }
        assert_named("a.%r.db", "a.14.db");
}

/* As src/common/env.c and the manual pages of sbatch and srun have it. */
TEST(slurm_gives_its_scripts_and_shells_a_rank_that_is_alone)
{
        assert_true(rank_here().alone);
        setenv("SLURM_PROCID", "0", 1); /* a batch script */
        assert_true(rank_here().alone);
        assert_named("a.%r.db", "a.0.db");
        setenv("SLURM_STEP_NUM_TASKS", "1", 1); /* a shell, by salloc or srun --pty */
        setenv("PMI_RANK", "0", 1);
        setenv("PMI_SIZE", "1", 1);
        assert_true(rank_here().alone);
        setenv("MV2_COMM_WORLD_RANK", "5", 1); /* mpirun in that shell */
        assert_false(rank_here().alone);
        assert_string_equal(rank_here().digits, "5");
        unsetenv("MV2_COMM_WORLD_RANK");
        setenv("SLURM_STEP_NUM_TASKS", "2", 1); /* srun */
        assert_false(rank_here().alone);
        assert_string_equal(rank_here().variable, "SLURM_PROCID");
        setenv("PMI_SIZE", "2", 1);
        assert_string_equal(rank_here().variable, "PMI_RANK");
}

TEST(an_empty_rank_is_none_and_a_word_is_an_error)
{
        struct job_rank rank;
        struct diag diag;
        setenv("PMI_RANK", "", 1);
        assert_null(rank_here().digits);
        setenv("PMI_RANK", "../1", 1);
        assert_int_equal(job_rank_read(&rank, &diag), -EINVAL);
        assert_non_null(strstr(diag.text, "PMI_RANK"));
}

TEST(patterns_are_filled_in)
{
        char host[256], expected[512];
        assert_ok(gethostname(host, sizeof(host)));
        setenv("SLURM_PROCID", "007", 1);
        snprintf(expected, sizeof(expected), "d/007-%d-%s-%%r.db", (int)getpid(), host);
        assert_named("d/%r-%p-%h-%%r.db", expected);
        assert_named("plain.db", "plain.db");
}

TEST(unknown_patterns_and_missing_ranks_are_errors)
{
        assert_refused("a.%r.db", "rank");
        setenv("PMIX_RANK", "0", 1);
        assert_refused("a.%d.db", "%d");
        assert_refused("a%", "%");
}
