/* SPDX-License-Identifier: MIT */
/* Preset files and settings of the simulated CPU. All input is hostile: a value
 * reaches the model only as a finite number within its parameter's range. */
#include "sim_preset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibration.h"
#include "option_number.h"
#include "paths.h"
#include "perf/facts/cpu_preset.h"
#include "perf/facts/machine_facts.h"
#include "sim_nearest.h"

#define PRESET_SUFFIX    ".conf"
#define PRESET_MAX_BYTES 65536
#define LINE_BYTES       64

enum { BASES_MAX = 4 };

const struct sim_parameter sim_parameters[SIM_PARAMETER_COUNT] = {
#define PARAMETER(field, key, unit, minimum, maximum)                                    \
        {key, unit, minimum, maximum, offsetof(struct simpmu_params, field)},
    SIMPMU_PARAMETERS(PARAMETER)
#undef PARAMETER
};

/* A piece of the text being read; not NUL-terminated. */
struct span {
        const char *start;
        size_t length;
};

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span s)
{
        while (s.length && is_space(s.start[0])) {
                s.start++;
                s.length--;
        }
        while (s.length && is_space(s.start[s.length - 1]))
                s.length--;
        return s;
}

static double value_of(const struct sim_preset *preset, size_t parameter)
{
        double value;
        memcpy(&value, (const char *)&preset->params + sim_parameters[parameter].offset,
               sizeof(value));
        return value;
}

static void store_value(struct sim_preset *preset, size_t parameter, double value)
{
        memcpy((char *)&preset->params + sim_parameters[parameter].offset, &value,
               sizeof(value));
}

/* ---- keys ---- */

static int find_parameter(struct span key)
{
        for (int i = 0; i < SIM_PARAMETER_COUNT; i++)
                if (strlen(sim_parameters[i].key) == key.length &&
                    memcmp(sim_parameters[i].key, key.start, key.length) == 0)
                        return i;
        return -1;
}

/* More than any key has. */
enum { KEY_BYTES = 64 };

/* Levenshtein's distance; B has less than KEY_BYTES. */
static size_t edit_distance(struct span a, const char *b)
{
        size_t row[KEY_BYTES];
        size_t width = strlen(b);
        for (size_t j = 0; j <= width; j++)
                row[j] = j;
        for (size_t i = 1; i <= a.length; i++) {
                size_t diagonal = row[0];
                row[0] = i;
                for (size_t j = 1; j <= width; j++) {
                        size_t change = diagonal + (a.start[i - 1] != b[j - 1]);
                        size_t shorter = row[j] < row[j - 1] ? row[j] : row[j - 1];
                        diagonal = row[j];
                        row[j] = change < shorter + 1 ? change : shorter + 1;
                }
        }
        return row[width];
}

/* Returns the part of KEY after its last dot; KEY itself without a dot. */
static struct span last_part(struct span key)
{
        const char *dot = memrchr(key.start, '.', key.length);
        if (!dot)
                return key;
        return (struct span){dot + 1, key.length - (size_t)(dot + 1 - key.start)};
}

enum { TYPING_ERRORS = 2, TELLING_LETTERS = 3, FAR = INT_MAX };

/* Returns true if TEXT begins with PART, and PART is long enough to be significant. */
static bool begins_like(const char *text, struct span part)
{
        return part.length >= TELLING_LETTERS &&
               strncmp(text, part.start, part.length) == 0;
}

/* Distance of KNOWN from KEY. First come keys with the same prefix and keys with a
 * typing error, then keys with the same last part, then keys with few changes. */
static size_t key_distance(struct span key, const char *known)
{
        struct span last = last_part(key);
        size_t changes = edit_distance(key, known);
        if (begins_like(known, key))
                return 1;
        if (changes <= TYPING_ERRORS)
                return changes;
        if (begins_like(strchr(known, '.') + 1, last))
                return changes + KEY_BYTES;
        return changes <= key.length / 2 ? changes + 2 * KEY_BYTES : FAR;
}

