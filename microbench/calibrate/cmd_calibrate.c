/* SPDX-License-Identifier: MIT */
/* memlag calibrate: measures this machine, stores the result for later runs, and prints
 * it. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate.h"
#include "calibration_show.h"
#include "command.h"
#include "command_line.h"
#include "keeping.h"
#include "microbench.h"
#include "picture.h"
#include "sim_preset.h"

static const char name[] = "calibrate";

enum key { KEY_QUICK = 256, KEY_FORCE, KEY_SHOW, KEY_EXPORT, KEY_PICTURE };

struct calibrate_options {
        bool quick;
        bool force;
        bool show;
        bool json;
        const char *picture;
};

static const struct argp_option option_table[] = {
    {"quick", KEY_QUICK, NULL, 0, "Fewer points and rounds: half a minute at most", 0},
    {"force", KEY_FORCE, NULL, 0, "Store the result even if the stored one is better", 0},
    {"show", KEY_SHOW, NULL, 0, "Show the stored calibration, measure nothing", 0},
    {"export", KEY_EXPORT, "FORMAT", 0,
     "Print the stored calibration as FORMAT: json; measure nothing", 0},
    {"picture", KEY_PICTURE, "FILE", 0,
     "Draw latency over size and over bandwidth into FILE, as SVG", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
        struct calibrate_options *options = state->input;
        switch (key) {
        case KEY_QUICK:
                options->quick = true;
                return 0;
        case KEY_FORCE:
                options->force = true;
                return 0;
        case KEY_SHOW:
                options->show = true;
                return 0;
        case KEY_EXPORT:
                if (strcmp(text, "json") != 0)
                        usage_error(state, "--export: '%s' is not json", text);
                options->json = true;
                return 0;
        case KEY_PICTURE:
                options->picture = text;
                return 0;
        case ARGP_KEY_END:
                if ((options->quick || options->force) &&
                    (options->show || options->json))
                        usage_error(state, "--quick and --force are about measuring, "
                                           "--show and --export do not measure");
                return 0;
        case ARGP_KEY_ARG:
                usage_error(state, "'%s' is not an option", text);
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

/* ---- interruption ---- */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

static void tell_interruption(int number)
{
        static const char text[] = "\nmemlag calibrate: interrupted: nothing is kept, an "
                                   "earlier calibration stays in use\n";
        ssize_t written = write(STDERR_FILENO, text + !isatty(STDERR_FILENO),
                                sizeof(text) - 1 - !isatty(STDERR_FILENO));
        (void)written;
        raise(number); /* restored default action: the signal ends this process */
}

/* Reports leftovers if a signal ends this process during a measurement. Ignored signals
 * stay ignored. */
static void tell_of_interruption(bool tell)
{
        for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++) {
                struct sigaction old,
                    action = {.sa_handler = tell ? tell_interruption : SIG_DFL,
                              .sa_flags = (int)SA_RESETHAND};
                if (sigaction(ending_signals[i], NULL, &old) == 0 &&
                    old.sa_handler != SIG_IGN)
                        sigaction(ending_signals[i], &action, NULL);
        }
}

/* ---- before ---- */

/* Restores prefetchers that a killed calibration left off. */
static int recover_prefetchers(const struct machine_identity *identity, struct diag *diag)
{
        int restored = calibrate_recover(identity, diag);
        if (restored > 0)
                diag_printf(name,
                            "an earlier calibration was killed: the prefetchers of %d "
                            "CPUs are set again as they were before it",
                            restored);
        return restored < 0 ? restored : 0;
}

/* Checks before the measurement that the result can be stored. */
static int check_place(const struct machine_identity *identity, struct diag *diag)
{
        char *path = calibration_path(identity, ".json", diag);
        if (!path)
                return -ENOENT;
        int rc = calibration_check_place(path, diag);
        free(path);
        return rc;
}

/* Checks the picture's path likewise; an existing picture stays unchanged. */
static int check_picture(const char *path, struct diag *diag)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
                close(fd);
                unlink(path);
                return 0;
        }
        struct stat status;
        if (errno == EEXIST && access(path, W_OK) == 0) {
                if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
                        return 0;
                errno = EISDIR;
        }
        return diag_set(diag, -errno,
                        "cannot write %s: %s; let --picture name a file in a directory "
                        "that is there and may be written",
                        path, strerror(errno));
}

/* ---- showing ---- */

/* The directory must exist: a mistyped path is an error. */
static int draw(const json_t *document, const char *path, struct diag *diag)
{
        FILE *out = fopen(path, "we");
        if (!out)
                return diag_set(diag, -errno, "cannot write %s: %s", path,
                                strerror(errno));
        picture_write(document, out);
        bool failed = ferror(out);
        if (fclose(out) != 0 || failed)
                return diag_set(diag, -EIO, "cannot write %s: the disk may be full",
                                path);
        return 0;
}

/* The stored preset may come from an earlier calibration. */
static void tell_of_host(void)
{
        if (sim_preset_has_host())
                diag_printf(name,
                            "this machine can be simulated: 'memlag record --source "
                            "sim --sim-cpu host'");
        else
                diag_printf(name,
                            "there is no --sim-cpu host: the note no-host says what "
                            "it lacks; repeat 'memlag calibrate' without --quick "
                            "(some three minutes) while the machine is quiet");
}

static int print(const struct calibrate_options *options, const json_t *document,
                 struct diag *diag)
{
        if (options->json) {
                json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
                putchar('\n');
        } else {
                calibration_show(document);
        }
        if (fflush(stdout) != 0)
                return diag_set(diag, -errno, "cannot write the result: %s",
                                strerror(errno));
        return options->picture ? draw(document, options->picture, diag) : 0;
}

int cmd_calibrate(int argc, char **argv)
{
        static const struct argp argp = {
            .options = option_table,
            .parser = parse_option,
            .doc = "Measure this machine's memory and keep the result for later runs.",
        };
        struct calibrate_options options = {0};
        struct machine_identity identity;
        struct diag diag;
        json_t *document = NULL;
        int rc, status = EXIT_OK;
        command_line_parse(&argp, "memlag calibrate", argc, argv, ARGUMENTS_ANYWHERE,
                           &options);
        machine_identity(&identity);
        rc = options.picture ? check_picture(options.picture, &diag) : 0;
        if (rc == 0 && (options.show || options.json)) {
                rc = calibration_load(&document, &diag);
        } else if (rc == 0) {
                document = json_object();
                rc = document ? check_place(&identity, &diag) : diag_no_memory(&diag);
                if (rc == 0)
                        rc = recover_prefetchers(&identity, &diag);
                tell_of_interruption(true);
                if (rc == 0)
                        rc = calibrate(options.quick, &identity, document, &diag);
                tell_of_interruption(false);
                bool wrong =
                    rc == 0 && keeping_contradicts_itself(name, document, options.force);
                if (rc == 0 && !options.force &&
                    (wrong || keeping_lacks_memory(name, document)))
                        status = EXIT_FAILED;
                else if (rc == 0 && (options.force || !keeping_earlier(name, document)))
                        rc = keeping_replace(name, &identity, &document, &diag);
        }
        if (rc == 0)
                rc = print(&options, document, &diag);
        if (rc == 0 && status == EXIT_OK && !options.show && !options.json)
                tell_of_host();
        if (rc < 0)
                diag_print(name, &diag);
        json_decref(document);
        return rc < 0 ? EXIT_FAILED : status;
}
