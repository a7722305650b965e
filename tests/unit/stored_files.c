/* SPDX-License-Identifier: MIT */
/* Recording works without a calibration and a validation that cannot be read. */

#include "calibrated.h"
#include "calibration.h"
#include "data_home.h"
#include "validated.h"

/* Makes a file that nobody can open, not even root. */
static void make_unreadable(char *path)
{
        assert_non_null(path);
        assert_ok(symlink(path, path));
        free(path);
}

/* The text written to stderr until the end of said(). */
static FILE *heard;
static int own_stderr;

static void listen_to_stderr(void)
{
        heard = tmpfile();
        assert_non_null(heard);
        own_stderr = dup(STDERR_FILENO);
        assert_true(own_stderr >= 0);
        assert_int_equal(dup2(fileno(heard), STDERR_FILENO), STDERR_FILENO);
}

/* Whether a line on stderr since listen_to_stderr has TEXT. */
static bool said(const char *text)
{
        char line[1024];
        bool found = false;
        dup2(own_stderr, STDERR_FILENO);
        close(own_stderr);
        rewind(heard);
        while (fgets(line, sizeof(line), heard))
                found |= strstr(line, text) != NULL;
        fclose(heard);
        return found;
}

TEST(without_a_calibration_in_reach)
{
        struct machine_identity identity;
        struct diag diag;
        json_t *document;
        machine_identity(&identity);
        listen_to_stderr();
        int rc = calibrated_machine(NULL, NULL, &diag);
        assert_false(said("memlag"));
        assert_int_equal(rc, 0);
        assert_int_equal(calibration_load(&document, &diag), -ENOENT);
        make_unreadable(calibration_path(&identity, ".json", &diag));
        assert_int_equal(calibration_load(&document, &diag), -ELOOP);
        assert_non_null(strstr(diag.text, "cannot read the calibration"));
        listen_to_stderr();
        rc = calibrated_machine(NULL, NULL, &diag);
        assert_true(said("done without it"));
        assert_int_equal(rc, 0);
        assert_ok(calibrated_host(NULL, NULL, &diag));
}

TEST(without_a_validation_in_reach)
{
        const struct source_options options = {.sim_cpu = NULL};
        struct validated validated;
        struct diag diag;
        make_unreadable(validation_path(NULL, &diag));
        listen_to_stderr();
        int rc = validated_read(&source_pebs, &options, &validated, &diag);
        assert_true(said("done without it"));
        assert_int_equal(rc, 0);
        assert_null(validated.document);
        validated_free(&validated);
}