static const char *nearest_key(struct span key)
{
        if (key.length == 0 || key.length >= KEY_BYTES)
                return NULL;
        size_t best = FAR;
        const char *nearest = NULL;
        for (size_t i = 0; i < SIM_PARAMETER_COUNT; i++) {
                size_t distance = key_distance(key, sim_parameters[i].key);
                if (distance < best) {
                        best = distance;
                        nearest = sim_parameters[i].key;
                }
        }
        return nearest;
}

static int unknown_key(const char *where, struct span key, struct diag *diag)
{
        int shown = key.length > 60 ? 60 : (int)key.length;
        const char *nearest = nearest_key(key);
        if (nearest)
                return diag_set(diag, -EINVAL,
                                "%s: unknown key '%.*s'; did you mean '%s'?", where,
                                shown, key.start, nearest);
        return diag_set(
            diag, -EINVAL,
            "%s: unknown key '%.*s'; 'memlag record --sim-list' prints them all", where,
            shown, key.start);
}

/* ---- values ---- */

static bool may_have_a_fraction(const struct sim_parameter *parameter)
{
        return strcmp(parameter->unit, "MHz") == 0 ||
               strcmp(parameter->unit, "ns") == 0 ||
               strcmp(parameter->unit, "GB/s") == 0 ||
               strcmp(parameter->unit, "bytes/cycle") == 0 ||
               strcmp(parameter->unit, "runs/cycle") == 0 ||
               strcmp(parameter->unit, "cycles/line") == 0 ||
               strcmp(parameter->unit, "cycles/page") == 0;
}

static int set_value(struct sim_preset *preset, size_t index, struct span text,
                     const char *where, struct diag *diag)
{
        const struct sim_parameter *p = &sim_parameters[index];
        int shown = text.length > 60 ? 60 : (int)text.length;
        double value;
        bool is_size = strncmp(p->unit, "bytes", 5) == 0 && p->unit[5] != '/';
        if (!(is_size ? number_parse_bytes : number_parse)(text.start, text.length,
                                                           &value))
                return diag_set(diag, -EINVAL,
                                "%s: %s: '%.*s' is not a number; give one from %.10g to "
                                "%.10g (%s)",
                                where, p->key, shown, text.start, p->minimum, p->maximum,
                                p->unit);
        if (value < p->minimum || value > p->maximum)
                return diag_set(diag, -EINVAL,
                                "%s: %s: %.*s is out of range; give %.10g to %.10g (%s)",
                                where, p->key, shown, text.start, p->minimum, p->maximum,
                                p->unit);
        if (!may_have_a_fraction(p) && value != floor(value))
                return diag_set(diag, -EINVAL, "%s: %s: %.*s is not a whole number of %s",
                                where, p->key, shown, text.start, p->unit);
        store_value(preset, index, value);
        return 0;
}

/* ---- a preset's text ---- */

static bool is_assumption(struct span comment)
{
        static const char word[] = "assumed";
        comment = trim(comment);
        return comment.length >= strlen(word) &&
               memcmp(comment.start, word, strlen(word)) == 0;
}

/* How far the text has been read. */
struct reading {
        bool given[SIM_PARAMETER_COUNT];
        bool any;      /* of them */
        bool has_base; /* parameters that are not given come from the base */
};

static int load_preset(const char *name, struct sim_preset *preset, unsigned depth,
                       struct diag *diag);

/* What is not given from now on is the preset's that PRESET derives from. */
static void assume_all(struct sim_preset *preset)
{
        for (size_t i = 0; i < SIM_PARAMETER_COUNT; i++)
                preset->assumed[i] = true;
}

/* Parses the preset that this preset derives from. */
static int parse_base(struct span value, const char *where, struct sim_preset *preset,
                      struct reading *reading, unsigned depth, struct diag *diag)
{
        char name[sizeof(preset->name)], base[sizeof(preset->name)];
        if (reading->any || reading->has_base)
                return diag_set(diag, -EINVAL, "%s: 'base' must be the first line",
                                where);
        if (value.length == 0 || value.length >= sizeof(base) || depth >= BASES_MAX)
                return diag_set(diag, -EINVAL,
                                "%s: 'base' must name a preset, and at most %d presets "
                                "may be the base of another",
                                where, BASES_MAX);
        snprintf(base, sizeof(base), "%.*s", (int)value.length, value.start);
        memcpy(name, preset->name, sizeof(name));
        int rc = load_preset(base, preset, depth + 1, diag);
        memcpy(preset->name, name, sizeof(name));
        assume_all(preset);
        reading->has_base = true;
        return rc;
}

