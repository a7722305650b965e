/* SPDX-License-Identifier: MIT */
/* The chart of what the machine did over time, and the choice of a part of that. */
"use strict";
memlag.time = (() => {
    const { data, choice } = memlag;
    const LEFT = 64, RIGHT = 28, HEIGHT = 62, GAP = 26, STRIP = 10;
    const msOf = (ns) => ns / 1e6;
    const first = memlag.spanStart(0);
    /* The last interval of a run is shorter than the others. */
    const last = Math.min(memlag.spanStart(data.grid.count), data.time.length ? msOf(data.time[data.time.length - 1].end_ns) : Infinity);
    const has = (column) => data.time.some((row) => row[column] !== null && row[column] > 0);
    const panels = [];

    /* Points of a line: two for each interval, at its begin and end. */
    const steps = (column) => data.time
        .flatMap((row) => [[msOf(row.start_ns), row[column]], [msOf(row.end_ns), row[column]]]);
    const ofSpans = (values) => values
        .flatMap((value, span) => [[memlag.spanStart(span), value], [Math.min(last, memlag.spanStart(span + 1)), value]]);

    function findPanels() {
        const weight = memlag.weights[0][0];
        panels.push({
            title: weight === "stalled" ? "stalled by memory, % of cycles" : weight === "latency" ? memlag.weights[0][1] + ", % of the run's" : "samples",
            lines: [{ name: weight, points: ofSpans(memlag.sums.series(weight).map((v) => weight === "samples" ? v : Math.min(100, 100 * v))) }],
        });
        if (has("read_gbs") || has("write_gbs"))
            panels.push({
                title: "DRAM, GB/s", limit: data.peak, limitName: "peak",
                lines: [{ name: "read", points: steps("read_gbs") }, { name: "write", points: steps("write_gbs") }],
            });
        if (has("lmrl"))
            panels.push({
                title: "LMRL, cycles", limit: data.thresholds.lmrl_cycles,
                limitName: "threshold", lines: [{ name: "LMRL", points: steps("lmrl") }],
            });
        if (has("cores"))
            panels.push({ title: "cores active on memory", lines: [{ name: "cores", points: steps("cores") }] });
        const faults = new Array(data.grid.count).fill(0);
        for (const row of data.spans)
            if (row.what === "faults")
                faults[row.span] += row.value;
        if (faults.some((value) => value > 0))
            panels.push({ title: "page faults", lines: [{ name: "faults", points: ofSpans(faults) }] });
    }

    const x = d3.scale.linear().domain([first, last]);
    const brush = d3.svg.brush();

    function drawPanel(svg, panel, top) {
        const most = d3.max(panel.lines, (line) => d3.max(line.points, (point) => point[1])) || 1;
        const fits = panel.limit > 0 && panel.limit < 6 * most;
        const y = d3.scale.linear().domain([0, Math.max(most, fits ? panel.limit : 0) * 1.05]).range([HEIGHT, 0]);
        const group = svg.append("g").attr("transform", `translate(0,${top})`);
        group.append("text").attr("class", "panel-title").attr("x", LEFT).attr("y", -5).text(panel.title
            + (panel.limit > 0 && !fits ? ` (${panel.limitName} ${+panel.limit.toPrecision(3)}, far above)` : ""));
        group.append("g").attr("class", "axis").attr("transform", `translate(${LEFT},0)`)
            .call(d3.svg.axis().scale(y).orient("left").ticks(3).outerTickSize(0));
        const area = d3.svg.area().defined((point) => point[1] !== null).x((point) => x(point[0])).y0(HEIGHT).y1((point) => y(point[1]));
        const line = d3.svg.line().defined((point) => point[1] !== null).x((point) => x(point[0])).y((point) => y(point[1]));
        for (const one of panel.lines) {
            group.append("path").attr("class", "area series-" + one.name.toLowerCase()).attr("d", area(one.points));
            group.append("path").attr("class", "line series-" + one.name.toLowerCase()).attr("d", line(one.points));
        }
        if (fits) {
            group.append("line").attr("class", "limit").attr("x1", LEFT).attr("x2", x.range()[1])
                .attr("y1", y(panel.limit)).attr("y2", y(panel.limit));
            group.append("text").attr("class", "limit-name").attr("x", x.range()[1]).attr("y", y(panel.limit) - 3)
                .text(`${panel.limitName} ${+panel.limit.toPrecision(3)}`);
        }
    }

    function drawBounds(svg, height) {
        const known = data.time.filter((row) => row.bound !== null || row.contended);
        const width = (row) => Math.max(0.5, x(msOf(row.end_ns)) - x(msOf(row.start_ns)));
        svg.append("g").selectAll("rect").data(known).enter().append("rect")
            .attr("class", (row) => "bound " + boundClass(row.bound))
            .attr("x", (row) => x(msOf(row.start_ns))).attr("y", 0)
            .attr("width", width).attr("height", STRIP);
        svg.append("g").selectAll("rect").data(known.filter((row) => row.contended)).enter().append("rect")
            .attr("class", "contended").attr("x", (row) => x(msOf(row.start_ns))).attr("y", STRIP)
            .attr("width", width).attr("height", height - STRIP);
    }

    function drawBrush(svg, height) {
        brush.x(x).on("brush", () => describe(spansOf(brush.extent()))).on("brushend", () => {
            const [from, to] = brush.empty() ? [0, data.grid.count] : spansOf(brush.extent());
            memlag.choose(from, to);
        });
        svg.append("g").attr("class", "brush").call(brush).selectAll("rect").attr("y", 0).attr("height", height);
        svg.on("mousemove", () => {
            const ms = x.invert(d3.mouse(svg.node())[0]);
            if (ms >= first && ms <= last)
                pointAt(ms);
        });
    }

    const clamp = (span) => Math.max(0, Math.min(data.grid.count, span));
    /* The spans that EXTENT, in ms, begins and ends in: at least one. */
    function spansOf(extent) {
        const width = data.grid.span_ns / 1e6;
        const from = Math.min(clamp(Math.round((extent[0] - first) / width)), data.grid.count - 1);
        const to = extent[1] >= last ? data.grid.count : clamp(Math.round((extent[1] - first) / width));
        return [from, Math.max(from + 1, to)];
    }

    const fixed = (ms) => +ms.toFixed(3);
    const describe = ([from, to]) => {
        document.getElementById("range").textContent = from === 0 && to === data.grid.count ? ""
            : `${fixed(memlag.spanStart(from))} to ${fixed(memlag.spanStart(to))} ms`;
    };

    const legend = document.getElementById("time-legend");
    function pointAt(ms) {
        const row = data.time.find((one) => msOf(one.start_ns) <= ms && ms < msOf(one.end_ns));
        legend.textContent = `${ms.toFixed(1)} ms` + (!row ? "" : (row.bound ? `: bound by ${row.bound}` : "")
            + (row.contended ? ", DRAM bandwidth short" : "")
            + (row.read_gbs !== null ? `; read ${row.read_gbs} and write ${row.write_gbs} GB/s` : "")
            + (row.lmrl !== null ? `; LMRL ${row.lmrl} cycles` : "")
            + (row.cores !== null ? `; ${row.cores} cores` : ""));
    }

    const boundClass = (bound) => "bound-" + String(bound).replace(/ /g, "-");
    const meanings = {
        kernel: "the kernel took most of the cycles", idle: "hardly any core worked", latency: "loads waited for data with bandwidth left",
        compute: "most cycles executed, or waited for no data", "other stalls": "most cycles executed nothing, but no load had missed L1: waits for L1, stores, translation or arithmetic",
        "in-core": "the core's buffers were full", bandwidth: "DRAM moved about what it can",
    };

    const FEW = 8; /* intervals show hardly a course */

    function writeHint() {
        if (data.time.length > 0 && data.time.length < FEW)
            document.querySelector("#time .hint").after(memlag.element("p", "hint",
                `Only ${data.time.length} interval${data.time.length > 1 ? "s" : ""}: memlag record with a smaller --interval shows more.`));
    }

    function writeLegend() {
        legend.textContent = "";
        if (data.time.some((row) => row.bound))
            legend.append("Strip above: what bound each interval.");
        const bounds = [...new Set(data.time.map((row) => row.bound).filter((bound) => bound))];
        for (const bound of bounds) {
            const word = memlag.element("span", "", bound + " ");
            word.title = meanings[bound] ?? "";
            legend.append(memlag.element("span", "key " + boundClass(bound)), word);
        }
        if (data.time.some((row) => row.contended))
            legend.append(memlag.element("span", "key contended"), "DRAM bandwidth short ");
        if (has("lmrl"))
            document.getElementById("lmrl-legend").hidden = false;
        if (has("write_gbs"))
            legend.append(memlag.element("span", "key series-read"), "read ", memlag.element("span", "key series-write"), "write");
    }

    function draw() {
        const chart = document.getElementById("chart");
        chart.textContent = "";
        const width = Math.max(320, chart.clientWidth);
        const height = STRIP + panels.length * (HEIGHT + GAP);
        x.range([LEFT, width - RIGHT]);
        const svg = d3.select(chart).append("svg").attr("width", width).attr("height", height + 34)
            .attr("role", "img").attr("aria-label", "Chart of the run over time");
        drawBounds(svg, height);
        panels.forEach((panel, i) => drawPanel(svg, panel, STRIP + GAP - 4 + i * (HEIGHT + GAP)));
        svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height + 4})`)
            .call(d3.svg.axis().scale(x).orient("bottom").ticks(Math.max(2, Math.min(10, Math.floor((width - LEFT - RIGHT) / 80)))).tickFormat((ms) => ms + " ms").outerTickSize(0));
        drawBrush(svg, height);
        showChoice();
    }

    function showChoice() {
        const whole = memlag.isWhole();
        const from = memlag.spanStart(choice.from), to = memlag.spanStart(choice.to);
        document.getElementById("from").value = fixed(from);
        document.getElementById("to").value = fixed(to);
        document.getElementById("whole").hidden = whole;
        document.getElementById("rounded").textContent = "";
        describe([choice.from, choice.to]);
        d3.select("#chart .brush").call(whole ? brush.clear() : brush.extent([from, Math.min(last, to)]));
    }

    function begin() {
        findPanels();
        writeLegend();
        writeHint();
        draw();
        let width = document.getElementById("chart").clientWidth;
        addEventListener("resize", () => {
            if (document.getElementById("chart").clientWidth !== width) {
                width = document.getElementById("chart").clientWidth;
                draw();
            }
        });
        const typed = () => {
            const wish = ["from", "to"].map((id) => +document.getElementById(id).value);
            memlag.choose(...spansOf(wish));
            const is = [choice.from, choice.to].map((span) => fixed(memlag.spanStart(span)));
            document.getElementById("rounded").textContent = is.every((ms, i) => ms === wish[i] || (i === 1 && wish[i] >= last)) ? ""
                : `${wish[0]} to ${wish[1]} ms became ${is[0]} to ${is[1]} ms: whole steps of ${fixed(data.grid.span_ns / 1e6)} ms.`;
        };
        document.getElementById("from").addEventListener("change", typed);
        document.getElementById("to").addEventListener("change", typed);
        document.getElementById("whole").addEventListener("click", () => memlag.choose(0, data.grid.count));
    }
    return { begin, update: showChoice, fixed };
})();
