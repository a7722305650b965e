/* SPDX-License-Identifier: MIT */
/* Source text with what each line waited, its instructions and what they accessed. */
"use strict";
memlag.source = (() => {
    const { data } = memlag;
    const text = new Map(); /* by file: line and text */
    const linesAt = new Map(); /* by file and line: findings there */
    const callsAt = new Map(); /* by file and line: the cost of its calls */
    let shown = { file: null, line: null }, picked = false; /* by the reader */
    const open = new Set(); /* lines whose instructions are shown */

    for (const row of data.source) {
        if (!text.has(row.file_id))
            text.set(row.file_id, []);
        text.get(row.file_id).push([row.line, row.text]);
    }
    const key = (file, line) => file + ":" + line;
    for (const line of data.lines) {
        const at = key(line.file_id, line.line);
        if (!linesAt.has(at))
            linesAt.set(at, []);
        linesAt.get(at).push(line);
    }
    for (const row of data.calling)
        callsAt.set(key(row.file_id, row.line), row);
    const groupBy = (rows, id) => {
        const groups = new Map();
        for (const row of rows) {
            if (!groups.has(row[id]))
                groups.set(row[id], []);
            groups.get(row[id]).push(row);
        }
        return groups;
    };
    const placesOf = groupBy(data.locations, "line_id");
    const accessesOf = groupBy(data.line_objects, "line_id");
    const linesOfFunction = groupBy(data.lines, "function_id");
    const linesOfObject = groupBy(data.line_objects, "object_id");

    const weightOf = (lines) => lines.reduce((sum, line) => sum + memlag.weigh(line), 0);

    function heat(element, value, most) {
        element.style.setProperty("--heat", most > 0 ? Math.sqrt(Math.min(1, value / most)).toFixed(3) : 0);
    }

    /* ---- below a line: what it accessed, and its instructions ---- */

    function accesses(lines) {
        const box = memlag.element("div", "accesses");
        const seen = lines.flatMap((line) => accessesOf.get(line.line_id) || []).sort((a, b) => b.samples - a.samples);
        for (const access of seen.slice(0, 6)) {
            const field = data.fieldById.get(access.field_id), object = data.objectById.get(access.object_id);
            if (field)
                box.append(memlag.link(`${memlag.shortName(field.type ?? "(no name)", 40)}.${field.field ?? ""}`, field.type,
                    () => memlag.structs.open(field.type_id, field.field_id)), " ");
            if (object)
                box.append(memlag.link(`${field ? "in " : ""}${memlag.shortName(object.object, 50)}`, object.object, () => openObject(object)), " ");
            if (field || object)
                box.append(memlag.element("span", "quiet", `${access.samples} samples `));
        }
        return box;
    }

    function instructions(lines) {
        const list = memlag.element("table", "instructions");
        const places = lines.flatMap((line) => placesOf.get(line.line_id) || []);
        for (const place of places.sort((a, b) => a.address_offset - b.address_offset)) {
            const row = list.insertRow();
            row.insertCell().textContent = memlag.weightText(memlag.weigh(place));
            row.insertCell().textContent = place.address_offset === null ? "" : "0x" + place.address_offset.toString(16);
            row.insertCell().textContent = place.text ?? "";
        }
        return list;
    }

    function detail(lines) {
        const box = memlag.element("div", "detail");
        const causes = [...new Set(lines.filter((line) => line.now.verdict && line.now.verdict !== "none").map((line) => line.now.verdict))];
        for (const cause of causes) {
            const [meaning, remedy] = data.advice[cause] || [];
            if (meaning)
                box.append(memlag.element("p", "advice", `${cause}: ${meaning}; ${remedy}.`));
        }
        for (const line of lines) {
            const about = memlag.element("p", "quiet", `in ${memlag.shortName(line.owner.function, 100)}: ${memlag.cause(line)}, ${line.now.samples} samples`);
            if (line.caller_file_id !== null)
                about.append(", called from ", memlag.link(memlag.place(line.caller_file_id, line.caller_line), line.caller_function,
                    () => goTo(line.caller_file_id, line.caller_line)), ` (${memlag.percent(line.caller_share)})`);
            box.append(about);
        }
        box.append(accesses(lines), instructions(lines));
        return box;
    }

    /* ---- the text ---- */

    /* The cost of a line's calls. */
    function callsOf(number) {
        const calling = callsAt.get(key(shown.file, number));
        const value = calling ? memlag.weigh(calling) : 0;
        const shows = memlag.choice.weight === "samples" ? value > 0 : value >= memlag.LEAST_SHOWN;
        const box = memlag.element("span", "calls", shows ? "→ " + memlag.weightText(value) : "");
        if (shows)
            box.title = `${memlag.weightText(value)} in what this line calls`;
        return box;
    }

    function lineRow(number, words, most) {
        const lines = linesAt.get(key(shown.file, number)) || [];
        const row = memlag.element("div", "line");
        const value = weightOf(lines);
        row.dataset.line = number;
        if (number === shown.line)
            row.classList.add("chosen");
        const share = memlag.element("span", "heat", lines.length ? memlag.weightText(value) : "");
        const calls = callsOf(number);
        heat(row, value, most);
        const code = memlag.element("code", "", words);
        if (!lines.length) {
            row.append(share, calls, memlag.element("span", "number", String(number)), code);
            return [row];
        }
        const toggle = memlag.button(String(number), "Instructions and data of this line", () => {
            if (!open.delete(number))
                open.add(number);
            draw();
        });
        toggle.className = "number";
        toggle.setAttribute("aria-expanded", open.has(number));
        row.append(share, calls, toggle, code);
        return open.has(number) ? [row, detail(lines)] : [row];
    }

    function draw() {
        const box = document.getElementById("source-text");
        box.textContent = "";
        const lines = text.get(shown.file) || [];
        const most = d3.max(lines, ([number]) => weightOf(linesAt.get(key(shown.file, number)) || [])) || 0;
        let before = 0;
        for (const [number, words] of lines) {
            if (number !== before + 1 && before)
                box.append(memlag.element("div", "gap", "⋯"));
            before = number;
            box.append(...lineRow(number, words, most));
        }
        if (!lines.length)
            drawWithoutText(box);
        document.getElementById("source-file").value = shown.file === null ? "" : String(shown.file);
    }

    /* Without the text there are still findings, instructions and the line that called. */
    function drawWithoutText(box) {
        const lines = data.lines.filter((line) => line.file_id === shown.file && (shown.line === null || line.line === shown.line));
        box.append(memlag.element("p", "quiet", shown.file === null && !shown.owner ? "No source file is known."
            : "The text of this file was not found when the page was made (--source-path and --substitute-path tell where sources are)."));
        const chosen = shown.owner ? [shown.owner] : lines.slice(0, 20);
        for (const line of chosen)
            box.append(detail([line]));
    }

    function scrollTo(row) {
        const box = document.getElementById("source-text");
        if (row)
            box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    }

    /* The line that weighs most, of those that FITS takes. */
    const hottest = (fits) => data.lines.reduce((most, line) => (fits(line) && (!most || memlag.weigh(line) > memlag.weigh(most)) ? line : most), null);

    /* Shows LINE with its instructions, without going there; null: no text at all. */
    function rest(line) {
        shown = line ? { file: line.file_id, line: line.line, owner: line } : { file: null, line: null };
        open.clear();
        if (line && line.line !== null)
            open.add(line.line);
        draw();
        scrollTo(document.querySelector("#source-text .chosen"));
    }

    function goTo(file, line, owner) {
        shown = { file, line, owner };
        picked = true;
        open.clear();
        if (line !== null)
            open.add(line);
        draw();
        memlag.show("source");
        const chosen = document.querySelector("#source-text .chosen");
        const box = document.getElementById("source-text");
        scrollTo(chosen);
        box.focus({ preventScroll: true });
    }

    const openLine = (row) => goTo(row.file_id, row.line, row);
    const openFunction = (row) => {
        const lines = (linesOfFunction.get(row.function_id) || []).slice().sort((a, b) => memlag.weigh(b) - memlag.weigh(a));
        if (lines.length)
            openLine(lines[0]);
    };
    const openObject = (row) => {
        const lines = (linesOfObject.get(row.object_id) || []).slice().sort((a, b) => b.samples - a.samples);
        if (lines.length)
            openLine(data.lineById.get(lines[0].line_id));
    };

    function writeNotes(notes) {
        const box = memlag.element("details", "notes");
        box.append(memlag.element("summary", "", "Notes on source files"), ...notes.map((note) => memlag.element("p", "", note)));
        if (notes.length)
            document.getElementById("source-text").before(box);
    }

    function begin() {
        const select = document.getElementById("source-file");
        const weights = new Map();
        for (const line of data.lines)
            if (line.file_id !== null)
                weights.set(line.file_id, (weights.get(line.file_id) || 0) + memlag.weigh(line));
        for (const { file_id: file } of data.calling)
            if (text.has(file) && !weights.has(file))
                weights.set(file, 0);
        const files = [...weights].sort((a, b) => b[1] - a[1]).map(([file]) => file);
        for (const file of files) {
            const option = memlag.element("option", "", memlag.base(data.files.get(file)) + (text.has(file) ? "" : " (no text)"));
            option.value = String(file);
            option.title = data.files.get(file);
            select.append(option);
        }
        select.addEventListener("change", () => {
            picked = true;
            rest(hottest((line) => line.file_id === +select.value) || { file_id: +select.value, line: null });
        });
        update();
        writeNotes(data.sourceNotes.trim().split("\n").filter((note) => note));
    }
    /* Until the reader picks another one, the line that weighs most is shown. */
    function update() {
        if (picked)
            draw();
        else
            rest(hottest((line) => text.has(line.file_id)) || hottest((line) => line.file_id !== null));
    }
    return { begin, update, open: openLine, openFunction, openObject };
})();
