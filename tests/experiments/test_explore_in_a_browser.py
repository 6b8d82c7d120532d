"""The explorer in Chromium (Debian: chromium, chromium-driver), which Selenium drives; skipped elsewhere."""

import re
import shutil
import time
from pathlib import Path

import pytest

from experiments.explore.answer import Explorer
from experiments.explore.settings import NUMBERS
from tests.experiments.test_explore import BROWSED, served
from tests.tables import words

PROGRAMS = [shutil.which(name) for name in ("chromium", "chromedriver")]
webdriver = pytest.importorskip("selenium.webdriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not all(PROGRAMS), reason="chromium and chromedriver are not both installed"),
]
FLAGS = words(
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1300,1000"
)
SMALL = "pages=2&seeds=1&policies=psm,bsd:1"


@pytest.fixture(scope="module")
def page():
    with served(Explorer()) as one:
        yield one


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    from selenium.webdriver.chrome.service import Service

    folder = tmp_path_factory.mktemp("chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = PROGRAMS[0]
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(PROGRAMS[1]))
    driver.folder = folder
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium):
    chromium.get_log("browser")
    yield chromium
    complaints = [one["message"] for one in chromium.get_log("browser") if "favicon" not in one["message"]]
    known = ("400 (Bad Request)", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "ERR_CONNECTION_RESET")
    assert not [one for one in complaints if not any(part in one for part in known)]


