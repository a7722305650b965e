# SPDX-License-Identifier: MIT
"""export_readers.py MEMLAG READERS FILE: speedscope and the Firefox Profiler, for which memlag
export has formats, read the calls and sums of FILE's calling-context tree. READERS: a directory in
which npm installed them."""
import base64
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from call_tree import UNITS, CallTree, named

MEMLAG, READERS, FILE = sys.argv[1:]
WAIT_S = 60
SESSIONS = tempfile.TemporaryDirectory(prefix="readers-")  # for sockets: their paths must be short
tree = CallTree(FILE)


def export(form, *options):
    return subprocess.run([MEMLAG, "export", "--format", form, *options, FILE], capture_output=True, check=True).stdout


def check(reader, weight, sums):
    wanted = tree.sums(weight)
    assert named(sums) == wanted and wanted, (reader, weight, named(sums) - wanted, wanted - named(sums))


# ---- speedscope, in a browser: a page that saves the profile it has read ----


def saved_by_speedscope(profile):
    with open("load.js", "w") as script:  # as speedscope's own command does
        script.write(f"speedscope.loadFileFromBase64('profile', '{base64.b64encode(profile).decode()}')")
    options = Options()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader",
                 "--user-data-dir=" + os.path.abspath("browser")):
        options.add_argument(flag)
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    try:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            window.saved = [];
            const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return make(blob); };"""})
        page = os.path.join(os.path.abspath(READERS), "node_modules/speedscope/dist/release/index.html")
        driver.get(f"file://{page}#localProfilePath={os.path.abspath('load.js')}")
        wait = WebDriverWait(driver, WAIT_S)
        wait.until(lambda _: "measured" in driver.title)  # the profile's name
        ActionChains(driver).key_down(Keys.CONTROL).send_keys("s").key_up(Keys.CONTROL).perform()
        return json.loads(wait.until(lambda _: driver.execute_script("return saved[0]")))
    finally:
        driver.quit()


def sums_of_events(profile, frames):
    """Each stack from the opening and closing of its frames."""
    sums, stack, last = collections.Counter(), [], profile["startValue"]
    for event in profile["events"]:
        sums[tuple(stack)] += event["at"] - last
        last = event["at"]
        if event["type"] == "O":
            stack.append(frames[event["frame"]])
        else:
            assert stack.pop() == frames[event["frame"]]
    assert not stack and last == profile["endValue"]
    return +sums


def speedscope():
    exported = export("speedscope")
    saved = saved_by_speedscope(exported)
    frames = [frame["name"] for frame in saved["shared"]["frames"]]
    profiles = saved["profiles"]
    assert [one["name"] for one in profiles] == [one["name"] for one in json.loads(exported)["profiles"]], profiles
    assert len(profiles) == len(UNITS)
    for profile in profiles:
        check("speedscope", profile["name"].split(",")[0].split(" ")[0], sums_of_events(profile, frames))


# ---- the Firefox Profiler, by its command, which keeps a profile in a process ----


def profiler(*words):
    done = subprocess.run(["node", os.path.join(READERS, "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"),
                           *words], capture_output=True, text=True,
                          env={**os.environ, "PROFILER_CLI_SESSION_DIR": SESSIONS.name})
    return done.stdout if done.returncode == 0 else None


def asked(session, *words):
    """The answer of SESSION's process. On a busy machine it starts later than the command that
    starts it expects."""
    end = time.monotonic() + WAIT_S
    while (answer := profiler(*words, "--json", "--session", session)) is None:
        assert time.monotonic() < end, (session, words)
    return json.loads(answer)


def walk(node, steps, sums):
    assert "childrenTruncated" not in node
    sums[steps] += node["selfSamples"]
    for child in node["children"]:
        walk(child, steps + (child["name"],), sums)


def calls_in_firefox(weight):
    session = "by-" + weight
    with open(session + ".json", "wb") as out:
        out.write(export("firefox", "--weight", weight))
    profiler("load", session + ".json", "--session", session)
    try:
        sums = collections.Counter()
        for process in asked(session, "profile", "info", "--all")["processes"]:
            for thread in process["threads"]:
                calls = asked(session, "thread", "samples-top-down", "--thread", thread["threadHandle"], "--max-lines", "1000000")
                walk(calls["regularCallTree"], (), sums)
        return +sums
    finally:
        profiler("stop", session)


def firefox():
    check("firefox", "samples", calls_in_firefox("samples"))
    found, wanted = named(calls_in_firefox("stalled")), tree.sums("stalled")
    for path, value in wanted.most_common(5):  # parts of a millionth are lost
        assert abs(found[path] - value) <= 300, (path, found[path], value)


speedscope()
firefox()
