# SPDX-License-Identifier: MIT
"""page.py MEMLAG FILE SOURCE CHANGED: the pages of FILE, a recording of SOURCE, and of what
differs in CHANGED, in Chromium."""
import base64
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import http.server

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

MEMLAG, FILE, SOURCE, CHANGED = sys.argv[1:]
PICTURES = os.environ.get("MEMLAG_PICTURES")  # a directory: where to leave pictures (README.md)


def browser():
    options = Options()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--window-size=1100,1900", "--force-prefers-reduced-motion",
                 "--user-data-dir=" + os.path.abspath("browser")):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def memlag(*arguments):
    done = subprocess.run([MEMLAG, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def report(kind, *options):
    return json.loads(memlag("report", "--format", "json", "--by", kind, *options, FILE))["rows"]


def mark(name):
    with open(SOURCE) as text:
        return next(i for i, line in enumerate(text, 1) if f"mark: {name} */" in line)


def open_page(page):
    driver.get_log("performance")
    driver.get("file://" + os.path.abspath(page))
    assert script("return document.documentElement.dataset.ready") == "yes", driver.get_log("browser")


def script(text, *arguments):
    return driver.execute_script(text, *arguments)


def find(selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def rows(kind):
    """The rows of a table as the page shows them."""
    return script("return [...document.querySelectorAll(arguments[0])].map(row => [...row.cells]"
                  ".map(cell => cell.innerText.trim()))", f"#rows-{kind} tbody tr")


def headers(kind):
    return script("return [...document.querySelectorAll(arguments[0])].map(cell => cell.innerText.trim())",
                  f"#rows-{kind} th")


def column(kind, name):
    at = headers(kind).index(name)
    return [row[at] for row in rows(kind)]


def number(text):
    return float(text.replace(" %", "").replace("–", "nan"))


def figures(place):
    """Samples and shares of a line, as the page shows them."""
    names = headers("lines")
    row = next(row for row in rows("lines") if row[names.index("line")] == place)
    return {name: row[names.index(name)] for name in ("samples", "latency", "stalled", "cause", "DRAM")}


def picture(name, height=1010):
    """Of the page's width; the page's top is at the window's top."""
    if not PICTURES:
        return
    clip = {"x": 0, "y": script("return scrollY"), "width": 1100, "height": height, "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    with open(os.path.join(PICTURES, name + ".png"), "wb") as out:
        out.write(base64.b64decode(shot["data"]))


def requested():
    """Addresses that the browser asked for since the last time."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [message["params"]["request"]["url"] for message in messages
            if message["method"] == "Network.requestWillBeSent"]


def check_agreement():
    for line in report("line")[:4]:
        place = f"{os.path.basename(line['file'])}:{line['line']}"
        if place.startswith("page.c"):
            shown = figures(place)
            assert number(shown["samples"]) == line["samples"], (shown, line)
            for name, key in (("latency", "latency_share"), ("stalled", "stalled_ratio")):
                assert abs(number(shown[name]) - 100 * line[key]) < 0.051, (shown, line)
            assert shown["cause"].split(" ")[0] == line["verdict"], (shown, line)


def check_causes(part):
    """The cause in a part of the time equals the analysis of this part alone."""
    judged = 0
    for line in part:
        place = f"{os.path.basename(line['file'] or '')}:{line['line']}"
        if not place.startswith("page.c") or line["verdict"] in ("none", "too-few-samples"):
            continue
        shown = figures(place)
        wanted = line["verdict"] + (f" ({line['cache_level']})" if line["cache_level"] else "")
        assert shown["cause"] == wanted, (shown, line)
        if line["level_samples"]:
            assert abs(number(shown["DRAM"]) - 100 * line["dram_samples"] / line["level_samples"]) <= 0.5, (shown, line)
        judged += 1
    assert judged, part


def check_defaults():
    """Without a click: the line that stalls most with its instructions, and the field."""
    assert int(find("#source-text .chosen").get_attribute("data-line")) == mark("list")
    assert driver.find_elements(By.CSS_SELECTOR, "#source-text .instructions tr")
    field = json.loads(memlag("query", "--format", "json", FILE,
                              "SELECT field FROM type_view WHERE type LIKE '%node' ORDER BY stalled_ratio DESC LIMIT 1"))
    assert find("#struct-picture .field.chosen .field-name").text == field[0]["field"], field
    assert find("#struct-detail .link").text == f"page.c:{mark('list')}"


def calls_of(number):
    return find(f"#source-text [data-line='{number}'] .calls").text


def below(function):
    """The cost of FUNCTION's calls, as a part of the cycles."""
    return sum(row["stalled_ratio"] for row in report("caller") if row["function"] == function)


def check_calling_lines():
    """A line that only calls shows what its calls cost, and main's call of all has both."""
    for function, name in (("walk", "call of walk"), ("add_up", "call of add_up")):
        shown = calls_of(mark(name))
        assert abs(number(shown.replace("→ ", "")) - 100 * below(function)) < 0.11, (name, shown, below(function))
        own = find(f"#source-text [data-line='{mark(name)}'] .heat").text
        assert own == "" or number(own) < 1, own  # compilers differ in what they keep in memory
    assert calls_of(mark("list")) == ""


def check_weight():
    """Tables and calls are in the order of the chosen weight."""
    kinds = script("return [...document.querySelectorAll('#weight option')].map(option => option.value)")
    assert kinds == ["stalled", "latency", "samples"], kinds
    for weight in ("latency", "samples", "stalled"):
        find(f"#weight option[value='{weight}']").click()
        for kind in ("lines", "functions"):
            find(f"#tab-{kind}").click()
            shown = [number(text) for text in column(kind, weight)]
            assert shown == sorted(shown, reverse=True) and shown[0] > 0, (weight, kind, shown)
            assert find(f"#rows-{kind} .sorting_desc").text == weight
        name = {"latency": "latency_share", "stalled": "stalled_ratio", "samples": "samples"}[weight]
        wanted = sum(row[name] for row in report("caller") if row["function"] == "walk")
        told = find("#flame [title^='walk']").get_attribute("title").split("\n")[1]
        assert abs(number(told) - (wanted if weight == "samples" else 100 * wanted)) < 0.2, (weight, told, wanted)
    find("#tab-lines").click()


def check_words():
    """Colours, hatching and gains are explained."""
    colours = script("return [...document.querySelectorAll('#calls .key, #struct .key')].map(key => getComputedStyle(key).background)")
    assert len(colours) == len(set(colours)) == 5 and "gradient" in colours[-1], colours
    find("#tab-gains").click()
    fixes = {row["fix"] for row in json.loads(memlag("query", "--format", "json", FILE, "SELECT DISTINCT fix FROM gain_finding"))}
    shown = script("return [...document.querySelectorAll('#rows-gains tbody td[title]')].map(cell => [cell.title, cell.innerText])")
    assert shown and all(title.replace("fix ", "") in fixes and text.startswith("If ") for title, text in shown), shown
    assert find("#table-legend").text
    find("#tab-lines").click()


def check_typed_time():
    """Typed times are rounded to whole spans, and the page says so."""
    span = script("return memlag.data.grid.span_ns") / 1e6

    def choose(end):
        field = find("#to")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(str(end), Keys.ENTER)
        return find("#rounded").text

    assert choose(round(5 * span, 6)) == "" and abs(chosen_time()[1] - 5 * span) < 0.002
    said = choose(round(7.3 * span, 6))
    assert str(round(7.3 * span, 6)) in said and str(chosen_time()[1]).removesuffix(".0") in said, (said, chosen_time())
    find("#whole").click()
    assert find("#rounded").text == ""


def chosen_time():
    return [float(find(part).get_attribute("value")) for part in ("#from", "#to")]


def check_time():
    """By the keyboard, then by the mouse: figures of a part of the time."""
    listed, summed = f"page.c:{mark('list')}", f"page.c:{mark('array')}"
    middle = sqlite3.connect(FILE).execute(
        "SELECT min(time_ns) / 1e6 FROM sample_view WHERE function = 'add_up'").fetchone()[0]
    field = find("#to")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(str(middle), Keys.ENTER)
    assert find("#range").text and find("#whole").is_displayed()
    start, end = chosen_time()
    part = report("line", "--time", f"{start}-{end}")
    chosen = next(line for line in part if line["line"] == mark("list"))
    shown = figures(listed)
    assert number(shown["samples"]) == chosen["samples"], (shown, chosen)
    assert abs(number(shown["latency"]) - 100 * chosen["latency_share"]) < 0.2, (shown, chosen)
    assert abs(number(shown["stalled"]) - 100 * chosen["stalled_ratio"]) < 3, (shown, chosen)
    check_causes(part)
    assert find("#head-part").is_displayed() and not find("#head").is_displayed()
    first = find("#head-part .place").text
    assert first.startswith(shown["stalled"]) and f"page.c:{mark('list')} " in first, first
    find("#whole").click()
    assert find("#range").text == "" and number(figures(listed)["samples"]) > chosen["samples"]
    chart = find("#chart .brush .background")
    width, last = chart.size["width"], script("return Math.max(...memlag.data.time.map((row) => row.end_ns)) / 1e6")
    right = int(width * (last - middle) / last)  # of the middle, which is at an offset from the chart's own
    ActionChains(driver).move_to_element_with_offset(chart, width // 2 - right, 0) \
        .click_and_hold().move_by_offset(right // 2, 0).move_by_offset(right // 4, 0).release().perform()
    start, end = chosen_time()
    assert find("#range").text and end > start, "dragging chooses no time"
    dragged = next(line for line in report("line", "--time", f"{start}-{end}") if line["line"] == mark("array"))
    assert number(figures(summed)["samples"]) == dragged["samples"], (figures(summed), dragged)
    check_causes(report("line", "--time", f"{start}-{end}"))
    picture("brush")
    find("#whole").click()
    assert find("#head").is_displayed() and not find("#head-part").is_displayed()


def check_tables():
    assert script("const panel = document.getElementById('panel-lines'); return panel.scrollWidth - panel.clientWidth") <= 0
    head = next(cell for cell in driver.find_elements(By.CSS_SELECTOR, "#rows-lines th") if cell.text == "samples")
    head.click()
    shown = [number(text) for text in column("lines", "samples")]
    assert shown == sorted(shown, reverse=True), shown
    head.send_keys(Keys.ENTER)
    shown = [number(text) for text in column("lines", "samples")]
    assert shown == sorted(shown), shown
    search = find("#rows-lines_filter input")
    search.send_keys("add_up")
    assert set(column("lines", "function")) == {"add_up"}
    search.send_keys(Keys.CONTROL, "a", Keys.DELETE)
    find("#tab-lines").send_keys(Keys.ARROW_RIGHT)
    assert column("functions", "function")[0] in ("walk", "main", "add_up")
    find("#tab-objects").click()
    assert any("page.c" in text for text in column("objects", "object"))
    find("#tab-lines").click()
    head.click()


def check_calls():
    find("#flame-search").send_keys("walk")
    hits = driver.find_elements(By.CSS_SELECTOR, "#flame .hit")
    assert hits and all(hit.get_attribute("title").startswith("walk\n") for hit in hits)
    stalled = sum(row["stalled_ratio"] for row in report("caller") if row["function"] == "walk")
    found = number(find("#flame-found").text.replace("found: ", ""))
    assert abs(found - 100 * stalled) < 0.2, (found, stalled)
    hits[0].click()
    assert find("#flame-reset").is_displayed()
    find("#flame").find_element(By.CSS_SELECTOR, "[tabindex='0']").send_keys(Keys.ESCAPE)
    assert not find("#flame-reset").is_displayed()
    find("#flame-search").clear()


def check_links():
    """From the first lines to the source, to the structure, and back."""
    place = next(link for link in driver.find_elements(By.CSS_SELECTOR, "#head .place .link")
                 if f"page.c:{mark('list')} " in link.text)
    place.click()
    assert int(find("#source-text .chosen").get_attribute("data-line")) == mark("list")
    assert "node->weight" in find("#source-text .chosen code").text
    assert driver.find_elements(By.CSS_SELECTOR, "#source-text .instructions tr")
    picture("source")
    link = next(link for link in driver.find_elements(By.CSS_SELECTOR, "#source-text .accesses .link")
                if link.text.endswith(".weight"))
    link.click()
    assert "weight" in find("#struct-picture .field.chosen").text
    cells = [[cell.text.split("\n")[0] for cell in line.find_elements(By.CLASS_NAME, "field")]
             for line in driver.find_elements(By.CSS_SELECTOR, "#struct-picture .cache-line")]
    assert cells == [["next", "unused[]"], ["unused[]", "weight", "tail[]"]], cells
    picture("struct")
    find("#struct-detail .link").click()
    assert int(find("#source-text .chosen").get_attribute("data-line")) == mark("list")
    driver.back()
    assert find("#struct-picture").is_displayed(), "Back has left the page"


def luminance():
    colour = script("return getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3])


def check_dark():
    light = luminance()
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    assert light > 600 and luminance() < 200, (light, luminance())
    picture("dark")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def check_narrow():
    """On a phone nothing leaves the window, and a row shows its share, cause and line."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
    assert script("return document.documentElement.scrollWidth") <= 390
    row = driver.find_elements(By.CSS_SELECTOR, "#rows-lines tbody tr:first-child td")
    shown = [cell.text for cell in row if cell.is_displayed() and cell.rect["x"] + cell.rect["width"] <= 390]
    assert len(shown) == 3 and shown[0].endswith("%") and ":" in shown[2], shown
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def check_requests():
    """Nothing was asked for, and nothing can be."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    asked = [url for url in requested() if not url.startswith(("file://", "chrome://", "data:"))]
    assert not asked, asked
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    refused = driver.execute_async_script(
        "const [url, done] = arguments; const image = new Image(); image.src = url + 'image';"
        "document.body.append(image); fetch(url + 'fetch').then(() => done(false), () => done(true));", url)
    server.shutdown()
    assert refused and not seen, seen


def check_diff():
    """Rows equal memlag diff's, and the shorter list waits less."""
    memlag("diff", "--format", "html", "-o", "diff.html", FILE, CHANGED)
    open_page("diff.html")
    wanted = {}
    for row in json.loads(memlag("diff", "--format", "json", FILE, CHANGED))["rows"]:
        if row["line_before"] == row["line_after"] and (row["file"] or "").endswith("page.c"):
            wanted[f"page.c:{row['line_after']}"] = row["verdict"]
    names = headers("line")
    shown = {row[names.index("line")]: row[3] for row in rows("line")}
    assert shown[f"page.c:{mark('list')}"] == wanted[f"page.c:{mark('list')}"] == "better", (shown, wanted)
    assert all(re.fullmatch(r"[−+]?[\d.]+( [kMG])?|0", row[names.index("difference")]) for row in rows("line")), rows("line")
    walk = find("#flame [title^='walk']")
    assert "less" in walk.get_attribute("class"), walk.get_attribute("class")
    walk.send_keys(Keys.ARROW_UP)
    assert script("return document.activeElement.title").startswith("main")
    find("#tab-function").click()
    assert "walk" in [row[headers("function").index("function")] for row in rows("function")]
    picture("diff")


HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>",
    "</script><script>window.hacked = 3</script><b class=evil>",
    "<!--<script>\" onmouseover=\"window.hacked = 4\" x=\"\u2028\u2029&lt;i class=evil&gt;",
    "\x01\x1b[31m\x7f\t\n\\u0022\x80" + "x" * 20000,
)


def hostile(page):
    """A copy of the recording in which every name contains text that a page might execute."""
    shutil.copy(FILE, "hostile.db")
    database = sqlite3.connect("hostile.db")
    names = [row[0] for row in database.execute("SELECT name_id FROM name ORDER BY name_id")]
    for name in names:
        database.execute("UPDATE name SET text = ? WHERE name_id = ?", (f"{HOSTILE[name % 4]}{name}", name))
    database.execute("UPDATE data_object SET name = ? || object_id", (HOSTILE[0],))
    database.execute("UPDATE data_type SET name = ? || type_id", (HOSTILE[1],))
    database.execute("UPDATE type_field SET name = ? || field_id, type = ?", (HOSTILE[2], HOSTILE[0]))
    database.execute("UPDATE module SET path = '/' || ? || module_id", (HOSTILE[1].replace("/", "\\"),))
    database.execute("UPDATE instruction SET text = ?", (HOSTILE[0],))
    database.execute("UPDATE run SET value = ? WHERE key IN ('command', 'cpu', 'sim_preset')", (HOSTILE[1],))
    database.execute("INSERT INTO ledger VALUES ('record', ?, 3, ?)", (HOSTILE[0], HOSTILE[1]))
    database.commit()
    database.close()
    memlag("analyze", "hostile.db")
    memlag("report", "--format", "html", "-o", page, "hostile.db")


def check_hostile():
    hostile("hostile.html")
    driver.get_log("browser")  # with what was refused above
    open_page("hostile.html")
    for tab in driver.find_elements(By.CSS_SELECTOR, "#tabs .tab"):
        tab.click()
    find("#whole-names").click()
    for part in ("#head .place .link", "#struct-picture .field", "#struct-detail .link", "#source-text .link"):
        script("document.querySelector(arguments[0])?.click()", part)
    for frame in driver.find_elements(By.CSS_SELECTOR, "#flame .frame")[:3]:
        script("arguments[0].focus()", frame)
    assert script("return window.hacked") is None
    assert not driver.find_elements(By.CSS_SELECTOR, "main img, main script, main b, main i, .evil")
    assert HOSTILE[1] in find("#command").get_attribute("textContent")
    assert "<script>" in find("#table-panels").get_attribute("textContent")
    complaints = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not complaints, complaints
    memlag("diff", "--format", "html", "-o", "diff.html", FILE, "hostile.db")
    open_page("diff.html")
    for tab in driver.find_elements(By.CSS_SELECTOR, "#tabs .tab"):
        tab.click()
    assert script("return window.hacked") is None
    assert not driver.find_elements(By.CSS_SELECTOR, "main img, main script, main b, main i, .evil")


memlag("report", "--format", "html", "-o", "page.html", FILE)
driver = browser()
try:
    open_page("page.html")
    picture("light")
    check_defaults()
    check_agreement()
    check_calling_lines()
    check_typed_time()
    check_weight()
    check_words()
    check_time()
    check_tables()
    check_calls()
    check_links()
    check_dark()
    check_narrow()
    errors = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors
    check_requests()
    check_diff()
    check_hostile()
finally:
    driver.quit()
