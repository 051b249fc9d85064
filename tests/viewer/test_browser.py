"""The page in headless Chromium, at both sizes: seen, dragged, built on by clicks, edited, recorded."""

import http.server
import threading
import time

import numpy as np
import pytest
from rigs.chromium import (
    CHROMIUM,
    NEEDS_A_BROWSER,
    SIZES,
    at,
    click,
    fill,
    hook,
    on,
    outside,
    ready,
    seen,
    visit,
    wait_for,
    watch,
)
from rigs.live import until

import bellcrank as bc
from bellcrank import scene
from bellcrank.viewer.opening import view
from bellcrank.viewer.page.recording import recording

pytestmark = NEEDS_A_BROWSER
A, B, C, D = (0.0, 0.0, 0.0), (0.0, 0.0, 0.2), (0.5, 0.0, 0.4), (0.4, 0.0, 0.0)
E, F = (0.9, 0.0, 0.6), (0.8, 0.0, 0.0)


@pytest.fixture
def shown(browser):
    """The page of a double pendulum, and a tab that shows it."""
    with bc.gallery.double_pendulum().view(port=0) as page:
        tab = visit(browser, page)
        yield page, tab
        sound(tab)
        tab.close()


def sound(tab):
    """Nothing went wrong in a tab, and it asked for nothing foreign."""
    assert tab.faults == []
    assert tab.foreign == []


def press(tab, key):
    tab.keyboard.press(key)
    tab.wait_for_timeout(150)


def drag(tab, begin, way, count=15, wait=30):
    """Drag from a pixel along a way, and hold."""
    tab.mouse.move(*begin)
    tab.mouse.down()
    for k in range(1, count + 1):
        tab.mouse.move(begin[0] + way[0] * k / count, begin[1] + way[1] * k / count)
        tab.wait_for_timeout(wait)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nothing_is_cut_off_and_the_plots_are_below_the_view(browser, size):
    with bc.gallery.four_bar().view(port=0) as page:
        tab = visit(browser, page, size)
        assert outside(tab) == []
        for name in ("Plots and commands", "Elements and fields"):
            tab.get_by_role("button", name=name, exact=True).click()
            tab.wait_for_timeout(200)
            assert outside(tab) == []
            tab.get_by_role("button", name=name, exact=True).click()
        for key in ("Control+s", "Control+o", "?"):
            press(tab, key)
            assert outside(tab) == []
            tab.keyboard.press("Escape")
        canvas = tab.locator("canvas").first.bounding_box()
        assert canvas["width"] > 0.6 * size[0]
        assert canvas["height"] > 0.3 * size[1]
        sound(tab)
        tab.close()


def test_the_clock_is_run_by_keys_and_buttons(shown):
    page, tab = shown
    tab.keyboard.press("Space")
    until(page.session, lambda now: now.status == "playing" and now.time > 0.2)
    tab.keyboard.press("Space")
    stood = until(page.session, lambda now: now.status == "paused")
    tab.keyboard.press(".")
    until(page.session, lambda now: now.time == pytest.approx(stood.time + 1e-3))
    wait_for(tab, lambda: hook(tab, "bellcrank.time") == pytest.approx(stood.time + 1e-3))
    tab.keyboard.press("Home")
    until(page.session, lambda now: now.time == 0.0)


def test_keys_pressed_faster_than_answers_come_play_and_pause_in_turn(shown):
    page, tab = shown
    done = []
    for name in ("play", "pause"):
        does = page.session._commands[name]
        page.session._commands = {
            **page.session._commands,
            name: lambda *given, name=name, does=does, **more: (done.append(name), does(*given, **more))[1],
        }
    tab.evaluate(
        """() => [1, 2, 3].forEach(() => window.dispatchEvent(new KeyboardEvent("keydown", { key: " " })))"""
    )
    until(page.session, lambda now: len(done) == 3)
    assert done == ["play", "pause", "play"]


