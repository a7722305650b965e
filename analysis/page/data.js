/* SPDX-License-Identifier: MIT */
/* The page's data, and what of it lies in the chosen part of the time. Names are any text:
 * they go into the page as text only. */
"use strict";
memlag.data = (() => {
    const raw = JSON.parse(document.getElementById("data").textContent);
    const rowsOf = (name) => (raw[name] || { rows: [] }).rows.map((row) =>
        Object.fromEntries(raw[name].columns.map((column, i) => [column, row[i]])));
    const valuesOf = (name) => Object.fromEntries(raw[name].rows.map((row) => [row[0], row[1]]));

    const data = { file: raw.file, head: raw.head, advice: Object.assign(Object.create(null), raw.advice), sourceNotes: raw.source_notes };
    for (const name of ["functions", "lines", "locations", "objects", "fields", "callers", "time",
        "spans", "sums", "ledger", "line_objects", "places", "paddings", "gains", "line_gains", "sharing", "source"])
        data[name] = rowsOf(name);
    data.run = valuesOf("run");
    data.thresholds = valuesOf("thresholds");
    data.peak = valuesOf("machine").dram_bandwidth_gbs;
    data.grid = rowsOf("grid")[0];
    data.files = new Map(raw.files.rows);
    data.functionById = new Map(data.functions.map((row) => [row.function_id, row]));
    data.lineById = new Map(data.lines.map((row) => [row.line_id, row]));
    data.objectById = new Map(data.objects.map((row) => [row.object_id, row]));
    data.fieldById = new Map(data.fields.map((row) => [row.field_id, row]));
    data.cells = {};
    for (const name of ["location", "object", "field", "caller"])
        data.cells[name] = raw[name + "_cells"].rows; /* id, span, samples, cost, stalled */
    const unnamed = { function: "[unknown]", module: null };
    for (const line of data.lines)
        line.owner = data.functionById.get(line.function_id) || unnamed;
    return data;
})();

/* The chosen spans are FROM to TO, TO not among them; WEIGHT is what widths and orders are of. */
memlag.choice = { from: 0, to: memlag.data.grid.count, weight: "stalled" };

memlag.isWhole = () => memlag.choice.from === 0 && memlag.choice.to === memlag.data.grid.count;

memlag.spanStart = (span) =>
    (memlag.data.grid.from_ns + span * memlag.data.grid.span_ns) / 1e6;

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

    /* Sums of CELLS by the key that KEYS gives an id, of all spans or of the chosen ones. */
    function grouped(cells, keys, within) {
        const sums = new Map();
        for (const [id, span, samples, cost, stalled] of cells) {
            if (within && (span < choice.from || span >= choice.to))
                continue;
            const key = keys ? keys.get(id) : id;
            let sum = sums.get(key);
            if (!sum)
                sums.set(key, sum = [0, 0, 0]);
            sum[SAMPLES] += samples;
            sum[COST] += cost;
            sum[STALLED] += stalled;
        }
        return sums;
    }

    const lineOf = new Map(data.locations.map((row) => [row.location_id, row.line_id]));
    const functionOf = new Map(data.locations.map((row) => [row.location_id, row.function_id]));
    const kinds = [
        { rows: data.lines, id: "line_id", cells: data.cells.location, keys: lineOf },
        { rows: data.functions, id: "function_id", cells: data.cells.location, keys: functionOf },
        { rows: data.locations, id: "location_id", cells: data.cells.location },
        { rows: data.objects, id: "object_id", cells: data.cells.object },
        { rows: data.fields, id: "field_id", cells: data.cells.field },
        { rows: data.callers, id: "caller_id", cells: data.cells.caller },
    ];
    for (const kind of kinds)
        kind.whole = grouped(kind.cells, kind.keys, false);
    const whole = { sums: total(data.sums, false), cycles: counted("cycles", false) };
    const part = (some, all) => (all > 0 ? some / all : 0);

    /* A row's figures are those of the findings, or the part of them that its samples have
     * in the chosen time, over the cycles and the latency of that time. */
    function now(row, all, some, cycles, cost) {
        const samples = row.samples !== undefined ? row.samples
            : row.self_samples !== undefined ? row.self_samples : all[SAMPLES];
        const stalled = row.stalled_ratio !== undefined ? row.stalled_ratio
            : row.self_stalled_ratio !== undefined ? row.self_stalled_ratio : all[STALLED] / 1e9;
        const latency = row.latency_share !== undefined ? row.latency_share
            : row.self_latency_share !== undefined ? row.self_latency_share
            : part(all[COST], whole.sums[COST]);
        if (memlag.isWhole())
            return { samples, stalled, latency, mean: row.mean };
        return {
            samples: some[SAMPLES],
            stalled: stalled === null || !cycles ? null : stalled * part(some[STALLED], all[STALLED]) / cycles,
            latency: latency === null || !cost ? null : latency * part(some[COST], all[COST]) / cost,
            mean: row.mean === null || !some[SAMPLES] ? null : some[COST] / some[SAMPLES],
        };
    }

    function update() {
        const none = [0, 0, 0];
        const cycles = whole.cycles > 0 ? part(counted("cycles", true), whole.cycles)
            : part(choice.to - choice.from, data.grid.count);
        const cost = part(total(data.sums, true)[COST], whole.sums[COST]);
        for (const kind of kinds) {
            const some = memlag.isWhole() ? kind.whole : grouped(kind.cells, kind.keys, true);
            for (const row of kind.rows)
                row.now = now(row, kind.whole.get(row[kind.id]) || none, some.get(row[kind.id]) || none,
                    cycles, cost);
        }
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
    return { update, series, timed: whole.sums[COST] > 0 };
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
