/* SPDX-License-Identifier: MIT */
/* The page's data. Names are any text: they go into the page as text only. */
"use strict";
memlag.data = (() => {
    const raw = JSON.parse(document.getElementById("data").textContent);
    const rowsOf = (name) => (raw[name] || { rows: [] }).rows.map((row) =>
        Object.fromEntries(raw[name].columns.map((column, i) => [column, row[i]])));
    const valuesOf = (name) => Object.fromEntries(raw[name].rows.map((row) => [row[0], row[1]]));

    const data = { file: raw.file, provenance: raw.provenance, head: raw.head, advice: Object.assign(Object.create(null), raw.advice),
        fixes: Object.assign(Object.create(null), raw.fixes), sourceNotes: raw.source_notes,
        parts: raw.parts, limits: raw.limits };
    for (const name of ["functions", "lines", "locations", "objects", "fields", "callers", "time",
        "spans", "sums", "ledger", "line_objects", "places", "paddings", "calling", "gains", "line_gains", "sharing", "source"])
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
    for (const name of ["location", "object", "field", "caller", "calling"])
        data.cells[name] = raw[name + "_cells"].rows; /* id, span, samples, cost, stalled, part, dram */
    data.events = {};
    for (const name of ["line", "function", "object", "field"])
        data.events[name] = new Map(raw[name + "_events"].rows);
    data.timed = data.functions.every((row) => row.mean === null);
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
