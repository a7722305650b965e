/* SPDX-License-Identifier: MIT */
/* Tables of lines, functions, objects and fields of types. DataTables sorts, filters and
 * pages; it puts cells into the page as markup, so that it gets nothing for that, and the
 * text goes into each cell here. */
"use strict";
memlag.tables = (() => {
    const { data } = memlag;
    let whole = false; /* names */
    const name = (text) => (whole ? String(text) : memlag.shortName(text, 60));

    /* ---- columns: what they sort by and filter for, and what they show ---- */

    const figure = (title, key, explained) => ({
        title, explained, number: true, weight: key, value: (row) => row.now[key], share: key !== "samples" && key !== "mean",
        minor: key !== memlag.weights[0][0],
        show: (cell, row) => {
            const value = row.now[key];
            cell.textContent = key === "samples" ? value : key === "mean" ? (value === null ? "–" : Math.round(value)) : memlag.percent(value);
        },
    });
    const plain = (title, value, show, explained) => ({ title, explained, value, show: (cell, row) => { cell.textContent = show ? show(row) : value(row) ?? "–"; } });
    const ratio = (title, value, explained) => ({ title, explained, number: true, share: true, value, show: (cell, row) => { cell.textContent = memlag.percent(value(row)); } });
    const named = (title, value, act) => ({
        title, value,
        show: (cell, row) => { cell.append(memlag.link(name(value(row)), value(row), () => act(row))); },
    });
    const cause = {
        title: "cause", value: memlag.cause, explained: "The cause of most of the wait",
        show: (cell, row) => {
            const [meaning, remedy] = data.advice[row.now.verdict] || [];
            cell.append(memlag.element("span", "cause cause-" + (row.now.verdict || "none"), memlag.cause(row)));
            if (meaning)
                cell.title = `${meaning}: ${remedy}`;
        },
    };
    const figures = (rows) => {
        const columns = [];
        if (memlag.weights.some(([key]) => key === "stalled"))
            columns.push(figure("stalled", "stalled", "Share of the cycles that these accesses stalled: about the most that can be saved"));
        if (rows.some((row) => typeof row.measured === "number"))
            columns.push({ title: "measured", number: true, explained: "Share of the CPU time of the first run, at full speed (the whole run)",
                value: (row) => row.measured, show: (cell, row) => { cell.textContent = row.measured === null ? "–" : memlag.percent(row.measured); } });
        if (memlag.weights.some(([key]) => key === "latency"))
            columns.push(figure(memlag.weights.find(([key]) => key === "latency")[1], "latency", "Share of the latency of all samples; not of time, as accesses overlap"));
        columns.push(figure("samples", "samples"));
        if (data.functions.some((row) => row.dram !== null))
            columns.push({ title: "DRAM", number: true, minor: true, explained: "Samples that DRAM served", value: (row) => row.now.dram,
                show: (cell, row) => { cell.textContent = row.now.dram === null ? "–" : Math.round(100 * row.now.dram) + " %"; } });
        if (data.functions.some((row) => row.mean !== null))
            columns.push(figure("mean", "mean", "Mean latency in cycles"));
        if (data.functions.some((row) => row.verdict !== "none"))
            columns.push(cause);
        return columns;
    };

    const openLine = (row) => memlag.source.open(row);
    const caller = (row) => (row.caller_file_id === null ? "" : memlag.place(row.caller_file_id, row.caller_line));
    const gainPlace = (row) => (row.line ? memlag.place(row.line.file_id, row.line.line) : "whole run");
    const kinds = [
        {
            key: "lines", title: "Lines", rows: data.lines, columns: [...figures(data.lines),
                named("line", (row) => memlag.place(row.file_id, row.line), openLine),
                plain("function", (row) => row.owner.function, (row) => name(row.owner.function)),
                ...(data.lines.some((row) => row.caller_file_id !== null)
                    ? [{ ...plain("called from", caller, null, "The program's own line that led to most of it"), minor: false }] : [])],
        },
        {
            key: "functions", title: "Functions", rows: data.functions.filter((row) => row.samples !== undefined), columns: [...figures(data.functions),
                named("function", (row) => row.function, (row) => memlag.source.openFunction(row)),
                plain("module", (row) => memlag.base(row.module))],
        },
        {
            key: "objects", title: "Objects", rows: data.objects, columns: [...figures(data.objects),
                plain("size", (row) => row.size_bytes ?? 0, (row) => memlag.bytes(row.size_bytes)),
                plain("kind", (row) => row.kind),
                named("object", (row) => row.object, (row) => memlag.source.openObject(row))],
        },
        {
            key: "types", title: "Types", rows: data.fields.filter((row) => row.samples > 0), columns: [...figures(data.fields),
                plain("offset", (row) => row.offset_bytes),
                plain("type", (row) => row.type ?? "(no name)", (row) => name(row.type ?? "(no name)")),
                named("field", (row) => row.field ?? "(whole)", (row) => memlag.structs.open(row.type_id, row.field_id))],
        },
        {
            key: "gains", title: "Gains", columns: [
                ratio("gain", (row) => row.gain_ratio, "How much of the run's cycles the fix would save"),
                plain("from", (row) => row.low, (row) => memlag.percent(row.low), "The least that it may be"),
                plain("to", (row) => row.high, (row) => memlag.percent(row.high), "The most that it may be"),
                { ...plain("change", (row) => data.fixes[row.fix] ?? row.fix), explained: "What is changed", show: (cell, row) => {
                    cell.append(memlag.element("span", "", name(data.fixes[row.fix] ?? row.fix)));
                    cell.title = `fix ${row.fix}`;
                } },
                plain("by", (row) => row.kind, null, "estimate: from the samples of this run; recorded: the run was repeated with the fix (memlag whatif)"),
                { title: "line", value: gainPlace, show: (cell, row) => {
                    cell.append(row.line ? memlag.link(gainPlace(row), "", () => openLine(row.line)) : gainPlace(row));
                } }],
            legend: "How many of the run's cycles a change would save, at this line or at all. Estimates take one change at a time: their sum is not the gain of all. These are of the whole run.",
            rows: [...data.gains, ...data.line_gains.map((row) => ({ ...row, line: data.lineById.get(row.line_id) }))],
        },
        {
            key: "sharing", title: "Shared cache lines", rows: data.sharing, legend: "Cache lines that several threads use, and who does. These are of the whole run.", columns: [
                ratio("stalled", (row) => row.stalled_ratio), plain("hit modified", (row) => row.hitm), plain("reads", (row) => row.reads), plain("writes", (row) => row.writes),
                plain("thread", (row) => row.tid), plain("object", (row) => row.object, (row) => name(row.object)), plain("offset", (row) => row.offset),
                plain("field", (row) => row.field ?? ""), plain("line", (row) => (row.file === null ? "–" : memlag.base(row.file) + ":" + (row.line ?? "?"))),
                plain("function", (row) => row.function ?? "", (row) => name(row.function ?? ""))],
        },
    ].filter((kind) => kind.rows.length > 0);

    /* ---- the tables themselves ---- */

    const column = (one) => ({
        title: one.title, orderSequence: one.number ? ["desc", "asc"] : ["asc", "desc"],
        type: one.number ? "num" : undefined,
        className: (one.number ? "number" : "text") + (one.minor ? " minor" : ""), defaultContent: "",
        data: (row, use) => (use === "display" ? "" : (one.value(row) ?? null) === null ? (one.number ? -1 : "")
            : use === "filter" ? (one.number ? "" : memlag.filterText(one.value(row)))
            : use === "sort" && one.share && one.value(row) < memlag.LEAST_SHOWN ? 0 : one.value(row)),
        createdCell: (cell, unused, row) => {
            one.show(cell, row);
            if (!one.number && cell.textContent.length <= 20)
                cell.classList.add("short");
            if (one.share && one.value(row) >= memlag.LEAST_SHOWN) {
                cell.classList.add("share");
                cell.style.setProperty("--share", Math.min(1, one.value(row) / one.most));
            }
        },
    });

    /* The column of what widths and orders are of, or the first. */
    const ordering = (kind) => [[Math.max(0, kind.columns.findIndex((one) => one.weight === memlag.choice.weight)), "desc"]];

    function make(kind) {
        kind.table = memlag.dataTable(kind.panel, kind.key, { data: kind.rows, columns: kind.columns.map(column), order: ordering(kind) });
        kind.columns.forEach((one, i) => { kind.table.column(i).header().title = one.explained || ""; });
        kind.stale = false;
    }

    /* Equal rows stay in the order of their samples. */
    function refresh(kind) {
        if (kind.rows[0].now)
            kind.rows.sort((a, b) => b.now.samples - a.now.samples);
        for (const one of kind.columns.filter((each) => each.share))
            one.most = Math.max(memlag.LEAST_SHOWN, ...kind.rows.map((row) => one.value(row) || 0));
        if (!kind.table)
            make(kind);
        else if (kind.stale) {
            if (kind.ordered !== memlag.choice.weight)
                kind.table.order(ordering(kind));
            kind.table.clear().rows.add(kind.rows).draw(kind.ordered !== memlag.choice.weight);
        }
        kind.ordered = memlag.choice.weight;
        kind.stale = false;
    }

    function show(kind) {
        refresh(kind);
        document.getElementById("table-legend").textContent = kind.legend ?? "";
    }

    function update() {
        for (const kind of kinds) {
            kind.stale = true;
            if (!kind.panel.hidden)
                refresh(kind);
        }
    }

    function begin() {
        if (!kinds.length) {
            document.getElementById("table-legend").textContent = "No samples of memory accesses.";
            return;
        }
        memlag.tabs(kinds, show);
        const names = memlag.element("label", "aside", "");
        const box = memlag.element("input");
        box.type = "checkbox";
        box.id = "whole-names";
        box.addEventListener("change", () => { whole = box.checked; update(); });
        names.append(box, " Whole names");
        document.getElementById("tabs").after(names);
    }
    return { begin, update };
})();
