"""A real Chromium without a window, for tests of pages; and why there is none."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = [
    what
    for what, found in (("chromium", CHROMIUM), ("chromedriver", DRIVER), ("selenium", find_spec("selenium")))
    if not found
]
WHY_NOT = f"{', '.join(MISSING)} not installed: make browser"

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1280,900",
)  # fmt: skip


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """Give a driver of a browser that keeps its console and its requests."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


def requests_of(driver: Any) -> list[str]:
    """Return the addresses that the browser has asked for since the last time."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return [str(params["request"]["url"]) for params in sent]


def console_of(driver: Any) -> list[str]:
    """Return what the page has written to the console since the last time."""
    return [str(entry["message"]) for entry in driver.get_log("browser")]


def set_width(driver: Any, width_px: int) -> None:
    """Make the window as wide as a screen of that many pixels, narrower than a desktop's windows can be."""
    size = {"width": width_px, "height": 844, "deviceScaleFactor": 1, "mobile": width_px < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def set_theme(driver: Any, theme: str) -> None:
    """Let the system prefer `light` or `dark`."""
    preferred = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", preferred)
