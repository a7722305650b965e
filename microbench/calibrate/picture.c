/* SPDX-License-Identifier: MIT */
/* Draws a calibration's curves as SVG. */
#include "picture.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calibration.h"

enum {
        FOOTER = 24,
        WIDTH = 560,
        HEIGHT = 360,
        LEFT = 70,
        TOP = 40,
        RIGHT = 20,
        BOTTOM = 50
};

struct axis {
        double low, high;
        bool logarithmic; /* to base 2 */
        const char *label;
};

/* A curve in one panel; points without the key are left out. */
struct line {
        const json_t *curve;
        const char *key;
        double factor; /* converts the key's values to the axis's unit */
        const char *label, *colour;
};

enum { LINES_MAX = 5 };

struct panel {
        int offset;
        const char *title;
        const char *x_key;
        struct axis x, y;
        struct line lines[LINES_MAX];
        size_t count;
};

static double scaled(const struct axis *axis, double value)
{
        double low = axis->low, high = axis->high;
        if (axis->logarithmic)
                value = log2(value), low = log2(low), high = log2(high);
        return high > low ? (value - low) / (high - low) : 0;
}

static double x_of(const struct panel *panel, double value)
{
        return panel->offset + LEFT + scaled(&panel->x, value) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct panel *panel, double value)
{
        return HEIGHT - BOTTOM - scaled(&panel->y, value) * (HEIGHT - TOP - BOTTOM);
}

static void range(const struct line *line, const char *key, double factor,
                  struct axis *axis)
{
        size_t index;
        json_t *point;
        json_array_foreach(line->curve, index, point)
        {
                double value = factor * calibration_number(point, key);
                axis->low = fmin(axis->low, value);
                axis->high = fmax(axis->high, value);
        }
}

static void ranges(struct panel *panel)
{
        panel->x.low = panel->x.logarithmic ? INFINITY : 0;
        panel->y.low = panel->y.logarithmic ? INFINITY : 0;
        for (size_t i = 0; i < panel->count; i++) {
                const struct line *line = &panel->lines[i];
                range(line, panel->x_key, 1, &panel->x);
                range(line, line->key, line->factor, &panel->y);
        }
}

/* 4096 as "4K". */
static void print_size(FILE *out, double value)
{
        static const char units[] = " KMGT";
        int unit = 0;
        for (; value >= 1024 && unit < 4; unit++)
                value /= 1024;
        fprintf(out, unit ? "%g%c" : "%g", value, units[unit]);
}

static double next_tick(const struct axis *axis, double tick)
{
        if (axis->logarithmic)
                return tick * (axis->high / axis->low > 1000 ? 4 : 2);
        double step = pow(10, floor(log10((axis->high - axis->low) / 2)));
        if ((axis->high - axis->low) / step > 8)
                step *= 2;
        return tick + step;
}

static double first_tick(const struct axis *axis)
{
        return axis->logarithmic ? exp2(ceil(log2(axis->low) - 1e-9)) : axis->low;
}

static void draw_axes(const struct panel *panel, FILE *out)
{
        double left = panel->offset + LEFT, right = panel->offset + WIDTH - RIGHT;
        double bottom = HEIGHT - BOTTOM;
        for (double x = first_tick(&panel->x); x <= panel->x.high;
             x = next_tick(&panel->x, x)) {
                fprintf(out,
                        "<path d='M%.1f %d V%.1f' class='grid'/>"
                        "<text x='%.1f' y='%.1f' class='middle'>",
                        x_of(panel, x), TOP, bottom, x_of(panel, x), bottom + 16);
                if (panel->x.logarithmic)
                        print_size(out, x);
                else
                        fprintf(out, "%g", x);
                fputs("</text>\n", out);
        }
        for (double y = first_tick(&panel->y); y <= panel->y.high;
             y = next_tick(&panel->y, y))
                fprintf(out,
                        "<path d='M%.1f %.1f H%.1f' class='grid'/>"
                        "<text x='%.1f' y='%.1f' class='end'>%g</text>\n",
                        left, y_of(panel, y), right, left - 6, y_of(panel, y) + 4, y);
        fprintf(out,
                "<text x='%.1f' y='%d' class='title'>%s</text>"
                "<text x='%.1f' y='%d' class='middle'>%s</text>"
                "<text x='%d' y='%d' class='middle' transform='rotate(-90 %d %d)'>%s"
                "</text>\n",
                left, TOP - 14, panel->title, (left + right) / 2, HEIGHT - 12,
                panel->x.label, panel->offset + 18, HEIGHT / 2, panel->offset + 18,
                HEIGHT / 2, panel->y.label);
}

static void draw_line(const struct panel *panel, const struct line *line, FILE *out)
{
        size_t index;
        json_t *point;
        char command = 'M';
        fprintf(out, "<g stroke='%s' fill='%s'><path fill='none' d='", line->colour,
                line->colour);
        json_array_foreach(line->curve, index, point)
        {
                double y = line->factor * calibration_number(point, line->key);
                if (isnan(y))
                        continue;
                fprintf(out, "%c%.1f %.1f ", command,
                        x_of(panel, calibration_number(point, panel->x_key)),
                        y_of(panel, y));
                command = 'L';
        }
        fputs("'/>\n", out);
        json_array_foreach(line->curve, index, point)
        {
                double y = line->factor * calibration_number(point, line->key);
                if (!isnan(y))
                        fprintf(out, "<circle cx='%.1f' cy='%.1f' r='2.5'/>\n",
                                x_of(panel, calibration_number(point, panel->x_key)),
                                y_of(panel, y));
        }
        fputs("</g>\n", out);
}

