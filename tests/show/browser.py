"""A real browser for the tests: Debian's Chromium, driven by Selenium."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

SWITCHES = (
    "headless=new",
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "hide-scrollbars",
)


@contextlib.contextmanager
def chromium(width: int = 1360, height: int = 760, *, scheme: str = "light") -> Iterator[Any]:
    """A window of this size, in the light or the dark scheme; skips where there is none."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="needs selenium (the extra browser)"
    )
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("needs Chromium and its driver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for each in SWITCHES:
        options.add_argument(f"--{each}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        window.set_page_load_timeout(30)
        window.set_script_timeout(30)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        yield window
        assert not window.get_log("browser"), "the console is not empty"
    finally:
        window.quit()
