/* SPDX-License-Identifier: MIT */
/* The tree of calls from the outermost function down: the wider, the more it waited. */
"use strict";
memlag.flame = (() => {
    const { data } = memlag;
    const NARROWEST = 0.003; /* of the width; narrower ones cannot be seen */
    const root = { caller_id: 0, children: [], depth: -1, own: 0, name: "all" };
    const nodes = new Map([[0, root]]);
    let top = root, focused = null;

    for (const row of data.callers) {
        const parent = nodes.get(row.parent_id || 0) || root;
        const node = { row, parent, children: [], depth: parent.depth + 1, name: row.function };
        node.kind = /^\[/.test(row.module || "[") ? "kernel" : /\.so(\.|$)/.test(row.module) ? "library" : "program";
        parent.children.push(node);
        nodes.set(row.caller_id, node);
    }
    const inOrder = [...nodes.values()]; /* parents first */

    function sumUp() {
        for (const node of inOrder)
            node.value = node.own = node.row ? memlag.weigh(node.row) : 0;
        for (let i = inOrder.length - 1; i > 0; i--)
            inOrder[i].parent.value += inOrder[i].value;
        for (const node of inOrder)
            node.children.sort((a, b) => b.value - a.value);
    }

    /* Places below TOP that are wide enough, and those that lead to it. */
    function layOut() {
        const shown = [];
        for (let above = top; above !== root; above = above.parent)
            shown.unshift(Object.assign(above, { left: 0, width: 1 }));
        const below = (node) => {
            let left = node.left;
            for (const child of node.children) {
                child.left = left;
                child.width = top.value > 0 ? child.value / top.value : 0;
                left += child.width;
                if (child.width < NARROWEST)
                    continue;
                shown.push(child);
                below(child);
            }
        };
        Object.assign(top, { left: 0, width: 1 });
        below(top);
        return shown;
    }

    const describe = (node) => {
        document.getElementById("flame-detail").textContent = `${node.name} in ${node.row.module || "unknown"}: `
            + `${memlag.weightText(node.value)} with what it calls, ${memlag.weightText(node.own)} itself`;
    };

    function zoom(node) {
        top = node === top && node !== root ? node.parent : node;
        draw();
        if (top !== root)
            focusOn(top);
    }

    function focusOn(node) {
        focused = node;
        draw();
        const button = document.querySelector("#flame button[tabindex='0']");
        if (button)
            button.focus({ preventScroll: true });
    }

    function move(event) {
        const node = focused;
        const wide = (list) => list.filter((child) => child.width >= NARROWEST);
        const siblings = node && wide(node.parent.children);
        const next = !node ? null
            : event.key === "ArrowDown" ? wide(node.children)[0]
            : event.key === "ArrowUp" ? (node.parent !== root ? node.parent : null)
            : event.key === "ArrowLeft" ? siblings[siblings.indexOf(node) - 1]
            : event.key === "ArrowRight" ? siblings[siblings.indexOf(node) + 1] : null;
        if (event.key === "Escape")
            zoom(root);
        if (next)
            focusOn(next);
        if (next || /^Arrow/.test(event.key))
            event.preventDefault();
    }

    /* What fits the search, and how much all that has it below takes, each once. */
    function search(shown) {
        const text = document.getElementById("flame-search").value.toLowerCase();
        const fits = (node) => text && node.name.toLowerCase().includes(text);
        const sum = (node) => (node !== root && fits(node) ? node.value : node.children.reduce((all, child) => all + sum(child), 0));
        document.getElementById("flame-found").textContent = text ? `found: ${memlag.weightText(sum(root))}` : "";
        for (const node of shown)
            node.hit = fits(node);
        return text !== "";
    }

    function draw() {
        const shown = layOut();
        const searching = search(shown);
        const container = document.getElementById("flame-boxes");
        if (!shown.includes(focused))
            focused = shown[0] || null;
        container.style.height = 21 * (1 + (d3.max(shown, (node) => node.depth) || 0)) + "px";
        const boxes = d3.select(container).classed("searching", searching)
            .selectAll("button").data(shown, (node) => node.row.caller_id);
        boxes.enter().append("button").attr("type", "button").on("click", zoom)
            .on("focus", (node) => { focused = node; describe(node); }).on("mouseenter", describe);
        boxes.exit().remove();
        boxes.attr("class", (node) => `frame ${node.kind}${node.hit ? " hit" : ""}${node.depth < top.depth ? " above" : ""}`)
            .attr("tabindex", (node) => (node === focused ? 0 : -1))
            .attr("title", (node) => `${node.name}\n${memlag.weightText(node.value)}`)
            .style("left", (node) => 100 * node.left + "%").style("width", (node) => 100 * node.width + "%")
            .style("top", (node) => 21 * node.depth + "px")
            .text((node) => (node.width > 0.02 ? memlag.shortName(node.name, 60) : ""));
        document.getElementById("flame-reset").hidden = top === root;
        document.getElementById("flame-weight").textContent = memlag.weights.find(([key]) => key === memlag.choice.weight)[1];
    }

    function update() {
        sumUp();
        draw();
    }

    function begin() {
        document.getElementById("flame").addEventListener("keydown", move);
        document.getElementById("flame-search").addEventListener("input", draw);
        document.getElementById("flame-reset").addEventListener("click", () => zoom(root));
        update();
    }
    return { begin, update };
})();