/* Names of the curves, from the bottom up, if there are several. */
static void draw_legend(const struct panel *panel, FILE *out)
{
        for (size_t i = 0; i < panel->count && panel->count > 1; i++)
                fprintf(out, "<text x='%d' y='%d' class='end' fill='%s'>%s</text>\n",
                        panel->offset + WIDTH - RIGHT - 6,
                        HEIGHT - BOTTOM - 10 - 16 * (int)i, panel->lines[i].colour,
                        panel->lines[i].label);
}

static void draw(struct panel *panel, FILE *out)
{
        ranges(panel);
        if (!(panel->x.high > panel->x.low) || !(panel->y.high > panel->y.low)) {
                fprintf(out, "<text x='%d' y='%d'>%s: not measured</text>\n",
                        panel->offset + LEFT, HEIGHT / 2, panel->title);
                return;
        }
        draw_axes(panel, out);
        for (size_t i = 0; i < panel->count; i++)
                draw_line(panel, &panel->lines[i], out);
        draw_legend(panel, out);
}

/* Adds the line if any point has its key. */
static void add_line(struct panel *panel, struct line line)
{
        size_t index;
        json_t *point;
        json_array_foreach(line.curve, index, point)
        {
                if (isnan(calibration_number(point, line.key)))
                        continue;
                panel->lines[panel->count++] = line;
                return;
        }
}

/* Writes TEXT as element content. */
static void write_text(const char *text, FILE *out)
{
        for (; *text; text++) {
                if (*text == '<')
                        fputs("&lt;", out);
                else if (*text == '&')
                        fputs("&amp;", out);
                else
                        fputc(*text, out);
        }
}

/* Names the machine, and warns if the picture is doubtful. */
static void write_footer(const json_t *calibration, FILE *out)
{
        const json_t *machine = json_object_get(calibration, "machine");
        const char *cpu = json_string_value(json_object_get(machine, "cpu"));
        const char *made = json_string_value(json_object_get(calibration, "made"));
        double worst = calibration_number(calibration, "noise.worst_error");
        fprintf(out, "<text x='%d' y='%d'>", LEFT, HEIGHT + FOOTER / 2);
        write_text(cpu ? cpu : "unknown CPU", out);
        fprintf(out, ", %.0f CPUs; measured ", calibration_number(machine, "cpus"));
        write_text(made ? made : "some time", out);
        fprintf(out, " (%s); worst error ",
                json_is_true(json_object_get(calibration, "quick")) ? "quick" : "full");
        if (isnan(worst))
                fputs("unknown</text>\n", out);
        else
                fprintf(out, "%.1f %%</text>\n", 100 * worst);
}

void picture_write(const json_t *calibration, FILE *out)
{
        const json_t *caches = json_object_get(calibration, "caches");
        const json_t *loaded = json_object_get(calibration, "loaded");
        const json_t *without =
            json_object_get(calibration, "loaded_without_prefetching");
        double cycle_ns = 1 / calibration_number(calibration, "clocks.core_ghz");
        struct panel size = {
            .title = "Latency over size",
            .x_key = "size_bytes",
            .x = {.logarithmic = true, .label = "bytes"},
            .y = {.logarithmic = true, .label = "ns per load"},
        };
        struct panel load = {
            .offset = WIDTH,
            .title = "Latency under load",
            .x_key = "gbs",
            .x = {.label = "GB/s moved"},
            .y = {.label = "ns per load"},
        };
        add_line(&size, (struct line){json_object_get(caches, "curve"), "ns", 1, "chase",
                                      "#036"});
        add_line(&load, (struct line){json_object_get(loaded, "curve"), "latency_ns", 1,
                                      "chase", "#036"});
        add_line(&load, (struct line){json_object_get(loaded, "curve"), "lmrl_cycles",
                                      cycle_ns, "LMRL of the chase", "#c40"});
        add_line(&load, (struct line){json_object_get(loaded, "curve"),
                                      "sampling_latency_cycles", cycle_ns,
                                      "samples of the chase", "#a0a"});
        add_line(&load,
                 (struct line){json_object_get(loaded, "curve"), "load_lmrl_cycles",
                               cycle_ns, "LMRL of the loads beside it", "#083"});
        add_line(&load, (struct line){json_object_get(without, "curve"), "latency_ns", 1,
                                      "chase, without prefetching", "#888"});
        fprintf(out,
                "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'>\n"
                "<style>text{font:12px sans-serif}.title{font-weight:bold}"
                ".middle{text-anchor:middle}.end{text-anchor:end}"
                ".grid{stroke:#ddd;fill:none}</style>\n"
                "<rect width='100%%' height='100%%' fill='white'/>\n",
                2 * WIDTH, HEIGHT + FOOTER);
        draw(&size, out);
        draw(&load, out);
        write_footer(calibration, out);
        fputs("</svg>\n", out);
}
