/* SPDX-License-Identifier: MIT */
#include "output_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Open MPI, any launcher with PMIx, MPICH and Intel MPI, Slurm, MVAPICH. Slurm also gives
 * batch scripts and shells a rank: scripts without the number of processes, shells
 * with 1. */
static const struct {
        const char *rank, *processes; /* NULL: no process count, assume several */
        bool processes_always;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", NULL, false},
                 {"PMIX_RANK", NULL, false},
                 {"PMI_RANK", "PMI_SIZE", false},
                 {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true},
                 {"MV2_COMM_WORLD_RANK", NULL, false}};
enum { LAUNCHERS = sizeof(launchers) / sizeof(*launchers) };

/* Returns true if launcher I reports a single rank for its job. The launcher does not
 * know other ranks that were started in the same shell. */
static bool is_alone(size_t i)
{
        if (!launchers[i].processes)
                return false;
        const char *processes = getenv(launchers[i].processes);
        return processes ? strcmp(processes, "1") == 0 : launchers[i].processes_always;
}

int job_rank_read(struct job_rank *rank, struct diag *diag)
{
        *rank = (struct job_rank){.alone = true};
        for (size_t i = 0; i < LAUNCHERS; i++) {
                const char *value = getenv(launchers[i].rank);
                if (!value || !*value)
                        continue;
                if (value[strspn(value, "0123456789")])
                        return diag_set(diag, -EINVAL,
                                        "%s is '%s', no rank; unset it, or give it a "
                                        "number",
                                        launchers[i].rank, value);
                const bool alone = is_alone(i);
                if (!rank->digits || !alone)
                        *rank = (struct job_rank){value, launchers[i].rank, alone};
                if (!alone)
                        break;
        }
        return 0;
}

/* Returns the value of %LETTER. NULL with DIAG: unknown letter. */
static const char *meaning(char letter, const char *pattern, const struct job_rank *rank,
                           const char *process, const char *host, struct diag *diag)
{
        switch (letter) {
        case 'r':
                if (!rank->digits)
                        diag_set(diag, -EINVAL,
                                 "-o %s: %%r without a rank: none of %s, %s, %s, %s and "
                                 "%s is set; start memlag below mpirun or srun, or use "
                                 "%%p",
                                 pattern, launchers[0].rank, launchers[1].rank,
                                 launchers[2].rank, launchers[3].rank, launchers[4].rank);
                return rank->digits;
        case 'p':
                return process;
        case 'h':
                return host;
        case '%':
                return "%";
        default:
                diag_set(diag, -EINVAL,
                         "-o %s: after %% comes r (rank), p (process), h (host) or %%",
                         pattern);
                return NULL;
        }
}

int output_name(const char *pattern, const struct job_rank *rank, char **file,
                struct diag *diag)
{
        char process[sizeof("-2147483648")];
        struct utsname system;
        size_t size;
        snprintf(process, sizeof(process), "%d", (int)getpid());
        uname(&system);
        FILE *out = open_memstream(file, &size);
        if (!out)
                return diag_no_memory(diag);
        const char *text = "";
        for (const char *at = pattern; text && *at; at++)
                if (*at != '%')
                        fputc(*at, out);
                else if ((text = meaning(*++at, pattern, rank, process, system.nodename,
                                         diag)))
                        fputs(text, out);
        if (fclose(out) == 0 && text)
                return 0;
        free(*file);
        *file = NULL;
        return text ? diag_no_memory(diag) : -EINVAL;
}
