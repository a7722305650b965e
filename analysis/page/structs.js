/* SPDX-License-Identifier: MIT */
/* A picture of each structure: its cache lines as rows, its fields as cells, and what each
 * costs. */
"use strict";
memlag.structs = (() => {
    const { data } = memlag;
    const LINE = 64, ROWS = 48, COSTLIEST = 16, LEAST = 0.001;
    const types = new Map();
    for (const field of data.fields) {
        if (!types.has(field.type_id))
            types.set(field.type_id, { name: field.type ?? "(no name)", size: field.type_size_bytes, fields: [] });
        types.get(field.type_id).fields.push(field);
    }
    /* Of an array the size is that of an element: it ends where padding, another field or the
     * structure does. */
    for (const [id, type] of types) {
        const begins = [...type.fields.map((field) => field.offset_bytes),
            ...data.paddings.filter((row) => row.type_id === id).map((row) => row.offset_bytes), type.size];
        for (const field of type.fields) {
            const end = Math.min(...begins.filter((begin) => begin > field.offset_bytes));
            field.bytes = /\]$/.test(field.field || "") && Number.isFinite(end) ? Math.max(end - field.offset_bytes, field.size_bytes) : field.size_bytes;
        }
    }
    const lines = new Map(); /* of each field: line and samples */
    for (const access of data.line_objects) {
        if (access.field_id === null)
            continue;
        if (!lines.has(access.field_id))
            lines.set(access.field_id, new Map());
        const of = lines.get(access.field_id);
        of.set(access.line_id, (of.get(access.line_id) || 0) + access.samples);
    }
    let shown = { type: null, field: null }, picked = false; /* by the reader */

    /* The part of FIELD in cache line NUMBER, as the bytes it takes there. */
    const within = (field, number) => [Math.max(field.offset_bytes, number * LINE) - number * LINE,
        Math.min(field.offset_bytes + field.bytes, (number + 1) * LINE) - number * LINE];

    /* Fields of one place, as in a union, are one below the other. */
    function stack(fields, number) {
        const rows = [];
        for (const field of fields) {
            const [from, to] = within(field, number);
            let row = rows.findIndex((end) => end <= from);
            if (row < 0)
                row = rows.push(0) - 1;
            rows[row] = to;
            field.row = row + 1;
        }
    }

    function cell(field, number, most) {
        const [from, to] = within(field, number);
        const value = memlag.weigh(field);
        const box = memlag.button("", `${field.field ?? "(whole)"}, ${field.field_type ?? ""}, offset ${field.offset_bytes}, ${field.bytes} bytes: ${memlag.weightText(value)}`,
            () => { shown.field = field.field_id; picked = true; draw(); });
        box.className = "field" + (field.field_id === shown.field ? " chosen" : "") + (value > 0 ? " hot" : "");
        box.dataset.field = field.field_id;
        box.style.gridColumn = `${from + 1} / ${Math.max(to, from + 1) + 1}`;
        box.style.gridRow = String(field.row);
        box.style.setProperty("--heat", most > 0 ? Math.sqrt(value / most).toFixed(3) : 0);
        box.append(memlag.element("span", "field-name", field.field ?? "(whole)"), memlag.element("span", "field-cost", value > 0 ? memlag.weightText(value) : ""));
        return box;
    }

    /* A structure that is smaller than a cache line gets the width of the page. */
    const columns = (type) => (type.size > 0 && type.size < LINE ? Math.max(16, type.size) : LINE);

    function lineOf(number, fields, most, width) {
        const row = memlag.element("div", "cache-line");
        const grid = memlag.element("div", "fields");
        grid.style.setProperty("--bytes", width);
        stack(fields, number);
        grid.append(...fields.map((field) => cell(field, number, most)));
        const cost = fields.filter((field) => Math.floor(field.offset_bytes / LINE) === number).reduce((sum, field) => sum + memlag.weigh(field), 0);
        row.append(memlag.element("span", "cache-line-name", `${number * LINE}`), grid, memlag.element("span", "cache-line-cost", memlag.weightText(cost)));
        return row;
    }

    /* Of a large structure the cache lines that cost most, in their order. */
    function drawLines(box, type) {
        const certain = type.fields.filter((field) => field.size_bytes > 0 && !(field.field || "").includes("|"));
        const most = d3.max(type.fields, memlag.weigh) || 0;
        const byLine = new Map();
        for (const field of certain) {
            const last = Math.floor((field.offset_bytes + field.bytes - 1) / LINE);
            for (let number = Math.floor(field.offset_bytes / LINE); number <= Math.min(last, Math.floor(field.offset_bytes / LINE) + ROWS); number++)
                byLine.set(number, (byLine.get(number) || []).concat(field));
        }
        const numbers = [...byLine.keys()].sort((a, b) => a - b);
        const busy = (number) => byLine.get(number).some((field) => field.samples > 0 || field.page_faults > 0);
        const cost = (number) => d3.sum(byLine.get(number), memlag.weigh);
        const chosen = numbers.length <= 8 ? numbers
            : numbers.filter(busy).sort((a, b) => cost(b) - cost(a)).slice(0, COSTLIEST).sort((a, b) => a - b);
        for (const number of chosen)
            box.append(lineOf(number, byLine.get(number).sort((a, b) => a.offset_bytes - b.offset_bytes || b.size_bytes - a.size_bytes), most, columns(type)));
        if (chosen.length < numbers.length)
            box.append(memlag.element("p", "quiet", `${numbers.length - chosen.length} more cache lines, ${numbers.filter(busy).length > chosen.length ? "some" : "none"} with samples.`));
        for (const field of type.fields.filter((one) => (one.field || "").includes("|") && one.samples > 0))
            box.append(memlag.element("p", "quiet", `${field.field}: ${memlag.weightText(memlag.weigh(field))} of one of these`));
    }

    /* The lines that access the field, and the fields that the same lines access. */
    function describe(box, field) {
        const mine = [...(lines.get(field.field_id) || [])].sort((a, b) => b[1] - a[1]);
        box.append(memlag.element("p", "", `${field.type ?? "(no name)"}.${field.field ?? "(whole)"}: ${field.field_type ?? ""}, offset ${field.offset_bytes}, `
            + `${field.bytes} bytes, ${memlag.cause(field)}, ${field.now.samples} samples`));
        const list = memlag.element("p", "", "Accessed by ");
        for (const [id, samples] of mine.slice(0, 12)) {
            const line = data.lineById.get(id);
            if (line)
                list.append(memlag.link(memlag.place(line.file_id, line.line), line.owner.function, () => memlag.source.open(line)), ` (${samples} samples) `);
        }
        box.append(list);
        const total = mine.reduce((sum, [, samples]) => sum + samples, 0);
        const together = types.get(field.type_id).fields.filter((other) => other !== field).map((other) => {
            const theirs = lines.get(other.field_id) || new Map();
            const shared = mine.filter(([id]) => theirs.has(id)).reduce((sum, [, samples]) => sum + samples, 0);
            return [other.field, total ? shared / total : 0];
        }).filter(([, share]) => share >= 0.01).sort((a, b) => b[1] - a[1]).slice(0, 6);
        if (together.length)
            box.append(memlag.element("p", "", "On the same source lines as " + together.map(([other, share]) => `${other} (${Math.round(100 * share)} %)`).join(", ")));
    }

    function draw() {
        const picture = document.getElementById("struct-picture"), detail = document.getElementById("struct-detail");
        picture.textContent = detail.textContent = "";
        const type = types.get(shown.type);
        if (!type) {
            picture.append(memlag.element("p", "quiet", types.size ? "No structure costs much: the accessed data are single values."
                : "No type of a sampled object is known."));
            return;
        }
        document.getElementById("struct-type").value = String(shown.type);
        picture.append(memlag.element("p", "type-name", `${type.name}, ${memlag.bytes(type.size)}`));
        drawLines(picture, type);
        const field = type.fields.find((one) => one.field_id === shown.field);
        if (field)
            describe(detail, field);
    }

    function open(type, field) {
        shown = { type, field };
        picked = true;
        draw();
        memlag.show("struct");
        const cellOf = document.querySelector("#struct-picture .chosen");
        if (cellOf)
            cellOf.focus({ preventScroll: true });
    }

    const cost = (type) => type.fields.reduce((sum, field) => sum + memlag.weigh(field), 0);
    const hottest = (type) => type.fields.reduce((most, field) => (memlag.weigh(field) > memlag.weigh(most) ? field : most), type.fields[0]).field_id;
    /* A single value has no picture of its own, unless one asks for it. */
    const byCost = () => [...types].filter(([, type]) => type.fields.length > 1).sort((a, b) => cost(b[1]) - cost(a[1]));

    /* Until the reader picks another one, the type that costs most, with its hottest field. */
    function update() {
        const [first] = byCost();
        if (!picked)
            shown = first && (memlag.choice.weight === "samples" ? cost(first[1]) > 0 : cost(first[1]) >= LEAST)
                ? { type: first[0], field: hottest(first[1]) } : { type: null, field: null };
        draw();
    }

    function begin() {
        const select = document.getElementById("struct-type");
        for (const [id, type] of byCost()) {
            const option = memlag.element("option", "", memlag.shortName(type.name, 80));
            option.value = String(id);
            option.title = type.name;
            select.append(option);
        }
        select.addEventListener("change", () => {
            shown = { type: +select.value, field: hottest(types.get(+select.value)) };
            picked = true;
            draw();
        });
        update();
    }
    return { begin, update, open };
})();
