/* SPDX-License-Identifier: MIT */
/* The client library is loaded at run time, as libdw does. It brings an HTTP stack
 * that a run without --debuginfod does not need. A server may send anything: a file
 * without the build-id is not used. */
#include "debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The signatures of elfutils' debuginfod.h. */
typedef void *begin_function(void);
typedef void end_function(void *handle);
typedef int find_function(void *handle, const unsigned char *build_id, int bytes,
                          char **path);
typedef int progress_function(void *handle, long done, long all);
typedef void set_progress_function(void *handle, progress_function *progress);
typedef void set_data_function(void *handle, void *data);
typedef void *get_data_function(void *handle);
typedef const char *url_function(void *handle);

/* Global, because the library's callbacks bring only the handle. */
static get_data_function *get_data;

struct debuginfod {
        void *library;
        void *handle;
        end_function *end;
        find_function *find;
        set_progress_function *set_progress;
        set_data_function *set_data;
        url_function *url;
        size_t failures;
        bool unreachable; /* all servers */
        bool on_terminal;
        /* The current request: */
        const struct elf_wanted *wanted;
        bool begun; /* a server has begun to send */
        bool drawn;
        struct timespec drawn_at;
};

/* ---- messages ---- */

static const char *path_of(const struct elf_wanted *wanted)
{
        return wanted->path ? wanted->path : "(no name)";
}

/* Whether enough time has passed for another look at the progress. */
static bool is_time(struct debuginfod *client)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t passed_ms = (int64_t)(now.tv_sec - client->drawn_at.tv_sec) * 1000 +
                            (now.tv_nsec - client->drawn_at.tv_nsec) / 1000000;

        if (client->drawn && passed_ms < 100)
                return false;
        client->drawn_at = now;
        client->drawn = true;
        return true;
}

/* The library calls this while it waits. ALL is the size of the file when it is known.
 * Before that it is 0, and DONE is no byte count. */
static int show_progress(void *handle, long done, long all)
{
        struct debuginfod *client = get_data(handle);
        const char *path = path_of(client->wanted);
        struct diag line;

        client->begun |= all > 0;
        if (!client->on_terminal || !is_time(client))
                return 0;
        if (all > 0)
                diag_set(&line, 0, "%s: %.3f of %.3f MB", path, (double)done / 1e6,
                         (double)all / 1e6);
        else
                diag_set(&line, 0, "%s: waiting for the debuginfod servers", path);
        fprintf(stderr, "\r\033[Kmemlag symbolize: %s", line.text);
        fflush(stderr);
        return 0;
}

/* The part of URL that is the server's address. */
static int server_length(const char *url)
{
        const char *path = strstr(url, "/buildid/");

        return (int)(path ? (size_t)(path - url) : strlen(url));
}

/* Prints nothing for a file from the library's cache. */
static void say_fetched(const struct debuginfod *client, uint64_t bytes)
{
        const char *url = client->url(client->handle);

        if (url)
                diag_printf("symbolize",
                            "%s: fetched debug information, %.3f MB, from %.*s",
                            path_of(client->wanted), (double)bytes / 1e6,
                            server_length(url), url);
}

static bool means_unreachable(int error)
{
        return error == -ETIME || error == -ETIMEDOUT || error == -ECONNREFUSED ||
               error == -EHOSTUNREACH || error == -ENETUNREACH;
}

/* Whether a download broke off after its first part. The library also returns -ENOENT for
 * errors without a number. */
static bool means_broken_off(const struct debuginfod *client, int error)
{
        return client->begun &&
               (error == -ENOENT || error == -ECONNRESET || means_unreachable(error));
}

static void say_failed(const struct debuginfod *client, int error)
{
        const char *timeout = getenv("DEBUGINFOD_TIMEOUT");
        char reason[128];

        if (means_broken_off(client, error))
                snprintf(reason, sizeof(reason), "the download broke off%s",
                         error == -ENOENT ? ", which the cache knows for ten minutes"
                                          : "");
        else if (error == -ETIME)
                snprintf(reason, sizeof(reason), "no answer (DEBUGINFOD_TIMEOUT is %s s)",
                         timeout && *timeout ? timeout : "90");
        else
                snprintf(reason, sizeof(reason), "%s", strerror(-error));
        diag_printf("symbolize",
                    "%s: no debug information from the debuginfod servers: %s%s",
                    path_of(client->wanted), reason,
                    client->unreachable ? "; they are asked no more" : "");
}

