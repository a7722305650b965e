/* SPDX-License-Identifier: MIT */
/* The command line of `memlag record`. */
#ifndef MEMLAG_RECORD_OPTIONS_H
#define MEMLAG_RECORD_OPTIONS_H

#include "source.h"

enum record_action { RECORD_RUN, RECORD_LIST_PARAMETERS, RECORD_LIST_PRESETS };

struct record_options {
        enum record_action action;
        const char *output; /* the file, its patterns filled in */
        char *output_made;  /* storage of output if memlag allocated it */
        bool force;
        const char *source_name; /* "auto" or a source's */
        bool wait;               /* also wait for processes that the command leaves
                                    running */
        bool all_counters;       /* also counters that validation found unusable */
        bool with_clock;         /* first run the command natively, under timer samples */
        double duration_s;       /* 0: until the end */
        struct source_options source;
        const char **sim_set; /* storage of source.sim_set */
        size_t sim_set_count;
        char **command;     /* NULL-terminated, in ARGV */
        const char **fixes; /* of whatif, as given */
        size_t fix_count;
};

/* Parses the command line. Prints help or a usage error and ends the program (0,
 * EXIT_USAGE). Ends with record_options_free. */
int record_options_parse(int argc, char **argv, struct record_options *options,
                         struct diag *diag);

/* The same for `memlag whatif`, which knows --fix too. */
int whatif_options_parse(int argc, char **argv, struct record_options *options,
                         struct diag *diag);

void record_options_free(struct record_options *options);

#endif
