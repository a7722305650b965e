/* SPDX-License-Identifier: MIT */
/* host_preset FILE.json: prints the preset made from a calibration, or the parts that the
 * calibration lacks, and then fails. */
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
