/* SPDX-License-Identifier: MIT */
/* Figures of all rows: of the whole run, or of the chosen part of the time. */
"use strict";
memlag.sums = (() => {
    const { data, choice } = memlag;
    const SAMPLES = 0, COST = 1, STALLED = 2;
    const total = (rows, within) => {
        const sum = [0, 0, 0];
        for (const row of rows)
            if (!within || (row.span >= choice.from && row.span < choice.to)) {
                sum[SAMPLES] += row.samples;
                sum[COST] += row.cost;
                sum[STALLED] += row.stalled;
            }
        return sum;
    };
    const counted = (what, within) => data.spans.reduce((sum, row) => row.what === what &&
        (!within || (row.span >= choice.from && row.span < choice.to)) ? sum + row.value : sum, 0);

    const add = (sum, samples, cost, stalled) => {
        sum[SAMPLES] += samples;
        sum[COST] += cost;
        sum[STALLED] += stalled;
    };

    /* Sums of all CELLS by the key that KEYS gives an id. */
    function grouped(cells, keys) {
        const sums = new Map();
        for (const [id, , samples, cost, stalled] of cells) {
            const key = keys ? keys.get(id) : id;
            let sum = sums.get(key);
            if (!sum)
                sums.set(key, sum = [0, 0, 0]);
            add(sum, samples, cost, stalled);
        }
        return sums;
    }

    /* The same of the chosen spans, and by part of the causes. */
    function chosen(cells, keys) {
        const sums = new Map();
        for (const [id, span, samples, cost, stalled, part, dram] of cells) {
            if (span < choice.from || span >= choice.to)
                continue;
            const key = keys ? keys.get(id) : id;
            let sum = sums.get(key);
            if (!sum)
                sums.set(key, sum = { all: [0, 0, 0], dram: 0, parts: new Map() });
            add(sum.all, samples, cost, stalled);
            sum.dram += dram || 0;
            if (!sum.parts.has(part))
                sum.parts.set(part, [0, 0, 0]);
            add(sum.parts.get(part), samples, cost, stalled);
        }
        return sums;
    }

    const lineOf = new Map(data.locations.map((row) => [row.location_id, row.line_id]));
    const functionOf = new Map(data.locations.map((row) => [row.location_id, row.function_id]));
    const kinds = [
        { rows: data.lines, id: "line_id", cells: data.cells.location, keys: lineOf, events: data.events.line },
        { rows: data.functions, id: "function_id", cells: data.cells.location, keys: functionOf, events: data.events.function },
        { rows: data.locations, id: "location_id", cells: data.cells.location },
        { rows: data.objects, id: "object_id", cells: data.cells.object, events: data.events.object },
        { rows: data.fields, id: "field_id", cells: data.cells.field, events: data.events.field },
        { rows: data.callers, id: "caller_id", cells: data.cells.caller },
        { rows: data.calling, id: "calling_id", cells: data.cells.calling },
    ];
    for (const kind of kinds)
        kind.whole = grouped(kind.cells, kind.keys);
    const whole = { sums: total(data.sums, false), cycles: counted("cycles", false) };
    const part = (some, all) => (all > 0 ? some / all : 0);

    const figures = (row, all) => ({
        samples: row.samples !== undefined ? row.samples
            : row.self_samples !== undefined ? row.self_samples : all[SAMPLES],
        stalled: row.stalled_ratio !== undefined ? row.stalled_ratio
            : row.self_stalled_ratio !== undefined ? row.self_stalled_ratio : all[STALLED] / 1e9,
        latency: row.latency_share !== undefined ? row.latency_share
            : row.self_latency_share !== undefined ? row.self_latency_share
            : part(all[COST], whole.sums[COST]),
        mean: row.mean, dram: row.dram, verdict: row.verdict, cacheLevel: row.cache_level,
    });

    /* A row's figures in the chosen time: the part of those of the findings that its samples
     * have there, over the cycles and the latency of that time. */
    function partly(kind, row, all, some, now) {
        const { samples, stalled, latency, mean, dram, verdict } = figures(row, all);
        const [judged, cacheLevel] = kind.events && data.timed ? [verdict, row.cache_level]
            : kind.events ? memlag.causes.judge(some.parts, kind.events.get(row[kind.id]) || 0, now.cycles, now.loads) : [];
        return {
            samples: samples === null ? null : some.all[SAMPLES],
            stalled: stalled === null || !now.cycles ? null : stalled * part(some.all[STALLED], all[STALLED]) / now.cycles,
            latency: latency === null || !now.cost ? null : latency * part(some.all[COST], all[COST]) / now.cost,
            mean: mean === null || !some.all[SAMPLES] ? null : some.all[COST] / some.all[SAMPLES],
            dram: dram === null || !some.all[SAMPLES] ? null : some.dram / some.all[SAMPLES],
            verdict: judged, cacheLevel,
        };
    }

    /* The chosen part of the run's cycles, and of its latency. */
    function nowOf() {
        const cycles = counted("cycles", true);
        return {
            cycles: whole.cycles > 0 ? part(cycles, whole.cycles) : part(choice.to - choice.from, data.grid.count),
            cost: part(total(data.sums, true)[COST], whole.sums[COST]),
            loads: cycles > 0 && data.run.period_loads > 0 ? data.run.period_loads / cycles : null,
        };
    }

    function update() {
        const none = [0, 0, 0], nothing = { all: none, dram: 0, parts: new Map() };
        const now = nowOf();
        for (const kind of kinds) {
            const some = memlag.isWhole() ? null : chosen(kind.cells, kind.keys);
            for (const row of kind.rows) {
                const all = kind.whole.get(row[kind.id]) || none;
                row.now = some ? partly(kind, row, all, some.get(row[kind.id]) || nothing, now) : figures(row, all);
            }
        }
    }

    /* Of the chosen time: shares of the cycles, null if not known. */
    function waits() {
        const within = data.sums.filter((row) => row.span >= choice.from && row.span < choice.to);
        const sum = (name) => within.reduce((all, row) => all + row[name], 0);
        const { cycles } = nowOf();
        return { samples: sum("samples"), stalled: cycles > 0 ? (sum("stalled") - sum("faulted")) / 1e9 / cycles : null,
            faulted: cycles > 0 ? sum("faulted") / 1e9 / cycles : null };
    }

    /* Of each span: the part of its cycles that were stalled, or of its latency. */
    const series = (weight) => {
        const values = new Array(data.grid.count).fill(0);
        const cycles = new Map(data.spans.filter((row) => row.what === "cycles").map((row) => [row.span, row.value]));
        for (const row of data.sums)
            values[row.span] = weight === "stalled"
                ? part(row.stalled / 1e9 * whole.cycles, cycles.get(row.span) || 0)
                : weight === "latency" ? part(row.cost, whole.sums[COST]) : row.samples;
        return values;
    };
    return { update, series, waits };
})();

memlag.weights = (() => {
    const { functions } = memlag.data;
    const known = [];
    if (functions.some((row) => row.stalled_ratio > 0))
        known.push(["stalled", "stalled cycles"]);
    if (functions.some((row) => row.latency_share > 0))
        known.push(["latency", functions.some((row) => row.mean !== null) ? "latency" : "time at loads"]);
    known.push(["samples", "samples"]);
    return known;
})();

/* The weight of a row now. */
memlag.weigh = (row) => row.now[memlag.choice.weight] || 0;

memlag.weightText = (value) =>
    (memlag.choice.weight === "samples" ? String(Math.round(value)) : memlag.percent(value));

memlag.place = (fileId, line) =>
    (fileId === null || fileId === undefined ? "–"
        : memlag.base(memlag.data.files.get(fileId)) + ":" + (line === null ? "?" : line));