static bool span_is(struct span span, const char *text)
{
        return strlen(text) == span.length && memcmp(text, span.start, span.length) == 0;
}

static int parse_line(struct span line, const char *where, struct sim_preset *preset,
                      struct reading *reading, unsigned depth, struct diag *diag)
{
        const char *comment = memchr(line.start, '#', line.length);
        bool assumed = false;
        if (comment) {
                assumed = is_assumption((struct span){
                    comment + 1, line.length - (size_t)(comment + 1 - line.start)});
                line.length = (size_t)(comment - line.start);
        }
        line = trim(line);
        if (line.length == 0)
                return 0;

        const char *equals = memchr(line.start, '=', line.length);
        if (!equals)
                return diag_set(diag, -EINVAL, "%s: no '='; write 'key = value'", where);
        struct span key = trim((struct span){line.start, (size_t)(equals - line.start)});
        struct span value = trim(
            (struct span){equals + 1, line.length - (size_t)(equals + 1 - line.start)});

        if (span_is(key, "base"))
                return parse_base(value, where, preset, reading, depth, diag);
        int index = find_parameter(key);
        if (index < 0)
                return unknown_key(where, key, diag);
        if (reading->given[index])
                return diag_set(diag, -EINVAL,
                                "%s: %s is given twice; remove one of them", where,
                                sim_parameters[index].key);
        reading->given[index] = reading->any = true;
        preset->assumed[index] = assumed;
        return set_value(preset, (size_t)index, value, where, diag);
}

/* HAS_BASE: PRESET has values for parameters that TEXT does not give. */
static int parse(const char *text, size_t length, const char *file, bool has_base,
                 struct sim_preset *preset, unsigned depth, struct diag *diag)
{
        struct reading reading = {.has_base = has_base};
        size_t number = 0;
        for (size_t at = 0; at < length;) {
                const char *newline = memchr(text + at, '\n', length - at);
                size_t end = newline ? (size_t)(newline - text) : length;
                char where[512];
                snprintf(where, sizeof(where), "%s:%zu", file, ++number);
                int rc = parse_line((struct span){text + at, end - at}, where, preset,
                                    &reading, depth, diag);
                if (rc < 0)
                        return rc;
                at = end + 1;
        }
        for (size_t i = 0; i < SIM_PARAMETER_COUNT && !reading.has_base; i++)
                if (!reading.given[i])
                        return diag_set(diag, -EINVAL,
                                        "%s:%zu: %s is missing; add '%s = VALUE' (%s)",
                                        file, number, sim_parameters[i].key,
                                        sim_parameters[i].key, sim_parameters[i].unit);
        return 0;
}

int sim_preset_parse(const char *text, size_t length, const char *file,
                     struct sim_preset *preset, struct diag *diag)
{
        return parse(text, length, file, false, preset, 0, diag);
}

/* ---- files ---- */

static int read_text(const char *file, char *text, size_t size, size_t *length,
                     struct diag *diag)
{
        int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return diag_set(diag, -errno, "cannot read the preset %s: %s", file,
                                strerror(errno));
        *length = 0;
        ssize_t got;
        while ((got = read(fd, text + *length, size - *length)) > 0)
                *length += (size_t)got;
        int error = got < 0 ? errno : 0;
        close(fd);
        if (error)
                return diag_set(diag, -error, "cannot read the preset %s: %s", file,
                                strerror(error));
        if (*length == size)
                return diag_set(diag, -EFBIG,
                                "%s is no preset: it has more than %zu bytes", file,
                                size - 1);
        return 0;
}

