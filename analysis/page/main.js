/* SPDX-License-Identifier: MIT */
/* The first lines, the ledger, and what happens when a part of the time is chosen. */
"use strict";
(() => {
    const { data, choice } = memlag;

    /* The first line of the report says what kind of numbers these are. */
    function writeHead() {
        const lines = data.head.split("\n").filter((line) => line.trim());
        const kind = String(data.run.numbers || "unknown");
        lines.shift(); /* the banner says it */
        const command = String(data.run.command ?? "");
        const about = data.provenance.startsWith(kind + " ") ? data.provenance.slice(kind.length + 1) : data.provenance;
        const facts = [data.provenance.includes("(") ? "" : data.run.cpu ?? "unknown CPU",
            memlag.duration(data.run.duration_ns) + (kind === "modelled" ? " of modelled time" : ""), `${data.run.memory_samples} samples of memory accesses`];
        document.getElementById("banner").append(memlag.element("span", "kind kind-" + kind, kind), " ", about,
            memlag.element("span", "quiet", facts.filter((fact) => fact).map((fact) => " · " + fact).join("")));
        document.getElementById("command").textContent = command || data.file;
        document.title = `memlag: ${command || data.file}`;
        writeLines(lines);
    }

    /* A place begins with its share, what is indented belongs to the line above. */
    function writeLines(lines) {
        const head = document.getElementById("head");
        let paragraph = null, place = 0;
        for (const line of lines) {
            const match = /^ *(\d+\.\d %) {2}(.*)$/.exec(line);
            if (match) {
                const row = data.lineById.get((data.places[place++] || {}).line_id);
                paragraph = memlag.element("div", "place");
                paragraph.append(memlag.element("strong", "", match[1]), " ",
                    row ? memlag.link(match[2], "Show its source", () => memlag.source.open(row)) : match[2]);
                head.append(paragraph);
            } else if (/^ {4}/.test(line) && paragraph && paragraph.className === "place") {
                let remedy = paragraph.querySelector(".remedy");
                if (!remedy)
                    paragraph.append(remedy = memlag.element("div", "remedy", ""));
                remedy.textContent += (remedy.textContent ? " " : "") + line.trim();
            } else {
                if (!paragraph || paragraph.className === "place")
                    head.append(paragraph = memlag.element("p", "", ""));
                paragraph.textContent += (paragraph.textContent ? " " : "") + line.trim();
            }
        }
    }

    /* ---- the first lines of a part of the time, from the rows of the page ---- */

    const PLACES = 3, LEAST = 0.01;

    function partSentence() {
        const { samples, stalled, faulted } = memlag.sums.waits();
        const begin = memlag.spanStart(choice.from) * 1e6, end = memlag.spanStart(choice.to) * 1e6;
        const within = (row) => Math.max(0, Math.min(end, row.end_ns) - Math.max(begin, row.start_ns));
        const shortNs = (row) => (row.short || 0) * within(row);
        const sum = (value) => data.time.reduce((all, row) => all + value(row), 0);
        const short = sum(shortNs) / (end - begin);
        /* of the bandwidth, where it was short; NaN: not known */
        const used = sum((row) => shortNs(row) * row.used) / sum((row) => (row.used === null ? 0 : shortNs(row)));
        const busy = sum((row) => shortNs(row) * row.busy) / sum(shortNs);
        return (stalled === null || memlag.weights[0][0] !== "stalled" ? `${samples} samples.`
            : `Accesses stalled the program for ${memlag.percent(stalled)} of the cycles` + (faulted >= 0.001 ? `, and page faults took ${memlag.percent(faulted)}.` : "."))
            + (data.time.some((row) => row.short !== null) ? short > 0
                ? used < data.limits.partUse ? ` DRAM bandwidth was short in bursts` + (busy > 0 ? `: for ${memlag.percent(busy)} of that time DRAM was busy, and ${memlag.percent(used / busy)} of its bandwidth was used.` : ".")
                    : ` DRAM bandwidth was short for ${memlag.percent(short)} of the elapsed time.` : " DRAM bandwidth was not short." : "");
    }

    function partPlace(row, said) {
        const box = memlag.element("div", "place");
        const judged = row.now.verdict && row.now.verdict !== "none";
        const words = `${memlag.place(row.file_id, row.line)} in ${memlag.shortName(row.owner.function, 80)}`
            + (row.caller_file_id !== null ? `, from ${memlag.place(row.caller_file_id, row.caller_line)}` : "")
            + (judged ? `: ${memlag.cause(row)}` : "") + (row.now.verdict !== "page-faults" ? ` (${row.now.samples} samples)` : "");
        box.append(memlag.element("strong", "", memlag.percent(row.now[memlag.weights[0][0]])), " ",
            memlag.link(words, "Show its source", () => memlag.source.open(row)));
        const [meaning, remedy] = data.advice[row.now.verdict] || [];
        if (meaning && !said.has(row.now.verdict))
            box.append(memlag.element("div", "remedy", `${meaning[0].toUpperCase()}${meaning.slice(1)}: ${remedy}.`));
        said.add(row.now.verdict);
        return box;
    }

    function updateHead() {
        const part = document.getElementById("head-part"), whole = memlag.isWhole();
        document.getElementById("head").hidden = !whole;
        part.hidden = whole;
        document.getElementById("summary-title").textContent = whole ? "In short"
            : `In short, from ${memlag.time.fixed(memlag.spanStart(choice.from))} to ${memlag.time.fixed(memlag.spanStart(choice.to))} ms`;
        if (whole)
            return;
        const weight = (row) => row.now[memlag.weights[0][0]] || 0;
        const enough = (row) => data.timed || !["none", "too-few-samples"].includes(row.now.verdict);
        const rows = data.lines.filter((row) => enough(row) && (weight(row) >= LEAST)).sort((a, b) => weight(b) - weight(a)).slice(0, PLACES);
        const said = new Set();
        part.replaceChildren(memlag.element("p", "", partSentence()), ...rows.map((row) => partPlace(row, said)),
            ...(rows.length ? [] : [memlag.element("p", "quiet", "No line with enough samples waits for 1 % of this time.")]));
    }

    function writeLedger() {
        const box = document.getElementById("ledger-rows");
        if (!data.ledger.length) {
            box.textContent = "Nothing.";
            return;
        }
        const table = memlag.element("table", "ledger");
        for (const entry of data.ledger) {
            const row = table.insertRow();
            row.insertCell().textContent = entry.value;
            row.insertCell().textContent = entry.kind.startsWith(entry.unit) ? entry.kind : `${entry.unit}: ${entry.kind}`;
            row.insertCell().textContent = entry.stage;
        }
        box.append(table);
    }

    const parts = [memlag.time, memlag.flame, memlag.tables, memlag.source, memlag.structs];
    function update() {
        memlag.sums.update();
        updateHead();
        for (const part of parts)
            part.update();
    }

    memlag.choose = (from, to) => {
        if (from === choice.from && to === choice.to) {
            memlag.time.update();
            return;
        }
        choice.from = from;
        choice.to = to;
        update();
    };

    function offerWeights() {
        const select = document.getElementById("weight");
        for (const [key, title] of memlag.weights) {
            const option = memlag.element("option", "", title);
            option.value = key;
            select.append(option);
        }
        choice.weight = memlag.weights[0][0];
        select.addEventListener("change", () => { choice.weight = select.value; update(); });
    }

    writeHead();
    writeLedger();
    offerWeights();
    memlag.sums.update();
    for (const part of parts)
        part.begin();
    document.getElementById("foot").textContent =
        `${data.file}: recorded ${data.run.start ?? "at an unknown time"} by memlag ${data.run.memlag_version ?? ""}`;
    document.documentElement.dataset.ready = "yes";
})();