def test_what_was_set_survives_a_reload(browser):
    with bc.gallery.four_bar().view(port=0) as page:
        tab = visit(browser, page, SIZES[0])
        page.session.do("step", count=300)
        press(tab, "1")
        press(tab, "t")
        click(tab, on(tab, "coupler"))
        press(tab, "d")
        click(tab, on(tab, "crank"))
        click(tab, on(tab, "coupler"))
        press(tab, "Escape")
        press(tab, "Escape")
        click(tab, on(tab, "coupler", (0.02, 0.0, 0.0)))
        wait_for(tab, lambda: [one["name"] for one in hook(tab, "bellcrank.selection")] == ["coupler"])
        tab.get_by_label("Let the camera follow the chosen body").click()
        tab.get_by_role("tab", name="Section loads").click()
        tab.mouse.move(*at(tab, (0.0, 0.0, 0.0)))
        tab.mouse.wheel(0, -300)
        tab.wait_for_timeout(800)
        parts = (
            "({d: bellcrank.dimensions, s: bellcrank.selection, t: bellcrank.traces, c: bellcrank.camera})"
        )
        before = hook(tab, parts)
        assert before["d"]
        assert before["t"]
        assert before["c"]["follows"] == "coupler"
        tab.reload()
        ready(tab)
        wait_for(tab, lambda: hook(tab, "bellcrank.traces.length && bellcrank.traces[0].complete"))
        after = hook(tab, parts)
        for name in "dst":
            assert after[name] == before[name]
        for name in ("eye", "target"):
            assert after["c"][name] == pytest.approx(before["c"][name], abs=1e-6)
        assert after["c"]["follows"] == "coupler"
        assert tab.get_by_role("tab", name="Section loads").get_attribute("aria-selected") == "true"
        sound(tab)
        tab.close()


def test_a_page_at_rest_draws_nothing_and_plays_at_full_rate(shown):
    _, tab = shown
    tab.wait_for_timeout(1500)
    before = hook(tab, "bellcrank.counts")
    tab.wait_for_timeout(2000)
    after = hook(tab, "bellcrank.counts")
    assert after["frames"] == before["frames"]
    assert after["pictures"] == before["pictures"]
    press(tab, "Space")
    tab.wait_for_timeout(500)
    before, begun = hook(tab, "bellcrank.counts"), time.monotonic()
    tab.wait_for_timeout(2000)
    rate = (hook(tab, "bellcrank.counts")["frames"] - before["frames"]) / (time.monotonic() - begun)
    press(tab, "Space")
    assert rate > 20.0  # on a machine that does other things as well; 55 and more where it is free


def test_a_body_follows_the_mouse_and_is_let_go(shown):
    page, tab = shown
    body = page.session.snapshot.bodies[-1]
    before = page.session.snapshot.position[-1].copy()
    drag(tab, on(tab, body), (60.0, -30.0))
    until(page.session, lambda now: np.linalg.norm(now.position[-1] - before) > 0.02)
    wait_for(tab, lambda: hook(tab, "bellcrank.moves")["done"] == hook(tab, "bellcrank.moves")["sent"] > 0)
    tab.mouse.up()
    page.session.do("gravity", value=False)
    page.session.do("speed", value=1e-4)  # it stands, as good as, until it is held
    press(tab, "Space")
    drag(tab, on(tab, body, (0.5, 0.0, 0.0)), (-60.0, 0.0))
    until(page.session, lambda now: body in now.holds)
    wait_for(tab, lambda: hook(tab, "bellcrank.moves")["done"] == hook(tab, "bellcrank.moves")["sent"])
    hold = page.session.snapshot.holds[body]

    def gap(now):
        return np.linalg.norm(hold.reach(now.position[-1], now.rotation[-1]) - hold.target)

    begun = gap(page.session.snapshot)
    page.session.do("speed", value=1.0)
    until(page.session, lambda now: gap(now) < 0.7 * begun)
    tab.mouse.up()
    until(page.session, lambda now: not now.holds)
    press(tab, "Space")


def test_what_is_clicked_is_shown_in_numbers(shown):
    page, tab = shown
    body = page.session.snapshot.bodies[0]
    click(tab, on(tab, body, (0.5, 0.0, 0.0)))
    wait_for(tab, lambda: [one["name"] for one in hook(tab, "bellcrank.selection")] == [body])
    tab.get_by_text("kinetic energy").first.wait_for(timeout=20_000)
    fill(tab, "mass", "2.5")
    until(page.session, lambda now: page.session.editor.mechanism.bodies[body].mass == 2.5)
    press(tab, "Control+z")
    until(page.session, lambda now: page.session.editor.mechanism.bodies[body].mass != 2.5)