static int load_file(const char *file, bool has_base, struct sim_preset *preset,
                     unsigned depth, struct diag *diag)
{
        const char *base = strrchr(file, '/');
        base = base ? base + 1 : file;
        size_t length = strlen(base);
        size_t suffix = strlen(PRESET_SUFFIX);
        if (length > suffix && strcmp(base + length - suffix, PRESET_SUFFIX) == 0)
                length -= suffix;
        snprintf(preset->name, sizeof(preset->name), "%.*s", (int)length, base);

        char *text = malloc(PRESET_MAX_BYTES);
        if (!text)
                return diag_no_memory(diag);
        int rc = read_text(file, text, PRESET_MAX_BYTES, &length, diag);
        if (rc == 0)
                rc = parse(text, length, file, has_base, preset, depth, diag);
        free(text);
        return rc;
}

static int is_preset(const struct dirent *entry)
{
        size_t length = strlen(entry->d_name);
        size_t suffix = strlen(PRESET_SUFFIX);
        return length > suffix &&
               strcmp(entry->d_name + length - suffix, PRESET_SUFFIX) == 0;
}

/* Writes the presets' names to OUT, each followed by SEPARATOR. */
static int write_names(FILE *out, const char *separator, struct diag *diag)
{
        char *dir = path_data("presets", diag);
        if (!dir)
                return -ENOENT;
        struct dirent **entries;
        int count = scandir(dir, &entries, is_preset, alphasort);
        if (count < 0) {
                int rc =
                    diag_set(diag, -errno, "cannot read %s: %s", dir, strerror(errno));
                free(dir);
                return rc;
        }
        free(dir);
        for (int i = 0; i < count; i++) {
                int length = (int)(strlen(entries[i]->d_name) - strlen(PRESET_SUFFIX));
                fprintf(out, "%.*s%s", length, entries[i]->d_name, separator);
                free(entries[i]);
        }
        free(entries);
        return 0;
}

static int no_such_preset(const char *name, struct diag *diag)
{
        char *names = NULL;
        size_t size = 0;
        FILE *list = open_memstream(&names, &size);
        if (!list)
                return diag_no_memory(diag);
        int rc = write_names(list, " ", diag);
        fclose(list);
        if (rc == 0)
                rc = diag_set(diag, -EINVAL,
                              "no preset '%.60s'; there are: %s(or give a FILE.conf)",
                              name, names);
        free(names);
        return rc;
}

/* The preset that `memlag calibrate` made of this machine. */
static char *host_file(struct diag *diag)
{
        struct machine_identity identity;
        machine_identity(&identity);
        return calibration_path(&identity, PRESET_SUFFIX, diag);
}

/* Of the installation. */
static int load_preset(const char *name, struct sim_preset *preset, unsigned depth,
                       struct diag *diag)
{
        char *relative = NULL;
        if (asprintf(&relative, "presets/%s%s", name, PRESET_SUFFIX) < 0)
                return diag_no_memory(diag);
        char *file = path_data(relative, NULL);
        free(relative);
        if (!file)
                return no_such_preset(name, diag);
        int rc = load_file(file, false, preset, depth, diag);
        free(file);
        return rc;
}

/* The preset of the nearest microarchitecture. UNLIKE: why it is not this machine's. */
static int load_nearest_preset(struct sim_preset *preset, const char **unlike,
                               struct diag *diag)
{
        struct machine machine;
        machine_read("", &machine);
        const char *name =
            cpu_preset(machine.vendor, machine.family, machine.model, unlike);
        int rc = load_preset(name, preset, 0, diag);
        if (rc == 0)
                sim_nearest_fit_walks(&machine, preset);
        machine_free(&machine);
        return rc;
}

static int load_nearest(struct sim_preset *preset, struct diag *diag)
{
        const char *unlike;
        int rc = load_nearest_preset(preset, &unlike, diag);
        if (rc == 0)
                sim_nearest_fit("", preset);
        preset->unlike = unlike;
        return rc;
}

/* Whether the calibration in FILE has what all of them measure: else it is cut off. */
static int check_measured(const char *file, const struct sim_preset *preset,
                          struct diag *diag)
{
        static const char *const keys[] = {"l2.latency_cycles", "dram.latency_ns",
                                           "dram.bandwidth_gbs"};
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
                if (preset->assumed[find_parameter(
                        (struct span){keys[i], strlen(keys[i])})])
                        return diag_set(diag, -EINVAL, "%s: no measured %s", file,
                                        keys[i]);
        return 0;
}

