/* SPDX-License-Identifier: MIT */
/* JSON values (RFC 8259) from cells with arbitrary bytes. */
#include <inttypes.h>
#include <math.h>

#include "render.h"
#include "text.h"

static void json_character(FILE *out, const char *character, size_t length)
{
        unsigned char first = (unsigned char)character[0];
        if (length == 1 && (first == '"' || first == '\\'))
                fprintf(out, "\\%c", first);
        else if (length == 1 && (first < 0x20 || first == 0x7f))
                fprintf(out, "\\u%04x", first);
        else
                fwrite(character, 1, length, out);
}

void render_json_text(FILE *out, const char *bytes, size_t length)
{
        putc('"', out);
        for (size_t i = 0; i < length;) {
                size_t character = text_character(bytes + i, length - i);
                if (character)
                        json_character(out, bytes + i, character);
                else
                        fputs("\\ufffd", out);
                i += character ? character : 1;
        }
        putc('"', out);
}

void render_json_cell(FILE *out, const struct cell *cell)
{
        switch (cell->type) {
        case CELL_NULL:
                fputs("null", out);
                break;
        case CELL_INTEGER:
                fprintf(out, "%" PRId64, cell->integer);
                break;
        case CELL_REAL: /* JSON has no infinities */
                fprintf(out, isfinite(cell->real) ? "%.15g" : "null", cell->real);
                break;
        case CELL_TEXT:
                render_json_text(out, cell->bytes, cell->length);
                break;
        case CELL_BLOB:
                putc('"', out);
                for (size_t i = 0; i < cell->length; i++)
                        fprintf(out, "%02x", (unsigned char)cell->bytes[i]);
                putc('"', out);
                break;
        }
}
