/* SPDX-License-Identifier: MIT */
/* Assembles the page: template, style, scripts, libraries from Debian packages, and data.
 * The content security policy only allows these scripts, by a nonce, and no requests. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "page_css.h"
#include "page_diff_html.h"
#include "page_html.h"
#include "page_parts.h"
#include "page_scripts.h"

/* In the order of their dependencies. */
static const struct {
        const char *package;
        const char *path;
} libraries[] = {
    {"libjs-d3", MEMLAG_JAVASCRIPT_DIR "/d3/d3.min.js"},
    {"libjs-jquery", MEMLAG_JAVASCRIPT_DIR "/jquery/jquery.min.js"},
    {"libjs-jquery-datatables",
     MEMLAG_JAVASCRIPT_DIR "/jquery-datatables/jquery.dataTables.min.js"},
};

static const char *const report_scripts[] = {PAGE_REPORT_SCRIPTS};
static const char *const diff_scripts[] = {PAGE_DIFF_SCRIPTS};

static const struct {
        const char *html;
        const char *const *scripts;
        size_t script_count;
} pages[] = {
    [PAGE_REPORT] = {page_html, report_scripts,
                     sizeof(report_scripts) / sizeof(report_scripts[0])},
    [PAGE_DIFF] = {page_diff_html, diff_scripts,
                   sizeof(diff_scripts) / sizeof(diff_scripts[0])},
};

/* "</script" in a script would end its element: writes "<\/", which is equal in a string.
 */
static void write_script(FILE *out, const char *text)
{
        static const char end[] = "</script";
        for (; *text; text++) {
                putc(*text, out);
                if (strncasecmp(text, end, sizeof(end) - 1) == 0)
                        putc('\\', out);
        }
}

static void begin_script(FILE *out, const char *nonce)
{
        fprintf(out, "<script nonce=\"%s\">", nonce);
}

static int write_library(FILE *out, size_t i, const char *nonce, struct diag *diag)
{
        char *text = NULL;
        size_t capacity = 0;
        errno = 0;
        FILE *file = fopen(libraries[i].path, "re");
        ssize_t size = file ? getdelim(&text, &capacity, '\0', file) : -1;
        if (size > 0) {
                begin_script(out, nonce);
                write_script(out, text);
                fputs("</script>\n", out);
        }
        int code = size > 0 ? 0
                            : diag_set(diag, -ENOENT,
                                       "--format=html needs %s: %s; install the package "
                                       "%s",
                                       libraries[i].path,
                                       errno ? strerror(errno) : "it is empty",
                                       libraries[i].package);
        free(text);
        if (file)
                fclose(file);
        return code;
}

static int write_scripts(enum page_kind kind, FILE *out, const char *nonce,
                         struct diag *diag)
{
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(libraries) / sizeof(libraries[0]); i++)
                code = write_library(out, i, nonce, diag);
        for (size_t i = 0; !code && i < pages[kind].script_count; i++) {
                begin_script(out, nonce);
                write_script(out, pages[kind].scripts[i]);
                fputs("</script>\n", out);
        }
        return code;
}

static int make_nonce(char nonce[33], struct diag *diag)
{
        uint64_t random[2];
        if (getrandom(random, sizeof(random), 0) != sizeof(random))
                return diag_set(diag, -errno, "cannot get random numbers: %s",
                                strerror(errno));
        snprintf(nonce, 33, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
        return 0;
}

/* In JSON these characters only occur in strings. U+2028 and U+2029 end lines in old
 * scripts. */
static void write_escaped(FILE *out, const char *json, size_t size)
{
        for (size_t i = 0; i < size; i++) {
                const char c = json[i];
                if (c == '<' || c == '>' || c == '&')
                        fprintf(out, "\\u%04x", (unsigned)c);
                else if (size - i > 2 && memcmp(json + i, "\xe2\x80", 2) == 0 &&
                         (json[i + 2] == '\xa8' || json[i + 2] == '\xa9')) {
                        fprintf(out, "\\u202%c", json[i + 2] == '\xa8' ? '8' : '9');
                        i += 2;
                } else
                        putc(c, out);
        }
}

static int write_data(page_data_writer *write, const void *context, FILE *out,
                      struct diag *diag)
{
        char *json = NULL;
        size_t size;
        FILE *memory = open_memstream(&json, &size);
        if (!memory)
                return diag_no_memory(diag);
        int code = write(context, memory, diag);
        if (fclose(memory))
                code = diag_no_memory(diag);
        if (!code)
                write_escaped(out, json, size);
        free(json);
        return code;
}

/* '@' encloses the names of parts in the template. */
int page_assemble(enum page_kind kind, page_data_writer *write, const void *context,
                  FILE *out, struct diag *diag)
{
        char nonce[33];
        int code = make_nonce(nonce, diag);
        for (const char *at = pages[kind].html; !code && *at;) {
                const char *begin = strchr(at, '@');
                const char *end = begin ? strchr(begin + 1, '@') : NULL;
                if (!end) {
                        fputs(at, out);
                        break;
                }
                const size_t length = (size_t)(end - begin) - 1;
                fwrite(at, 1, (size_t)(begin - at), out);
                if (strncmp(begin + 1, "nonce", length) == 0)
                        fputs(nonce, out);
                else if (strncmp(begin + 1, "style", length) == 0)
                        fputs(page_css, out);
                else if (strncmp(begin + 1, "scripts", length) == 0)
                        code = write_scripts(kind, out, nonce, diag);
                else
                        code = write_data(write, context, out, diag);
                at = end + 1;
        }
        return code;
}