/* ---- questions ---- */

static int failed(struct debuginfod *client, int error)
{
        if (error == -ENOENT && !client->begun) /* no server knows the file */
                return -ENOENT;
        client->unreachable = !client->begun && means_unreachable(error);
        client->failures++;
        say_failed(client, error);
        return -ENOENT;
}

/* Takes over FD, the library's copy of the wanted file, at PATH. */
static int open_answer(struct debuginfod *client, int fd, const char *path,
                       struct elf_file *file)
{
        const struct elf_wanted *wanted = client->wanted;
        int error = elf_file_open_fd(file, fd, NULL);

        if (error == -ENOMEM)
                return error;
        if (!error && file->build_id_bytes == wanted->build_id_bytes &&
            memcmp(file->build_id, wanted->build_id, wanted->build_id_bytes) == 0) {
                say_fetched(client, file->file_bytes);
                return 0;
        }
        if (!error)
                elf_file_close(file);
        client->failures++;
        diag_printf("symbolize",
                    "%s: what the debuginfod servers have for it is %s and is not used; "
                    "remove %s to ask again",
                    path_of(wanted), error ? "no sound ELF file" : "another file",
                    path ? path : "it from the cache");
        return -ENOENT;
}

int debuginfod_fetch(void *context, const struct elf_wanted *wanted,
                     struct elf_file *file)
{
        struct debuginfod *client = context;
        char *path = NULL;

        if (client->unreachable || wanted->build_id_bytes == 0)
                return -ENOENT;
        client->wanted = wanted;
        client->begun = client->drawn = false;
        int fd = client->find(client->handle, wanted->build_id,
                              (int)wanted->build_id_bytes, &path);

        if (client->drawn)
                fputs("\r\033[K", stderr);
        int error = fd < 0 ? failed(client, fd) : open_answer(client, fd, path, file);

        free(path);
        client->wanted = NULL;
        return error;
}

size_t debuginfod_failures(const struct debuginfod *client)
{
        return client ? client->failures : 0;
}

/* ---- the library ---- */

static void *load(struct debuginfod *client)
{
        void *library = client->library;
        begin_function *begin = (begin_function *)dlsym(library, "debuginfod_begin");

        client->end = (end_function *)dlsym(library, "debuginfod_end");
        client->find = (find_function *)dlsym(library, "debuginfod_find_debuginfo");
        client->set_progress =
            (set_progress_function *)dlsym(library, "debuginfod_set_progressfn");
        client->set_data =
            (set_data_function *)dlsym(library, "debuginfod_set_user_data");
        client->url = (url_function *)dlsym(library, "debuginfod_get_url");
        get_data = (get_data_function *)dlsym(library, "debuginfod_get_user_data");
        return begin && client->end && client->find && client->set_progress &&
                       client->set_data && client->url && get_data
                   ? begin()
                   : NULL;
}

int debuginfod_open(struct debuginfod **result, struct diag *diag)
{
        const char *servers = getenv("DEBUGINFOD_URLS");
        struct debuginfod *client;

        if (!servers || !*servers)
                return diag_set(diag, -ENOENT,
                                "no debuginfod server is known: set DEBUGINFOD_URLS");
        client = calloc(1, sizeof(*client));
        if (!client)
                return diag_no_memory(diag);
        client->library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
        if (!client->library) {
                free(client);
                return diag_set(
                    diag, -ENOENT,
                    "cannot load the debuginfod client: install libdebuginfod1");
        }
        client->handle = load(client);
        if (!client->handle) {
                debuginfod_close(client);
                return diag_set(diag, -ENOENT, "the debuginfod client does not start");
        }
        client->on_terminal = isatty(STDERR_FILENO);
        client->set_data(client->handle, client);
        client->set_progress(client->handle, show_progress);
        *result = client;
        return 0;
}

void debuginfod_close(struct debuginfod *client)
{
        if (!client)
                return;
        if (client->handle)
                client->end(client->handle);
        dlclose(client->library);
        free(client);
}