def rod(tab, page, begin, end):
    count = len(page.session.snapshot.bodies)
    click(tab, at(tab, begin))
    tab.wait_for_timeout(150)
    click(tab, at(tab, end))
    until(page.session, lambda now: len(now.bodies) == count + 1 and not now.moving)
    wait_for(tab, lambda: len(hook(tab, "bellcrank.carriers")) == count + 2)
    tab.wait_for_timeout(150)


def grounded(session):
    """Joints that hold a body to the ground."""
    joints = session.snapshot.mechanism.joints.values()
    return sum("ground" in (joint.marker_1.body, joint.marker_2.body) for joint in joints)


def hinge(tab, page, point, other):
    count = grounded(page.session)
    click(tab, at(tab, point))
    tab.wait_for_timeout(150)
    click(tab, at(tab, other))
    until(page.session, lambda now: grounded(page.session) == count + 1 and not now.moving)
    tab.wait_for_timeout(300)


def six_bar(tab, page):
    """Build a six-bar by clicks, driven at its crank."""
    press(tab, "1")  # from the front
    press(tab, "r")
    for begin, end in ((A, B), (B, C), (C, D), (C, E), (E, F)):
        rod(tab, page, begin, end)
    press(tab, "h")
    for point in (A, D, F):
        hinge(tab, page, point, (point[0], 0.0, -0.15))
    assert bc.info(page.session.editor.mechanism.copy()).freedom == 1
    press(tab, "m")
    click(tab, at(tab, A))
    until(page.session, lambda now: len(now.mechanism.drives) == 1)


def saved(tab, name, button):
    press(tab, "Control+s")
    tab.get_by_label("Name", exact=True).last.fill(name)
    tab.get_by_text(button).click()


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_six_bar_is_built_traced_tuned_saved_and_recorded(browser, tmp_path, size):
    with view(bc.Mechanism("bench", gravity=(0.0, 0.0, 0.0)), port=0, folder=tmp_path) as page:
        session, tab = page.session, visit(browser, page, size)
        six_bar(tab, page)
        press(tab, "t")
        click(tab, at(tab, (0.25, 0.0, 0.3)))
        wait_for(tab, lambda: len(hook(tab, "bellcrank.traces")) == 1)
        press(tab, "Escape")
        press(tab, "Escape")
        press(tab, "Space")
        until(session, lambda now: now.time > 1.0, 60.0)
        press(tab, "Space")
        wait_for(tab, lambda: hook(tab, "bellcrank.traces")[0]["count"] > 10)
        assert outside(tab) == []

        body = session.snapshot.bodies[1]
        click(tab, on(tab, body, (0.1, 0.0, 0.0)))
        wait_for(tab, lambda: [one["name"] for one in hook(tab, "bellcrank.selection")] == [body])
        past = session.snapshot.past
        fill(tab, "mass", "0.5")
        until(session, lambda now: session.editor.mechanism.bodies[body].mass == 0.5)
        assert session.snapshot.past == past

        saved(tab, "six-bar", "Save the mechanism")
        wait_for(tab, (tmp_path / "six-bar.yaml").exists)
        saved(tab, "six-bar", "Record a page")
        wait_for(tab, (tmp_path / "six-bar.html").exists)
        kept = bc.load(tmp_path / "six-bar.yaml")
        session.do("remove", name=body)
        press(tab, "Control+o")
        tab.get_by_role("button", name="six-bar.yaml").click()
        until(session, lambda now: len(now.bodies) == 5, 30.0)
        assert list(session.editor.mechanism.bodies) == list(kept.bodies)
        sound(tab)
        tab.close()
    context = browser.new_context(offline=True, viewport={"width": size[0], "height": size[1]})
    played = context.new_page()
    watch(played)
    played.goto((tmp_path / "six-bar.html").as_uri())
    ready(played)
    press(played, "Space")
    wait_for(played, lambda: hook(played, "bellcrank.time") > 0.3)
    assert seen(played).std() > 5.0  # a mechanism, not a blank page
    sound(played)
    context.close()


