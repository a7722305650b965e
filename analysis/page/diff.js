/* SPDX-License-Identifier: MIT */
/* Two recordings beside each other: their calls as one tree, red where the later one waits
 * more and blue where it waits less, and their rows. */
"use strict";
(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const { element } = memlag;
    const NARROWEST = 0.003;

    /* ---- what was counted ---- */

    const amount = (value, unit) => {
        if (value === null || value === undefined)
            return "–";
        if (unit === "ns")
            return memlag.duration(value);
        const [scale, letter] = value >= 1e9 ? [1e9, "G"] : value >= 1e6 ? [1e6, "M"] : value >= 1e3 ? [1e3, "k"] : [1, ""];
        const name = unit === "bytes" ? letter + "B" : unit ? `${letter} ${unit}` : letter;
        return `${+(value / scale).toPrecision(3)} ${name}`.replace(/ +/g, " ").trim();
    };
    /* The unit of a number under a title that names it. */
    const plain = (unit) => (unit === "ns" || unit === "bytes" ? unit : "");
    const titles = { dram_read: "read from DRAM", dram_write: "written to DRAM", lmrl: "LMRL, cycles", on_cpus: "time on CPUs",
        measured_duration: "duration, measured", measured_cpu: "CPU time, measured", contended_intervals: "intervals short of bandwidth" };

    function writeHead() {
        const { before, after, run, notes, all } = data.line;
        document.getElementById("before").textContent = before.file;
        document.getElementById("after").textContent = after.file;
        const kind = (side) => element("span", "kind kind-" + side.numbers, side.numbers ?? "unknown");
        document.getElementById("banner").append(kind(before), ` ${before.command ?? before.file} → `,
            ...(before.numbers === after.numbers ? [] : [kind(after), " "]), after.command ?? after.file);
        const head = document.getElementById("head");
        head.append(element("p", "", `Waiting for memory: ${amount(all.before, all.unit)} before, ${amount(all.after, all.unit)} after: ${all.verdict}`
            + ` (between ${signed(all.difference_low, all.unit)} and ${signed(all.difference_high, all.unit)}).`));
        for (const note of notes)
            head.append(element("p", "quiet", note));
        const counts = document.getElementById("counts");
        const names = counts.insertRow();
        for (const text of ["", "before", "after", "ratio"])
            names.insertCell().textContent = text;
        for (const count of run.filter((one) => one.before || one.after)) {
            const row = counts.insertRow();
            for (const text of [titles[count.name] ?? count.name, amount(count.before, plain(count.unit)), amount(count.after, plain(count.unit)),
                count.ratio === null ? "" : "×" + count.ratio.toPrecision(3)])
                row.insertCell().textContent = text;
        }
    }

    const LEAST = 0.01; /* a smaller difference is of rounding */
    const signed = (value, unit) => (value === null ? "–" : Math.abs(value) < LEAST ? amount(0, unit) : (value < 0 ? "−" : "+") + amount(Math.abs(value), unit));

    /* ---- the calls of both as one tree ---- */

    const rowsOf = (table) => table.rows.map((row) => Object.fromEntries(table.columns.map((column, i) => [column, row[i]])));
    const sides = [rowsOf(data.calls_before), rowsOf(data.calls_after)];
    const cycles = data.line.run.find((count) => count.name === "cycles");
    const known = (key) => sides.every((rows) => rows.some((row) => row[key] > 0));
    const stalled = cycles && cycles.before > 0 && cycles.after > 0 && known("self_stalled_ratio");
    const weight = stalled ? (row, side) => (row.self_stalled_ratio || 0) * (side ? cycles.after : cycles.before)
        : known("self_latency_share") ? (row) => row.self_latency_share || 0 : (row) => row.self_samples;
    const shown = (value) => (stalled ? amount(value, "cycles") : known("self_latency_share") ? memlag.percent(value) : String(Math.round(value)));

    const root = { name: "all", children: new Map(), own: [0, 0], sum: [0, 0], depth: -1 };
    const nodes = [root];
    /* The program may have another name after the change. */
    const programs = [data.line.before, data.line.after].map((side) => memlag.base((side.command || "").split(" ")[0]));
    sides.forEach((rows, side) => {
        const byId = new Map();
        for (const row of rows) {
            const parent = byId.get(row.parent_id) || root;
            const key = JSON.stringify([row.module === programs[side] ? "" : row.module, row.function]);
            let node = parent.children.get(key);
            if (!node) {
                node = { name: row.function, module: row.module, parent, children: new Map(), own: [0, 0], sum: [0, 0], depth: parent.depth + 1, id: nodes.length };
                parent.children.set(key, node);
                nodes.push(node);
            }
            node.own[side] += weight(row, side);
            byId.set(row.caller_id, node);
        }
    });
    for (let i = nodes.length - 1; i >= 0; i--) {
        const node = nodes[i];
        for (const side of [0, 1]) {
            node.sum[side] += node.own[side];
            if (node.parent)
                node.parent.sum[side] += node.sum[side];
        }
        node.width = node.sum[0] + node.sum[1];
    }
    for (const node of nodes)
        node.order = [...node.children.values()].sort((a, b) => b.width - a.width);

    let top = root, focused = null;
    function layOut() {
        const boxes = [];
        for (let above = top; above !== root; above = above.parent)
            boxes.unshift(Object.assign(above, { left: 0, part: 1 }));
        const below = (node) => {
            let left = node.left;
            for (const child of node.order) {
                Object.assign(child, { left, part: top.width > 0 ? child.width / top.width : 0 });
                left += child.part;
                if (child.part >= NARROWEST) {
                    boxes.push(child);
                    below(child);
                }
            }
        };
        top.left = 0;
        below(top);
        return boxes;
    }

    /* From -1, only before, to 1, only after. */
    const change = (node) => (node.width > 0 ? (node.sum[1] - node.sum[0]) / node.width : 0);
    const describe = (node) => {
        document.getElementById("flame-detail").textContent = `${node.name} in ${node.module || "unknown"}: `
            + `${shown(node.sum[0])} before, ${shown(node.sum[1])} after; itself ${shown(node.own[0])} and ${shown(node.own[1])}`;
    };

    function draw() {
        const boxes = layOut();
        if (!boxes.includes(focused))
            focused = boxes[0] || null;
        const container = document.getElementById("flame-boxes");
        container.style.height = 21 * (1 + (d3.max(boxes, (node) => node.depth) || 0)) + "px";
        const buttons = d3.select(container).selectAll("button").data(boxes, (node) => node.id);
        buttons.enter().append("button").attr("type", "button")
            .on("click", (node) => { top = node === top ? node.parent : node; draw(); })
            .on("focus", (node) => { focused = node; describe(node); }).on("mouseenter", describe);
        buttons.exit().remove();
        buttons.attr("class", (node) => `frame ${change(node) >= 0 ? "more" : "less"}`)
            .attr("tabindex", (node) => (node === focused ? 0 : -1))
            .attr("title", (node) => `${node.name}\n${shown(node.sum[0])} → ${shown(node.sum[1])}`)
            .style("left", (node) => 100 * node.left + "%").style("width", (node) => 100 * node.part + "%")
            .style("top", (node) => 21 * node.depth + "px")
            .each(function (node) { this.style.setProperty("--heat", Math.abs(change(node)).toFixed(3)); })
            .text((node) => (node.part > 0.02 ? memlag.shortName(node.name, 60) : ""));
    }

    function move(event) {
        const wide = (list) => list.filter((node) => node.part >= NARROWEST);
        const siblings = focused ? wide(focused.parent.order) : [];
        const next = !focused ? null : {
            ArrowDown: wide(focused.order)[0], ArrowUp: focused.parent === root ? null : focused.parent,
            ArrowLeft: siblings[siblings.indexOf(focused) - 1], ArrowRight: siblings[siblings.indexOf(focused) + 1],
        }[event.key];
        if (event.key === "Escape")
            top = root;
        if (next)
            focused = next;
        if (next || event.key === "Escape") {
            draw();
            event.preventDefault();
            const button = document.querySelector("#flame button[tabindex='0']");
            if (button)
                button.focus({ preventScroll: true });
        }
    }

    /* ---- rows side by side ---- */

    const lines = (row) => [row.line_before, row.line_after].map((line) => line ?? "–");
    const place = (row) => (row.file == null ? "–" : `${memlag.base(row.file)}:`
        + (row.line_before === row.line_after ? lines(row)[0] : lines(row).join(" → ")));
    const names = {
        line: [["line", place], ["function", (row) => row.function]],
        function: [["function", (row) => row.function], ["module", (row) => memlag.base(row.module)]],
        object: [["object", (row) => row.object]],
        type: [["type", (row) => row.type], ["field", (row) => row.field ?? "(whole)"]],
    };
    const causes = (row) => (row.verdict_before === row.verdict_after ? row.verdict_before ?? "" : `${row.verdict_before ?? "–"} → ${row.verdict_after ?? "–"}`);

    const unitOf = ([first]) => (first && first.unit === "cycles" ? ", cycles" : "");
    const kinds = Object.keys(names).map((key) => ({
        key, title: key[0].toUpperCase() + key.slice(1) + "s", rows: data[key].rows,
        columns: [
            { title: "before" + unitOf(data[key].rows), number: true, value: (row) => row.before, show: (row) => amount(row.before, plain(row.unit)) },
            { title: "after", number: true, value: (row) => row.after, show: (row) => amount(row.after, plain(row.unit)) },
            { title: "difference", number: true, value: (row) => Math.abs(row.difference), show: (row) => signed(row.difference, plain(row.unit)),
                hint: (row) => `between ${signed(row.difference_low, row.unit)} and ${signed(row.difference_high, row.unit)}` },
            { title: "", value: (row) => row.verdict, show: (row) => (row.verdict ?? "").replace(/-/g, " "), style: (row) => "change change-" + row.verdict },
            { title: "cause", value: causes },
            ...names[key].map(([title, value]) => ({ title, value: (row) => value(row) ?? "–", show: (row) => memlag.shortName(value(row) ?? "–", 60), hint: value })),
        ],
    })).filter((kind) => kind.rows.length > 0);

    const column = (one) => ({
        title: one.title, className: one.number ? "number" : "text", type: one.number ? "num" : undefined,
        orderSequence: one.number ? ["desc", "asc"] : ["asc", "desc"],
        data: (row, use) => (use === "display" ? "" : use === "filter" ? memlag.filterText(one.value(row) ?? "") : one.value(row) ?? ""),
        createdCell: (cell, unused, row) => {
            cell.append(element("span", one.style ? one.style(row) : "", String((one.show || one.value)(row))));
            if (one.hint)
                cell.title = String(one.hint(row) ?? "");
        },
    });

    writeHead();
    document.getElementById("flame-weight").textContent = stalled ? "stalled cycles" : "latency or samples";
    document.getElementById("flame").addEventListener("keydown", move);
    draw();
    memlag.tabs(kinds, (kind) => {
        if (!kind.table)
            kind.table = memlag.dataTable(kind.panel, kind.key, { data: kind.rows, columns: kind.columns.map(column), order: [[2, "desc"]] });
    });
    document.documentElement.dataset.ready = "yes";
})();
