/* SPDX-License-Identifier: MIT */
/* Locates, reads and writes a machine's calibration. */
#include "calibration.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json_file.h"
#include "json_text.h"

/* ---- identity ---- */

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t state, const void *bytes, size_t count)
{
        for (const unsigned char *byte = bytes; count > 0; byte++, count--)
                state = (state ^ *byte) * UINT64_C(0x100000001b3);
        return state;
}

static void read_cpu(struct machine_identity *identity)
{
        unsigned a = 0, b = 0, c = 0, d = 0;
        __get_cpuid(0, &a, &b, &c, &d);
        memcpy(identity->vendor, &b, 4);
        memcpy(identity->vendor + 4, &d, 4);
        memcpy(identity->vendor + 8, &c, 4);
        __get_cpuid(1, &a, &b, &c, &d);
        identity->stepping = a & 15;
        identity->model = (a >> 4 & 15) | (a >> 12 & 0xf0);
        identity->family = a >> 8 & 15;
        if (identity->family == 15)
                identity->family += a >> 20 & 255;
        identity->is_virtual = c >> 31 & 1;
        for (unsigned i = 0; i < 3; i++) {
                unsigned text[4] = {0};
                __get_cpuid(0x80000002 + i, &text[0], &text[1], &text[2], &text[3]);
                memcpy(identity->cpu + 16 * i, text, sizeof(text));
        }
        size_t length = strlen(identity->cpu);
        while (length > 0 && identity->cpu[length - 1] == ' ')
                identity->cpu[--length] = '\0';
        text_clean(identity->cpu);
}