def test_an_end_is_dragged_and_the_mechanism_follows(browser):
    with bc.gallery.four_bar().view(port=0) as page:
        tab, session = visit(browser, page, SIZES[0]), page.session
        press(tab, "1")
        click(tab, on(tab, "coupler"))
        wait_for(tab, lambda: [one["name"] for one in hook(tab, "bellcrank.selection")] == ["coupler"])
        tab.wait_for_timeout(300)
        before = session.editor.mechanism.joints["rocker pin"].marker_1.position
        drag(tab, on(tab, "coupler", before), (24.0, -18.0), 12, 60)
        tab.mouse.up()
        moved = lambda: session.editor.mechanism.joints["rocker pin"].marker_1.position  # noqa: E731
        wait_for(tab, lambda: np.linalg.norm(np.subtract(moved(), before)) > 5e-3)
        tab.wait_for_timeout(500)
        assert session.snapshot.status == "paused"
        bc.assemble(session.editor.mechanism.copy())
        assert session.snapshot.log[-1].line.startswith(("reshape", "assemble"))
        press(tab, "Control+z")
        wait_for(tab, lambda: np.allclose(moved(), before))
        sound(tab)
        tab.close()


def test_two_browsers_see_the_same_and_one_may_go(browser, shown):
    page, tab = shown
    other = visit(browser, page)
    page.session.do("step", count=137)
    for one in (tab, other):
        wait_for(one, lambda one=one: hook(one, "bellcrank.time") == pytest.approx(0.137))
    other.close()
    page.session.do("step")
    wait_for(tab, lambda: hook(tab, "bellcrank.time") == pytest.approx(0.138))


def test_contacts_are_seen_where_the_switch_shows_them(browser):
    mech = bc.Mechanism("box on a table")
    mech.replace(mech.ground, shapes=[bc.Plane(size=0.5)])
    mech.add_body("box", position=(0, 0, 0.1), shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=500.0)])
    mech.add_force("table", bc.Contact(1e5, friction=0.4), "box", "ground")
    with mech.view(port=0) as page:
        tab = visit(browser, page)
        page.session.do("step", count=500)
        tab.wait_for_timeout(1000)

        def marked():
            red, green, blue = np.moveaxis(seen(tab), -1, 0)
            return int(np.sum((red > green + 90) & (blue > green + 30)))

        assert marked() == 0
        tab.get_by_label("What is shown").click()
        tab.get_by_text("Contacts", exact=True).click()
        press(tab, "Escape")
        wait_for(tab, lambda: marked() > 10)
        sound(tab)
        tab.close()


def test_plates_that_cross_in_one_plane_do_not_flicker(browser):
    mech = bc.Mechanism("plates", gravity=(0.0, 0.0, 0.0))
    for number, (color, half) in enumerate((("red", 0.0), ("blue", 0.35), ("green", 0.75))):
        plate = bc.Box(size=(1.0, 0.1, 0.2), density=100.0, color=color)
        turn = (np.cos(half), 0.0, np.sin(half), 0.0)
        mech.add_body(f"plate {number}", position=(0.02 * number, 0.0, 0.0), rotation=turn, shapes=[plate])
    with mech.view(port=0) as page:
        tab = visit(browser, page)
        tab.wait_for_timeout(1000)
        picture = seen(tab)
        vivid = np.ptp(picture, axis=-1) > 100
        colors = np.where(vivid, np.argmax(picture, axis=-1) + 1, 0)
        middle, left, right = colors[:, 1:-1], colors[:, :-2], colors[:, 2:]
        strays = (middle != left) & (middle != right) & (middle > 0) & (left > 0) & (right > 0)
        assert vivid.sum() > 5000
        assert strays.sum() < 10
        sound(tab)
        tab.close()


def test_a_recorded_run_is_played_without_tools(browser):
    with bc.simulate(bc.gallery.four_bar(), 0.5).view(port=0) as page:
        tab = visit(browser, page)
        assert tab.get_by_role("navigation", name="Tools").get_by_label("Motor on a joint").count() == 0
        press(tab, "Space")
        wait_for(tab, lambda: hook(tab, "bellcrank.time") == pytest.approx(0.5))
        sound(tab)
        tab.close()