/* An older calibration lacks parameters that have been added since: they are assumed to
 * be the nearest microarchitecture's. */
static int load_calibrated(const char *file, struct sim_preset *preset, struct diag *diag)
{
        const char *unlike;
        int rc = load_nearest_preset(preset, &unlike, diag);
        assume_all(preset);
        if (rc == 0)
                rc = load_file(file, true, preset, 0, diag);
        return rc < 0 ? rc : check_measured(file, preset, diag);
}

static int load_host(struct sim_preset *preset, struct diag *diag)
{
        char *file = host_file(diag);
        if (!file)
                return -ENOENT;
        struct diag reason;
        int rc = -ENOENT;
        if (access(file, F_OK) != 0)
                diag_set(diag, rc,
                         "there is no calibration of this machine that a CPU could be "
                         "made of; make one with 'memlag calibrate' (some three minutes; "
                         "the machine should be quiet), which ends by saying whether it "
                         "can be used");
        else if ((rc = load_calibrated(file, preset, &reason)) < 0)
                diag_set(diag, rc,
                         "the calibration of this machine does not fit this memlag; make "
                         "it anew with 'memlag calibrate' (%.800s)",
                         reason.text);
        free(file);
        strcpy(preset->name, SIM_PRESET_HOST);
        return rc;
}

static bool is_file(const char *name)
{
        size_t length = strlen(name);
        size_t suffix = strlen(PRESET_SUFFIX);
        return strchr(name, '/') ||
               (length > suffix && strcmp(name + length - suffix, PRESET_SUFFIX) == 0);
}

bool sim_preset_is_own(const char *cpu)
{
        return is_file(cpu) || strcmp(cpu, SIM_PRESET_HOST) == 0 ||
               strcmp(cpu, SIM_PRESET_NEAREST) == 0;
}

bool sim_preset_has_host(void)
{
        char *file = host_file(NULL);
        bool is_there = file && access(file, F_OK) == 0;
        free(file);
        return is_there;
}

static int load(const char *name, struct sim_preset *preset, struct diag *diag)
{
        *preset = (struct sim_preset){0};
        if (is_file(name))
                return load_file(name, false, preset, 0, diag);
        if (strcmp(name, SIM_PRESET_HOST) == 0)
                return load_host(preset, diag);
        if (strcmp(name, SIM_PRESET_NEAREST) == 0)
                return load_nearest(preset, diag);
        return load_preset(name, preset, 0, diag);
}

/* The preset of the nearest microarchitecture is better than a poor or incomplete
 * calibration. */
const char *sim_preset_default(void)
{
        struct diag ignored;
        struct sim_preset preset = {0};
        json_t *document = NULL;
        if (calibration_load(&document, &ignored) < 0)
                return SIM_PRESET_NEAREST;
        bool sound = !calibration_is_poor(document) &&
                     calibration_check_sense(document, &ignored) == 0 &&
                     load_host(&preset, &ignored) == 0;
        json_decref(document);
        return sound ? SIM_PRESET_HOST : SIM_PRESET_NEAREST;
}

void sim_preset_label(const struct sim_preset *preset, char *label, size_t size)
{
        snprintf(label, size, "%s%s", preset->name,
                 preset->fitted ? " with this machine's caches" : "");
}

int sim_preset_list(FILE *out, struct diag *diag)
{
        int rc = write_names(out, "\n", diag);
        if (rc == 0)
                fputs(SIM_PRESET_NEAREST "\n", out);
        if (rc == 0 && sim_preset_has_host())
                fputs(SIM_PRESET_HOST "\n", out);
        return rc;
}

/* ---- settings and checks ---- */

int sim_preset_set(struct sim_preset *preset, const char *assignment, struct diag *diag)
{
        const char *where = "--sim-set";
        const char *equals = strchr(assignment, '=');
        if (!equals)
                return diag_set(diag, -EINVAL, "%s: no '=' in '%.60s'; give KEY=VALUE",
                                where, assignment);
        struct span key = trim((struct span){assignment, (size_t)(equals - assignment)});
        int index = find_parameter(key);
        if (index < 0)
                return unknown_key(where, key, diag);
        preset->from_command_line[index] = true;
        return set_value(preset, (size_t)index,
                         trim((struct span){equals + 1, strlen(equals + 1)}), where,
                         diag);
}

