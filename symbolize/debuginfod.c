/* SPDX-License-Identifier: MIT */
/* The client library is loaded at run time, as libdw does: it brings an HTTP stack
 * that a run without --debuginfod has no use for. */
#include "debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The signatures of elfutils' debuginfod.h. */
typedef void *begin_function(void);
typedef void end_function(void *client);
typedef int find_function(void *client, const unsigned char *build_id, int bytes,
                          char **path);

struct debuginfod {
        void *library;
        void *client;
        end_function *end;
        find_function *find;
};

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
        begin_function *begin =
            (begin_function *)dlsym(client->library, "debuginfod_begin");

        client->end = (end_function *)dlsym(client->library, "debuginfod_end");
        client->find =
            (find_function *)dlsym(client->library, "debuginfod_find_debuginfo");
        client->client = begin && client->end && client->find ? begin() : NULL;
        if (!client->client) {
                debuginfod_close(client);
                return diag_set(diag, -ENOENT, "the debuginfod client does not start");
        }
        *result = client;
        return 0;
}

void debuginfod_close(struct debuginfod *client)
{
        if (!client)
                return;
        if (client->client)
                client->end(client->client);
        dlclose(client->library);
        free(client);
}

int debuginfod_fetch(void *context, const uint8_t *build_id, size_t bytes)
{
        struct debuginfod *client = context;
        char *path = NULL;
        int fd = client->find(client->client, build_id, (int)bytes, &path);

        free(path);
        return fd;
}
