/* SPDX-License-Identifier: MIT */
/* Words, numbers and elements of both pages. Names are any text: they go into a page as text
 * only. */
"use strict";
const memlag = {};

memlag.LEAST_SHOWN = 0.0005; /* a smaller share is shown as 0.0 % */
memlag.percent = (ratio) => (ratio === null || ratio === undefined ? "–" : (100 * ratio).toFixed(1) + " %");
memlag.duration = (ns) => (ns >= 1e9 ? +(ns / 1e9).toPrecision(3) + " s" : +(ns / 1e6).toPrecision(3) + " ms");
memlag.bytes = (size) => (size === null ? "–" : size < 10240 ? size + " B"
    : size < 10485760 ? Math.round(size / 1024) + " KiB" : Math.round(size / 1048576) + " MiB");
memlag.base = (path) => (path === null || path === undefined ? "" : path.slice(path.lastIndexOf("/") + 1));

/* NAME without its outermost template arguments: "<…>" stands for them, and "<" behind
 * "operator" is none. */
memlag.withoutArguments = (name) => {
    let text = "", depth = 0;
    for (let i = 0; i < name.length; i++) {
        const opens = name[i] === "<" && !/operator<*$/.test(name.slice(Math.max(0, i - 9), i));
        const closes = depth > 0 && name[i] === ">" && name[i - 1] !== "-";
        if (opens && depth++ === 0)
            text += "<…>";
        if (depth === 0)
            text += name[i];
        if (closes)
            depth--;
    }
    return depth === 0 ? text : name;
};

/* A name of more than MOST characters without what makes it long. */
memlag.shortName = (name, most) => {
    let text = String(name).replace(/\/rustc\/[0-9a-f]+\//g, "/rustc/…/");
    if (text.length > most)
        text = memlag.withoutArguments(text);
    return text.length > 2 * most ? text.slice(0, 2 * most) + "…" : text;
};

memlag.cause = (row) => (row.now.verdict || "") + (row.now.cacheLevel ? ` (${row.now.cacheLevel})` : "");

/* An element with text, never markup. */
memlag.element = (name, className, text) => {
    const element = document.createElement(name);
    if (className)
        element.className = className;
    if (text !== undefined)
        element.textContent = text;
    return element;
};

function pressed(element, title, text, act) {
    if (title && title !== text)
        element.title = title;
    element.addEventListener("click", (event) => {
        event.preventDefault();
        act();
    });
    return element;
}

memlag.button = (text, title, act) => {
    const button = memlag.element("button", "", text);
    button.type = "button";
    return pressed(button, title, text, act);
};

memlag.link = (text, title, act) => {
    const link = memlag.element("a", "link", text);
    link.href = "#source";
    return pressed(link, title, text, act);
};

/* The browser's Back leads to where the reader was. */
memlag.show = (section) => {
    history.pushState(null, "", "#" + section);
    const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
    document.getElementById(section).scrollIntoView({ behavior: quiet ? "auto" : "smooth", block: "start" });
};