void machine_identity(struct machine_identity *identity)
{
        *identity = (struct machine_identity){0};
        read_cpu(identity);
        identity->cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
        identity->memory_bytes =
            (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
        uint64_t gib = (identity->memory_bytes + (1 << 29)) >> 30;
        char id[64] = "";
        FILE *file = fopen("/etc/machine-id", "re");
        if (file) {
                if (!fgets(id, sizeof(id), file))
                        id[0] = '\0';
                fclose(file);
        }
        uint64_t state = hash(UINT64_C(0xcbf29ce484222325), id, strlen(id));
        state = hash(state, identity->cpu, strlen(identity->cpu));
        state = hash(state, &identity->cpus, sizeof(identity->cpus));
        state = hash(state, &gib, sizeof(gib));
        snprintf(identity->key, sizeof(identity->key), "%.12s-%u-%u-%u-%016llx",
                 identity->vendor, identity->family, identity->model, identity->stepping,
                 (unsigned long long)state);
}

/* ---- files ---- */

char *calibration_path(const struct machine_identity *identity, const char *suffix,
                       struct diag *diag)
{
        const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
        char *path = NULL;
        int length = -1;
        if (data && data[0] == '/')
                length = asprintf(&path, "%s/memlag/%s%s", data, identity->key, suffix);
        else if (home && home[0] == '/')
                length = asprintf(&path, "%s/.local/share/memlag/%s%s", home,
                                  identity->key, suffix);
        else
                diag_set(diag, -ENOENT,
                         "there is no place for a calibration: neither XDG_DATA_HOME nor "
                         "HOME is set");
        return length < 0 ? NULL : path;
}

static int make_directories(const char *path, struct diag *diag)
{
        char *copy = strdup(path);
        if (!copy)
                return diag_no_memory(diag);
        int rc = 0;
        for (char *at = strchr(copy + 1, '/'); at && rc == 0; at = strchr(at + 1, '/')) {
                *at = '\0';
                if (mkdir(copy, 0777) != 0 && errno != EEXIST)
                        rc = diag_set(diag, -errno, "cannot make the directory %s: %s",
                                      copy, strerror(errno));
                *at = '/';
        }
        free(copy);
        return rc;
}

static int write_all(int fd, const char *text)
{
        size_t left = strlen(text);
        while (left > 0) {
                ssize_t done = write(fd, text, left);
                if (done < 0 && errno != EINTR)
                        return -errno;
                if (done > 0) {
                        text += done;
                        left -= (size_t)done;
                }
        }
        return 0;
}

/* Makes an empty file beside PATH; *NAME, which the caller frees, is its name. */
static int open_beside(const char *path, char **name, int *fd, struct diag *diag)
{
        int rc = make_directories(path, diag);
        if (rc < 0)
                return rc;
        if (asprintf(name, "%s.XXXXXX", path) < 0)
                return diag_no_memory(diag);
        *fd = mkostemp(*name, O_CLOEXEC);
        if (*fd >= 0)
                return 0;
        rc = diag_set(diag, -errno, "cannot write %s: %s", path, strerror(errno));
        free(*name);
        return rc;
}

int calibration_check_place(const char *path, struct diag *diag)
{
        char *name;
        int fd, rc = open_beside(path, &name, &fd, diag);
        if (rc < 0)
                return rc;
        close(fd);
        unlink(name);
        free(name);
        return 0;
}

int calibration_write(const char *path, const char *text, struct diag *diag)
{
        char *name;
        int fd, rc = open_beside(path, &name, &fd, diag);
        if (rc < 0)
                return rc;
        rc = write_all(fd, text);
        if (close(fd) != 0 && rc == 0)
                rc = -errno;
        if (rc == 0 && rename(name, path) != 0)
                rc = -errno;
        if (rc < 0)
                unlink(name);
        free(name);
        return rc == 0 ? 0
                       : diag_set(diag, rc, "cannot write %s: %s", path, strerror(-rc));
}

static const json_t *node_of(const json_t *document, const char *path)
{
        while (document && *path) {
                size_t length = strcspn(path, ".");
                if (json_is_array(document)) {
                        document = json_array_get(document, strtoul(path, NULL, 10));
                } else {
                        char key[64];
                        if (length >= sizeof(key))
                                return NULL;
                        memcpy(key, path, length);
                        key[length] = '\0';
                        document = json_object_get(document, key);
                }
                path += length + (path[length] == '.');
        }
        return document;
}

static bool is_list_of_objects(const json_t *list)
{
        size_t index;
        json_t *element;
        json_array_foreach((json_t *)list, index, element)
        {
                if (!json_is_object(element))
                        return false;
        }
        return json_is_array(list);
}

/* Returns the first mandatory part that ROOT lacks or has in a wrong form; NULL:
 * none. */
static const char *missing_part(const json_t *root)
{
        static const char *const numbers[] = {"format", "clocks.core_ghz"};
        static const char *const lists[] = {"conditions",    "caches.curve",
                                            "caches.levels", "memory",
                                            "loaded.curve",  "bandwidth.threads"};
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
                if (isnan(calibration_number(root, numbers[i])))
                        return numbers[i];
        for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
                if (!is_list_of_objects(node_of(root, lists[i])))
                        return lists[i];
        return NULL;
}

static int load(const char *path, json_t **document, struct diag *diag)
{
        json_t *root;
        int rc = json_file_read(path, "calibration of this machine", "memlag calibrate",
                                &root, diag);
        if (rc < 0)
                return rc;
        double format = calibration_number(root, "format");
        if (!isnan(format) && format != CALIBRATION_FORMAT) {
                json_decref(root);
                return diag_set(diag, -EBADMSG,
                                "%s: format %g is not the format %d of this memlag; make "
                                "it anew with 'memlag calibrate'",
                                path, format, CALIBRATION_FORMAT);
        }
        const char *part = missing_part(root);
        if (part) {
                json_decref(root);
                return diag_set(diag, -EBADMSG,
                                "%s: '%s' is missing or damaged; make it anew with "
                                "'memlag calibrate'",
                                path, part);
        }
        if (json_text_clean(root) != 0) {
                json_decref(root);
                return diag_no_memory(diag);
        }
        *document = root;
        return 0;
}

int calibration_load(json_t **document, struct diag *diag)
{
        struct machine_identity identity;
        machine_identity(&identity);
        char *path = calibration_path(&identity, ".json", diag);
        if (!path)
                return -ENOENT;
        int rc = load(path, document, diag);
        free(path);
        return rc;
}

char *calibration_text(const json_t *document)
{
        return json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
}

double calibration_number(const json_t *document, const char *path)
{
        const json_t *node = node_of(document, path);
        return json_is_number(node) ? json_number_value(node) : NAN;
}

bool calibration_is_poor(const json_t *document)
{
        return !(calibration_number(document, "noise.worst_error") <= 0.25);
}
