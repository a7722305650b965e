/* SPDX-License-Identifier: MIT */
/* Tables that DataTables sorts, filters and pages, each in a tab of its own. */
"use strict";

/* DataTables takes a text with "&" for markup when it filters. */
memlag.filterText = (value) => (typeof value === "string"
    ? value.replace(/&/g, "&amp;").replace(/</g, value.includes("&") ? "&lt;" : "<") : value);

/* Makes a table called KEY in PANEL, of OPTIONS of DataTables. */
memlag.dataTable = (panel, key, options) => {
    const table = memlag.element("table", "rows");
    table.id = "rows-" + key;
    panel.append(table);
    return jQuery(table).DataTable({
        deferRender: true, autoWidth: false, pageLength: 15, lengthChange: false, pagingType: "simple_numbers",
        language: { search: "Filter", info: "_START_ to _END_ of _TOTAL_", infoFiltered: "(_MAX_ in all)", infoEmpty: "none",
            zeroRecords: "No row has this.", emptyTable: "No rows.", paginate: { previous: "Previous", next: "Next" } },
        ...options,
    });
};

/* Makes a tab for each of KINDS, which have a key and a title and get a panel, and shows the
 * first. SHOW fills a panel that is shown. */
memlag.tabs = (kinds, show) => {
    function choose(kind, focus) {
        for (const one of kinds) {
            const chosen = one === kind;
            one.tab.setAttribute("aria-selected", chosen);
            one.tab.tabIndex = chosen ? 0 : -1;
            one.panel.hidden = !chosen;
        }
        if (focus)
            kind.tab.focus();
        show(kind);
    }

    function make(kind, i) {
        kind.tab = memlag.button(kind.title, "", () => choose(kind));
        kind.tab.className = "tab";
        kind.tab.setAttribute("role", "tab");
        kind.tab.id = "tab-" + kind.key;
        kind.tab.setAttribute("aria-controls", "panel-" + kind.key);
        kind.tab.addEventListener("keydown", (event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (step)
                choose(kinds[(i + step + kinds.length) % kinds.length], true);
        });
        kind.panel = memlag.element("div", "panel");
        kind.panel.id = "panel-" + kind.key;
        kind.panel.setAttribute("role", "tabpanel");
        kind.panel.setAttribute("aria-labelledby", kind.tab.id);
        document.getElementById("tabs").append(kind.tab);
        document.getElementById("table-panels").append(kind.panel);
    }

    kinds.forEach(make);
    if (kinds.length)
        choose(kinds[0]);
};
