/* SPDX-License-Identifier: MIT */
/* Prints the preset that a calibration is made into: host_preset FILE.json */
#include <stdio.h>
#include <stdlib.h>

#include "host_preset.h"

int main(int argc, char **argv)
{
        json_error_t error;
        json_t *calibration = argc == 2 ? json_load_file(argv[1], 0, &error) : NULL;
        char *text = calibration ? host_preset(calibration) : NULL;
        int status = text && fputs(text, stdout) >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
        free(text);
        json_decref(calibration);
        return status;
}
