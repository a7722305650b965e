/* SPDX-License-Identifier: MIT */
/* Puts the page together: the template, its style and scripts, the libraries of Debian's
 * packages, and the data. The content security policy allows these scripts alone, by a
 * nonce, and no request. */
#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "page_css.h"
#include "page_html.h"
#include "page_parts.h"
#include "page_scripts.h"

/* The order in which they need each other. */
static const struct {
        const char *package;
        const char *path;
} libraries[] = {
    {"libjs-d3", MEMLAG_JAVASCRIPT_DIR "/d3/d3.min.js"},
    {"libjs-jquery", MEMLAG_JAVASCRIPT_DIR "/jquery/jquery.min.js"},
    {"libjs-jquery-datatables",
     MEMLAG_JAVASCRIPT_DIR "/jquery-datatables/jquery.dataTables.min.js"},
};

static const char *const scripts[] = {PAGE_SCRIPTS};

/* Nothing in a script may end its element: "<\/" is the same in a string. */
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

static int write_scripts(FILE *out, const char *nonce, struct diag *diag)
{
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(libraries) / sizeof(libraries[0]); i++)
                code = write_library(out, i, nonce, diag);
        for (size_t i = 0; !code && i < sizeof(scripts) / sizeof(scripts[0]); i++) {
                begin_script(out, nonce);
                write_script(out, scripts[i]);
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

/* The template has the names of its parts between '@'. */
int page_write(struct db *db, const struct report_options *options,
               const struct report_summary *summary, const struct source_search *search,
               FILE *out, struct diag *diag)
{
        char nonce[33];
        int code = make_nonce(nonce, diag);
        for (const char *at = page_html; !code && *at;) {
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
                        code = write_scripts(out, nonce, diag);
                else
                        code = page_data_write(db, options, summary, search, out, diag);
                at = end + 1;
        }
        return code;
}
