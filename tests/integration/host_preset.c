/* SPDX-License-Identifier: MIT */
/* Prints the preset that a calibration is made into, or fails and prints what the
 * calibration lacks for one: host_preset FILE.json */
#include <stdio.h>
#include <stdlib.h>

#include "host_preset.h"

int main(int argc, char **argv)
{
        json_error_t error;
        json_t *calibration = argc == 2 ? json_load_file(argv[1], 0, &error) : NULL;
        const char *lacks = calibration ? host_preset_lacks(calibration, 0) : "a document";
        char *text = lacks ? NULL : host_preset(calibration);
        if (lacks)
                fprintf(stderr, "%s\n", lacks);
        int status = text && fputs(text, stdout) >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
        free(text);
        json_decref(calibration);
        return status;
}