void sim_preset_replace(struct sim_preset *preset, const char *key, double value)
{
        int index = find_parameter((struct span){key, strlen(key)});
        if (index < 0 || !(value >= sim_parameters[index].minimum) ||
            !(value <= sim_parameters[index].maximum))
                return;
        store_value(preset, (size_t)index, value);
        preset->assumed[index] = false;
        preset->from_machine[index] = true;
}

/* SIZE and WAYS are keys; UNIT_SIZE is the capacity of one way of one set. */
static int check_sets(const char *name, double size, double ways, double unit_size,
                      struct diag *diag)
{
        if (fmod(size, ways * unit_size) == 0)
                return 0;
        return diag_set(
            diag, -EINVAL,
            "%s: %.10g does not divide into sets of %.10g; make it a multiple", name,
            size, ways * unit_size);
}

static int check_order(const char *lower_key, double lower, const char *upper_key,
                       double upper, struct diag *diag)
{
        if (lower < upper)
                return 0;
        return diag_set(diag, -EINVAL, "%s (%.10g) must be less than %s (%.10g)",
                        lower_key, lower, upper_key, upper);
}

int sim_preset_check(const struct sim_preset *preset, struct diag *diag)
{
        const struct simpmu_params *p = &preset->params;
        int rc =
            check_sets("l1d.size_bytes", p->l1d_bytes, p->l1d_ways, LINE_BYTES, diag);
        if (rc == 0)
                rc = check_sets("l2.size_bytes", p->l2_bytes, p->l2_ways, LINE_BYTES,
                                diag);
        if (rc == 0)
                rc = check_sets("l3.size_bytes", p->l3_bytes, p->l3_ways, LINE_BYTES,
                                diag);
        if (rc == 0)
                rc = check_sets("dtlb.entries", p->dtlb_entries, p->dtlb_ways, 1, diag);
        if (rc == 0)
                rc = check_sets("dtlb.huge_entries", p->dtlb_huge_entries,
                                p->dtlb_huge_ways, 1, diag);
        if (rc == 0)
                rc = check_sets("stlb.entries", p->stlb_entries, p->stlb_ways, 1, diag);
        if (rc == 0)
                rc = check_order("l1d.size_bytes", p->l1d_bytes, "l2.size_bytes",
                                 p->l2_bytes, diag);
        if (rc == 0)
                rc = check_order("l2.size_bytes", p->l2_bytes, "l3.size_bytes",
                                 p->l3_bytes, diag);
        if (rc == 0)
                rc = check_order("l1d.latency_cycles", p->l1d_latency_cycles,
                                 "l2.latency_cycles", p->l2_latency_cycles, diag);
        if (rc == 0)
                rc = check_order("l2.latency_cycles", p->l2_latency_cycles,
                                 "l3.latency_cycles", p->l3_latency_cycles, diag);
        return rc;
}

int sim_preset_build(const char *cpu, const char *const *settings,
                     struct sim_preset *preset, struct diag *diag)
{
        int rc = load(cpu ? cpu : sim_preset_default(), preset, diag);
        for (; rc == 0 && settings && *settings; settings++)
                rc = sim_preset_set(preset, *settings, diag);
        return rc == 0 ? sim_preset_check(preset, diag) : rc;
}

void sim_preset_print(const struct sim_preset *preset, FILE *out)
{
        fprintf(out, "%-28s %12s  %-20s %s\n", "KEY", "VALUE", "UNIT", "RANGE");
        for (size_t i = 0; i < SIM_PARAMETER_COUNT; i++) {
                const struct sim_parameter *p = &sim_parameters[i];
                fprintf(out, "%-28s %12.10g  %-20s %.10g to %.10g\n", p->key,
                        value_of(preset, i), p->unit, p->minimum, p->maximum);
        }
}
