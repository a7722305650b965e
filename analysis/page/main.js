/* SPDX-License-Identifier: MIT */
/* The first lines, the ledger, and what happens when a part of the time is chosen. */
"use strict";
(() => {
    const { data, choice } = memlag;

    /* The first line of the report says what kind of numbers these are. */
    function writeHead() {
        const lines = data.head.split("\n").filter((line) => line.trim());
        const kind = data.run.numbers || "unknown";
        const [first] = lines.splice(0, 1);
        const banner = document.getElementById("banner");
        const command = String(data.run.command ?? "");
        const words = (first || "").replace(/^memlag: /, "");
        const about = command && words.endsWith(": " + command) ? words.slice(0, -command.length - 2) : words;
        banner.append(memlag.element("span", "kind kind-" + kind, kind), " ", about,
            memlag.element("span", "quiet", ` · ${data.run.cpu ?? "unknown CPU"} · ${memlag.duration(data.run.duration_ns)} · ${data.run.memory_samples} samples`));
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
    update();
    document.getElementById("foot").textContent =
        `${data.file}: recorded ${data.run.start ?? "at an unknown time"} by memlag ${data.run.memlag_version ?? ""}`;
    document.documentElement.dataset.ready = "yes";
})();
