/* SPDX-License-Identifier: MIT */
/* memlag doctor: shows the capabilities of this machine, and how to enable the rest.
 * Reads and probes, and changes nothing; perf/plan/machine_findings.c interprets the
 * facts. */
#include <argp.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "command.h"
#include "command_line.h"
#include "diag.h"
#include "doctor.h"
#include "perf/plan/machine_findings.h"
#include "sources.h"

static const char name[] = "doctor";

enum { OPTION_FORMAT = 256 };

static const struct argp_option options[] = {
    {"format", OPTION_FORMAT, "FORMAT", 0, "table (the default) or json", 0}, {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
        bool *json = state->input;
        switch (key) {
        case OPTION_FORMAT:
                if (strcmp(text, "table") != 0 && strcmp(text, "json") != 0)
                        usage_error(state, "--format: '%s' is neither table nor json",
                                    text);
                *json = strcmp(text, "json") == 0;
                return 0;
        case ARGP_KEY_ARG:
                usage_error(state, "'%s': no arguments are expected", text);
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

/* ---- probes ---- */

/* Opens a timer event on this process: works on every machine that lets us. */
static int try_perf_event(void)
{
        struct perf_event_attr attr = {
            .type = PERF_TYPE_SOFTWARE,
            .size = sizeof(attr),
            .config = PERF_COUNT_SW_CPU_CLOCK,
            .sample_period = 1000000,
            .sample_type = PERF_SAMPLE_IP,
            .disabled = 1,
            .exclude_kernel = 1,
        };
        long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0)
                return errno;
        close((int)fd);
        return 0;
}

/* Why OPS cannot record with its defaults, in DIAG; NULL: it can. */
static const char *try_source(const struct source_ops *ops, struct diag *diag)
{
        static const struct source_options usual = {.ldlat_cycles = 0};
        return sources_check(ops, &usual, diag) < 0 ? diag->text : NULL;
}

struct problems {
        struct diag sim, pebs, ibs;
};

static void try_machine(struct machine_trial *trial, struct problems *problems)
{
        struct rlimit limit = {0};
        getrlimit(RLIMIT_MEMLOCK, &limit);
        *trial = (struct machine_trial){
            .perf_event_error = try_perf_event(),
            .debuginfod_urls = getenv("DEBUGINFOD_URLS"),
            .memlock_bytes = limit.rlim_cur,
            .sim_problem = try_source(&source_sim, &problems->sim),
            .pebs_problem = try_source(&source_pebs, &problems->pebs),
            .ibs_problem = try_source(&source_ibs, &problems->ibs),
        };
}

/* ---- output ---- */

static const char *status_name(enum finding_status status)
{
        static const char *const names[] = {
            [FINDING_OK] = "ok", [FINDING_NOTE] = "note", [FINDING_MISSING] = "missing"};
        return names[status];
}

static void print_table(const struct finding *findings, size_t count)
{
        for (size_t i = 0; i < count; i++)
                printf("%-8s %-10s  %s%s%s\n", status_name(findings[i].status),
                       findings[i].topic, findings[i].text,
                       findings[i].remedy[0] ? "; " : "", findings[i].remedy);
}

static void print_json_text(const char *text)
{
        putchar('"');
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        printf("\\%c", *text);
                else if ((unsigned char)*text < ' ')
                        printf("\\u%04x", (unsigned char)*text);
                else
                        putchar(*text);
        }
        putchar('"');
}

static void print_json(const struct finding *findings, size_t count)
{
        printf("[");
        for (size_t i = 0; i < count; i++) {
                printf("%s\n  {\"topic\": \"%s\", \"status\": \"%s\", \"finding\": ",
                       i ? "," : "", findings[i].topic, status_name(findings[i].status));
                print_json_text(findings[i].text);
                printf(", \"remedy\": ");
                if (findings[i].remedy[0])
                        print_json_text(findings[i].remedy);
                else
                        printf("null");
                printf("}");
        }
        printf("\n]\n");
}

int cmd_doctor(int argc, char **argv)
{
        static const struct argp argp = {
            .options = options,
            .parser = parse,
            .doc = "Tell what this machine can record with, and how to enable the rest. "
                   "Nothing is changed.",
        };
        bool json = false;
        command_line_parse(&argp, "memlag doctor", argc, argv, ARGUMENTS_ANYWHERE, &json);

        struct machine machine;
        struct machine_trial trial;
        struct problems problems;
        struct finding findings[FINDINGS_MAX];
        machine_read("", &machine);
        machine_ask_cpu(&machine);
        try_machine(&trial, &problems);
        size_t count = machine_findings(&machine, &trial, findings);
        if (json)
                print_json(findings, count);
        else
                print_table(findings, count);
        machine_free(&machine);
        if (fflush(stdout) != 0) {
                diag_printf(name, "cannot write the findings: %s", strerror(errno));
                return EXIT_FAILED;
        }
        return trial.sim_problem && trial.pebs_problem && trial.ibs_problem ? EXIT_FAILED
                                                                            : EXIT_OK;
}