def test_a_recording_obeys_its_own_policy(browser, tmp_path):
    mechanism = bc.gallery.four_bar()
    file = tmp_path / "run.html"
    file.write_text(recording(scene.of(mechanism), bc.simulate(mechanism, 0.5)), encoding="utf-8")
    context = browser.new_context(offline=True)
    tab = context.new_page()
    watch(tab)
    tab.goto(file.as_uri())
    ready(tab)
    sound(tab)
    context.close()


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_foreign_pages_can_neither_read_nor_steer_it(browser, shown):
    """A page of another port: what it fetches is refused, its WebSocket is not opened, it shows no frame."""
    page, _ = shown
    url = page.url
    text = f"""<script>
        window.found = {{}};
        fetch({url!r}).then(() => found.fetch = 'read').catch(() => found.fetch = 'refused');
        const line = new WebSocket({url.replace("http", "ws") + "ws"!r});
        line.onopen = () => found.line = 'open'; line.onerror = () => found.line = 'refused';
    </script>""".encode()

    class Foreign(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tab = browser.new_page()
    tab.goto(f"http://127.0.0.1:{server.server_port}/")
    wait_for(tab, lambda: len(tab.evaluate("() => window.found")) == 2)
    assert tab.evaluate("() => window.found") == {"fetch": "refused", "line": "refused"}
    tab.close()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("token", [None, "s3cret"])
def test_a_notebook_of_this_machine_shows_it_in_a_frame(browser, token):
    with bc.gallery.four_bar().view(port=0, token=token) as page:
        text = f"<!doctype html><body>{page._repr_html_()}</body>".encode()

        class Notebook(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Notebook)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab = browser.new_page()
        tab.goto(f"http://localhost:{server.server_port}/")
        frame = next(one for one in tab.frames if one.url.startswith("http://localhost") and one.parent_frame)
        wait_for(tab, lambda: frame.evaluate("(window.bellcrank?.frame ?? -1) >= 0"))
        tab.close()
        server.shutdown()
        server.server_close()


def test_a_script_is_done_by_buttons_and_the_log_is_one(browser, tmp_path):
    with view(bc.Mechanism("bench", gravity=(0.0, 0.0, -9.81)), port=0, folder=tmp_path) as page:
        tab, session = visit(browser, page, SIZES[0]), page.session
        tab.get_by_role("tab", name="Script").click()
        tab.get_by_label("Script").fill(
            "# Build\nbody ball mass=1 inertia=[1, 1, 1]\n# Fall\nrun 0.5\nno such line\n"
        )
        tab.get_by_role("button", name="Build").click()
        until(session, lambda now: now.bodies == ("ball",))
        tab.get_by_role("button", name="Fall").click()
        tab.get_by_text("Line 5:").wait_for(timeout=20_000)
        until(session, lambda now: now.time == pytest.approx(0.5))
        tab.get_by_role("button", name="From the log").click()
        assert tab.get_by_label("Script").input_value().splitlines() == [
            "# Replay", "body ball mass=1 inertia=[1, 1, 1]", "run 0.5"
        ]  # fmt: skip
        tab.get_by_role("tab", name="Commands").click()
        assert tab.locator(".log .by").first.inner_text().strip().count(":") == 2
        assert outside(tab) == []
        sound(tab)
        tab.close()


def test_a_link_brings_a_mechanism_that_one_is_asked_about(browser):
    context = browser.new_context(viewport={"width": 900, "height": 600})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    with bc.gallery.four_bar().view(port=0) as page:
        tab = context.new_page()
        watch(tab)
        tab.goto(page.url)
        ready(tab)
        press(tab, "Control+s")
        tab.get_by_role("button", name="Copy a link").click()
        tab.get_by_text("The link is in the clipboard").wait_for()
        link = tab.evaluate("() => navigator.clipboard.readText()")
        assert link.startswith(f"{page.url}#mechanism=")
        page.session.do("execute", line="new")
        tab.goto("about:blank")
        tab.goto(link)
        ready(tab)
        dialog = tab.get_by_role("dialog")
        dialog.get_by_text("“four-bar”, 3 bodies, 4 joints").wait_for()
        assert "#" not in tab.url
        assert page.session.snapshot.bodies == ()  # nothing is done before one has said so
        dialog.get_by_role("button", name="Open it").click()
        until(page.session, lambda now: len(now.bodies) == 3)
        tab.evaluate("() => { location.hash = '#mechanism=' + 'A'.repeat(200000); }")
        tab.get_by_text("The link brings no mechanism: it is too large").wait_for()
        sound(tab)
        context.close()


def test_a_controller_turns_the_view_plays_and_jogs(browser):
    with bc.gallery.double_pendulum().view(port=0) as page:
        tab = visit(browser, page)
        tab.evaluate(
            """() => {
                const at = (value) => ({ pressed: value > 0.5, touched: false, value });
                const buttons = Array.from({ length: 17 }, () => at(0));
                window.pad = { axes: [0, 0, 0, 0], buttons, mapping: "standard" };
                navigator.getGamepads = () => [window.pad, null];
                window.dispatchEvent(new Event("gamepadconnected"));
            }"""
        )
        before = hook(tab, "bellcrank.camera")
        tab.evaluate("() => { pad.axes = [0, 0, 1, 0]; }")
        wait_for(tab, lambda: hook(tab, "bellcrank.camera")["eye"] != before["eye"])
        tab.evaluate("() => { pad.axes = [0, 0, 0, 0]; }")
        assert hook(tab, "bellcrank.camera")["target"] == pytest.approx(before["target"])
        tab.evaluate("() => { pad.buttons[0] = { pressed: true, value: 1 }; }")
        until(page.session, lambda now: now.status == "playing")
        tab.evaluate("() => { pad.buttons[0] = { pressed: false, value: 0 }; }")
        tab.get_by_role("tab", name="Jog").click()
        tab.evaluate("() => { pad.axes = [1, 0, 0, 0]; }")
        until(page.session, lambda now: now.jogged)
        sound(tab)
        tab.close()


def test_joints_that_cannot_all_fit_are_marked_with_their_gaps(browser, tmp_path):
    mech, axis = bc.Mechanism("apart", gravity=(0.0, 0.0, 0.0)), (0.0, 1.0, 0.0)
    rod = mech.add_body("rod", 1.0, (1.0, 1.0, 1.0))
    mech.add_joint("near", bc.Revolute(), mech.ground.marker(axis=axis), rod.marker(axis=axis))
    far = mech.ground.marker((1.0, 0.0, 0.0), axis=axis)
    mech.add_joint("far", bc.Revolute(), rod.marker((0.5, 0.0, 0.0), axis=axis), far)
    bc.save(mech, tmp_path / "apart.yaml")
    with view(bc.Mechanism("bench"), port=0, folder=tmp_path) as page:
        tab = visit(browser, page)
        page.session.do("open_file", file="apart.yaml")
        for name in ("near", "far"):
            tab.get_by_text(f"{name}: 250 mm apart").wait_for(timeout=20_000)
        tab.get_by_text("shown where they come closest").first.wait_for()

        def red():
            picture = seen(tab)
            return int(
                np.sum((picture[..., 0] > picture[..., 1] + 100) & (picture[..., 0] > picture[..., 2] + 90))
            )

        wait_for(tab, lambda: red() > 20, "no joint is red")
        assert outside(tab) == []
        sound(tab)
        tab.close()


def test_a_browser_without_webgl_says_so_and_everything_else_works(browser):
    with bc.gallery.four_bar().view(port=0) as page:
        tab = browser.new_page(viewport={"width": 900, "height": 600})
        tab.add_init_script(
            """(() => {
                const get = HTMLCanvasElement.prototype.getContext;
                HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
                    return kind.startsWith("webgl") ? null : get.call(this, kind, ...more);
                };
            })()"""
        )
        tab.goto(page.url)
        tab.get_by_text("WebGL 2 is missing or switched off").wait_for(timeout=20_000)
        tab.get_by_text("coupler", exact=True).click()
        tab.keyboard.press("Space")
        until(page.session, lambda now: now.status == "playing")
        tab.get_by_text("kinetic energy").first.wait_for(timeout=20_000)
        tab.close()
