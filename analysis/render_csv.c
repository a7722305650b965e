/* SPDX-License-Identifier: MIT */
/* CSV as in RFC 4180, with Unix line ends. NULL is an empty field, the empty text is "".
 */
#include <inttypes.h>
#include <string.h>

#include "render.h"

static void csv_text(FILE *out, const char *bytes, size_t length)
{
        bool quoted = length == 0;
        for (size_t i = 0; i < length && !quoted; i++)
                quoted = strchr(",\"\r\n", bytes[i]) != NULL; /* also true for NUL */
        if (!quoted) {
                fwrite(bytes, 1, length, out);
                return;
        }
        putc('"', out);
        for (size_t i = 0; i < length; i++) {
                if (bytes[i] == '"')
                        putc('"', out);
                putc(bytes[i], out);
        }
        putc('"', out);
}

static void csv_cell(FILE *out, const struct cell *cell)
{
        switch (cell->type) {
        case CELL_NULL:
                break;
        case CELL_INTEGER:
                fprintf(out, "%" PRId64, cell->integer);
                break;
        case CELL_REAL:
                fprintf(out, "%.15g", cell->real);
                break;
        case CELL_TEXT:
                csv_text(out, cell->bytes, cell->length);
                break;
        case CELL_BLOB:
                for (size_t i = 0; i < cell->length; i++)
                        fprintf(out, "%02x", (unsigned char)cell->bytes[i]);
                break;
        }
}

void csv_header(FILE *out, const char *const *names, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                if (i)
                        putc(',', out);
                csv_text(out, names[i], strlen(names[i]));
        }
        putc('\n', out);
}

void csv_row(FILE *out, const struct cell *cells, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                if (i)
                        putc(',', out);
                csv_cell(out, &cells[i]);
        }
        putc('\n', out);
}