def until(condition, seconds=60.0):
    """Wait for something to be true, and return it."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "nothing came of it"
        time.sleep(0.03)
    return found


def find(browser, query):
    return browser.find_element("css selector", query)


def settled(browser):
    """Return whether the page shows the whole answer to where its controls are, with its pictures."""
    return browser.execute_script(
        "return !document.querySelector('#answer').hidden && document.querySelector('#status').hidden"
        " && !document.querySelector('#answer.old') && document.querySelectorAll('.main-svg').length > 3"
    )


def opened(browser, page, query=SMALL):
    browser.get(f"http://127.0.0.1:{page.port}/?{query}")
    until(lambda: settled(browser))
    browser.execute_script("window.asked = 0; const get = fetch; fetch = (...all) => { asked++; return get(...all); }")


def changed(browser, script, *given):
    """Move a control by a script, and wait for the answer."""
    before = browser.execute_script("return asked")
    browser.execute_script(f"{script}; document.activeElement.blur()", *given)
    until(lambda: browser.execute_script("return asked") > before and settled(browser))


def policies(browser):
    return [one.text for one in browser.find_elements("css selector", "tbody th")]


def query_of(browser):
    return browser.current_url.partition("?")[2]


def test_every_control_moves_the_answer_and_stands_in_the_address(browser, page):
    opened(browser, page)
    move = "for (const [query, value] of arguments[0]) { const it = document.querySelector(query); it.value = value;"
    move += "for (const kind of ['input', 'change']) it.dispatchEvent(new Event(kind, { bubbles: true })) }"
    values = {"server": "constant", "radio": "esp32-c6", "pages": 3, "seeds": 2, "server_s": 0.3, "rtt_ms": 60,
        "beacon_ms": 100, "dtim_period": 3, "max_slowdown": 1.5, "max_late_s": 3, "battery_mwh": 500}  # fmt: skip
    assert set(values) == {*NUMBERS, "server", "radio"}
    by_slider = [*NUMBERS][::2]
    changed(browser, move, [[f"#{name}" + "-slider" * (name in by_slider), str(one)] for name, one in values.items()])
    for name, value in values.items():
        assert f"{name}={value}" in query_of(browser)
        assert find(browser, f"#{name}").get_attribute("value") == str(value)
    for name in NUMBERS:
        assert find(browser, f"#{name}-slider").get_attribute("value") == str(values[name])
    command = find(browser, "pre").get_attribute("textContent")
    said = "--pages 3 --seeds 2 --policies none,psm,bsd:1 --server-delay constant:0.3 --rtt 0.06 --radio esp32-c6"
    assert command == f"lpsm compare {said} --beacon-ms 100 --dtim 3 --max-slowdown 1.5 --out explored"
    assert re.search(r"J a page, \d+ h on this battery", find(browser, "#best").text)
    changed(browser, "document.querySelector('[value=\"hold:50\"]').click()")
    assert policies(browser) == ["none", "psm:100", "bsd:1", "hold:50", "limit", "page-awake"]
    address, table = browser.current_url, find(browser, "table").text
    browser.get("about:blank")
    browser.get(address)  # the link is whole
    until(lambda: settled(browser))
    assert find(browser, "table").text == table


def test_values_are_under_the_mouse_zoom_and_downloads_work(browser, page):
    opened(browser, page)
    actions = webdriver.ActionChains(browser, duration=0)
    actions.move_to_element(find(browser, "#front .scatterlayer .trace .point")).perform()
    hover = until(lambda: browser.find_elements("css selector", "#front .hovertext"))[0].text
    assert "J a page" in hover
    assert " h" in hover
    shown = "return document.querySelector('#front')._fullLayout.xaxis.range.join()"
    whole = browser.execute_script(shown)
    plot = find(browser, "#front .nsewdrag")
    actions = webdriver.ActionChains(browser, duration=50)
    actions.move_to_element_with_offset(plot, -80, -60).click_and_hold().move_by_offset(90, 70).release().perform()
    until(lambda: browser.execute_script(shown) != whole)
    for button, name in (
        ("#save-front", "lpsm-front.png"),
        ("#save-energy", "lpsm-energy.png"),
        ("#save-table", "lpsm-explored.csv"),
    ):
        find(browser, button).click()
        until((Path(browser.folder) / name).is_file)
    rows = until(lambda: (Path(browser.folder) / "lpsm-explored.csv").read_text()).splitlines()
    assert rows[0].startswith("policy,")
    assert [row.partition(",")[0] for row in rows[1:]] == policies(browser)
    assert (Path(browser.folder) / "lpsm-front.png").read_bytes()[:4] == b"\x89PNG"


def test_five_quick_changes_are_answered_once_and_are_one_step_back(browser, page):
    opened(browser, page)
    before = browser.execute_script("return [asked, history.length]")
    press = "const it = document.querySelector('#beacon_ms-slider'); for (let n = 0; n < 5; n++) { it.stepUp();"
    press += "for (const kind of ['input', 'change']) it.dispatchEvent(new Event(kind, { bubbles: true })) }"
    changed(browser, press)
    assert browser.execute_script("return [asked, history.length]") == [before[0] + 1, before[1] + 1]
    moved = find(browser, "#beacon_ms").get_attribute("value")
    assert f"--beacon-ms {moved}" in find(browser, "pre").get_attribute("textContent")
    browser.back()
    until(lambda: query_of(browser) == SMALL and settled(browser))
    assert find(browser, "#beacon_ms").get_attribute("value") == "102.4"
    browser.forward()
    until(lambda: find(browser, "#beacon_ms").get_attribute("value") == moved and settled(browser))


def test_two_tabs_do_not_disturb_each_other(browser, page):
    opened(browser, page)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    opened(browser, page, "pages=3&seeds=1&policies=listen:2")
    assert policies(browser) == ["none", "listen:2", "limit", "page-awake"]
    browser.close()
    browser.switch_to.window(first)
    changed(browser, "document.querySelector('[value=\"hold:50\"]').click()")
    assert policies(browser)[1:4] == ["psm:102.4", "bsd:1", "hold:50"]


def test_a_wrong_value_and_a_server_that_ends_are_said_in_words(browser):
    with served(Explorer()) as mine:
        opened(browser, mine)
        complaint = find(browser, "#complaint")
        browser.execute_script("const it = document.querySelector('#pages'); it.value = 0;"
            "it.dispatchEvent(new Event('change', { bubbles: true }))")  # fmt: skip
        until(lambda: "pages must lie in [1, 200], got 0" in complaint.text)
        browser.back()
        until(lambda: settled(browser) and not complaint.is_displayed())
    browser.execute_script("document.querySelector('[value=\"hold:50\"]').click()")
    until(lambda: "start lpsm explore again" in complaint.text)


def test_a_phone_shows_all_of_it_and_the_keyboard_reaches_every_control(browser, page):
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(browser, page)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        for name in ("front", "energy"):
            assert 300 <= find(browser, f"#{name} .main-svg").size["width"] <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    reached, keys = set(), webdriver.ActionChains(browser, duration=0)
    count = browser.execute_script("return document.querySelectorAll('input:enabled, select, button, summary').length")
    find(browser, "#server").send_keys("")
    for _ in range(count + 3):
        reached.add(browser.execute_script("const it = document.activeElement; return it.id || it.value || it.tagName"))
        keys.send_keys("\ue004").perform()  # Tab
    assert {"server", "radio", "pages", "pages-slider", "hold:50", "save-table", "SUMMARY"} <= reached
    before = browser.execute_script("return asked")
    find(browser, "[value='hold:50']").send_keys(" ")
    until(lambda: browser.execute_script("return asked") > before and settled(browser))
    assert "hold:50" in policies(browser)


def test_a_recording_has_a_page_of_its_own(browser, tmp_path):
    (path := tmp_path / "recorded.jsonl").write_text(BROWSED["messages"] + '{"captured_s": 30.0}\n')
    with served(Explorer.of_trace(path, 2)) as mine:
        opened(browser, mine, "policies=psm,dynamic:50")
        assert str(path) in find(browser, "#traffic").text
        assert not browser.find_elements("css selector", "#pages, #seeds")
        assert [find(browser, f"#{name}").is_enabled() for name in ("server_s", "rtt_ms")] == [False, False]
        header = [one.text for one in browser.find_elements("css selector", "thead th")]
        assert header[:3] == ["policy", "mW", "hours"]
        assert "J/page" not in header
        assert "mW" in find(browser, "#best").text
