/* SPDX-License-Identifier: MIT */
#include "output_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Open MPI, any launcher with PMIx, MPICH and Intel MPI, Slurm, MVAPICH. */
static const char *const rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                             "PMI_RANK", "SLURM_PROCID",
                                             "MV2_COMM_WORLD_RANK"};

int job_rank_read(struct job_rank *rank, struct diag *diag)
{
        *rank = (struct job_rank){NULL, NULL};
        for (size_t i = 0; i < sizeof(rank_variables) / sizeof(*rank_variables); i++) {
                const char *value = getenv(rank_variables[i]);
                if (!value || !*value)
                        continue;
                if (value[strspn(value, "0123456789")])
                        return diag_set(diag, -EINVAL,
                                        "%s is '%s', no rank; unset it, or give it a "
                                        "number",
                                        rank_variables[i], value);
                *rank = (struct job_rank){value, rank_variables[i]};
                return 0;
        }
        return 0;
}

/* What %LETTER stands for; NULL with DIAG: for nothing. */
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
                                 pattern, rank_variables[0], rank_variables[1],
                                 rank_variables[2], rank_variables[3], rank_variables[4]);
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
