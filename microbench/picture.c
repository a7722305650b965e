/* SPDX-License-Identifier: MIT */
/* Draws a calibration's curves as SVG. */
#include "picture.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calibration.h"

enum { WIDTH = 560, HEIGHT = 360, LEFT = 70, TOP = 40, RIGHT = 20, BOTTOM = 50 };

struct axis {
        double low, high;
        bool logarithmic; /* to base 2 */
        const char *label;
};

struct panel {
        int offset;
        const char *title;
        const json_t *curve;
        const char *x_key, *y_key;
        struct axis x, y;
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

static void range(const json_t *curve, const char *key, struct axis *axis)
{
        size_t index;
        json_t *point;
        if (axis->logarithmic)
                axis->low = INFINITY;
        json_array_foreach(curve, index, point)
        {
                double value = calibration_number(point, key);
                axis->low = fmin(axis->low, value);
                axis->high = fmax(axis->high, value);
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

static void draw(struct panel *panel, FILE *out)
{
        size_t index;
        json_t *point;
        range(panel->curve, panel->x_key, &panel->x);
        range(panel->curve, panel->y_key, &panel->y);
        if (!(panel->x.high > panel->x.low) || !(panel->y.high > panel->y.low)) {
                fprintf(out, "<text x='%d' y='%d'>%s: not measured</text>\n",
                        panel->offset + LEFT, HEIGHT / 2, panel->title);
                return;
        }
        draw_axes(panel, out);
        fputs("<path class='curve' d='", out);
        json_array_foreach(panel->curve, index, point)
            fprintf(out, "%c%.1f %.1f ", index ? 'L' : 'M',
                    x_of(panel, calibration_number(point, panel->x_key)),
                    y_of(panel, calibration_number(point, panel->y_key)));
        fputs("'/>\n", out);
        json_array_foreach(panel->curve, index, point)
            fprintf(out, "<circle cx='%.1f' cy='%.1f' r='2.5'/>\n",
                    x_of(panel, calibration_number(point, panel->x_key)),
                    y_of(panel, calibration_number(point, panel->y_key)));
}

void picture_write(const json_t *calibration, FILE *out)
{
        const json_t *caches = json_object_get(calibration, "caches");
        const json_t *loaded = json_object_get(calibration, "loaded");
        struct panel size = {
            .title = "Latency over size",
            .curve = json_object_get(caches, "curve"),
            .x_key = "size_bytes",
            .y_key = "ns",
            .x = {.logarithmic = true, .label = "bytes"},
            .y = {.logarithmic = true, .label = "ns per load"},
        };
        struct panel load = {
            .offset = WIDTH,
            .title = "Latency under load",
            .curve = json_object_get(loaded, "curve"),
            .x_key = "gbs",
            .y_key = "latency_ns",
            .x = {.label = "GB/s moved"},
            .y = {.label = "ns per load"},
        };
        fprintf(out,
                "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'>\n"
                "<style>text{font:12px sans-serif}.title{font-weight:bold}"
                ".middle{text-anchor:middle}.end{text-anchor:end}"
                ".grid{stroke:#ddd;fill:none}.curve{stroke:#036;fill:none}"
                "circle{fill:#036}</style>\n"
                "<rect width='100%%' height='100%%' fill='white'/>\n",
                2 * WIDTH, HEIGHT);
        draw(&size, out);
        draw(&load, out);
        fputs("</svg>\n", out);
}
