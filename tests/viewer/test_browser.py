"""The page in headless Chromium: seen, dragged, built by clicks, the guides' scenarios, foreign pages."""

import functools
import http.server
import io
import threading
import time
from importlib.metadata import version

import imageio.v3 as images
import numpy as np
import pytest
from rigs.chromium import (
    COARSE,
    NEEDS_A_BROWSER,
    click,
    client_of,
    field,
    fill,
    pixel,
    press,
    settled,
    visit,
    wait_for,
)
from rigs.live import COUPLER, CRANK, GROUND, ROCKER, place, until

import bellcrank as bc
from bellcrank import scene
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer.pieces import PALETTE

pytestmark = NEEDS_A_BROWSER


@pytest.fixture(scope="module")
def shown(browser):
    """The page of a double pendulum that hangs, and a browser that has loaded it."""
    mechanism = bc.gallery.double_pendulum()
    with mechanism.view(port=0) as page:
        tab = visit(browser, page)
        yield page, tab
        tab.close()


def seen(tab):
    """What a window shows, (height, width, 3), red, green, blue."""
    return images.imread(io.BytesIO(tab.screenshot(timeout=120_000)))[..., :3].astype(int)


def middle(page, body):
    """A point in the midst of a body, in the world."""
    now, number = page.session.snapshot, page.session.snapshot.bodies.index(body)
    local = page.stage._middle(number)
    return now.position[number] + rotate(now.rotation[number], local)


def test_the_clock_is_run_by_buttons(shown):
    page, tab = shown
    press(tab, "Play")
    until(page.session, lambda now: now.status == "playing" and now.time > 0.2)
    press(tab, "Pause")
    stood = until(page.session, lambda now: now.status == "paused")
    press(tab, "Step")
    until(page.session, lambda now: now.time == pytest.approx(stood.time + 1e-3))
    press(tab, "Reset")
    until(page.session, lambda now: now.time == 0.0)
    assert tab.foreign == [] or all(url.startswith(("data:", "blob:")) for url in tab.foreign)


def test_a_body_follows_the_mouse_and_is_let_go(shown):
    page, tab = shown
    page.session.do("reset")
    page.session.do("speed", value=1.0)
    settled(page, tab)
    body = page.session.snapshot.bodies[-1]
    x, y = pixel(page, middle(page, body))
    page.session.do("play")
    page.session.do("speed", value=1e-4)  # it stands, as good as, until it is held
    tab.mouse.move(x, y)
    tab.mouse.down()
    for k in range(1, 6):
        tab.mouse.move(x + 12 * k, y - 6 * k)
        tab.wait_for_timeout(150)
    held = until(page.session, lambda now: body in now.holds, 60.0)
    target = np.asarray(held.holds[body].target)
    tx, ty = pixel(page, target)
    assert tx > x + 3
    assert ty < y - 1
    page.session.do("speed", value=1.0)
    begun = np.linalg.norm(middle(page, body) - target)
    until(page.session, lambda now: np.linalg.norm(middle(page, body) - target) < 0.7 * begun, 60.0)
    tab.mouse.up()
    until(page.session, lambda now: not now.holds, 60.0)
    page.session.do("pause")


def test_what_is_clicked_is_inspected(shown):
    page, tab = shown
    page.session.do("reset")
    settled(page, tab)
    body = page.session.snapshot.bodies[0]
    tab.mouse.click(*pixel(page, middle(page, body)))
    end = time.monotonic() + 60.0
    while page.selected.name != body and time.monotonic() < end:
        tab.wait_for_timeout(200)
    assert (page.selected.kind, page.selected.name) == ("body", body)


def test_the_name_under_the_pointer_is_shown_beside_it(shown):
    page, tab = shown
    page.session.do("reset")
    settled(page, tab)
    tip = tab.locator("#bellcrank-name")
    for body in page.session.snapshot.bodies:
        x, y = pixel(page, middle(page, body))
        tab.mouse.move(x, y - 3)
        tab.mouse.move(x, y)
        tip.filter(has_text=body).wait_for(timeout=30_000)
        box = tip.bounding_box()
        assert 0 < box["x"] - x < 40
        assert 0 < box["y"] - y < 40
    tab.mouse.move(30, 600)  # on nothing
    tip.wait_for(state="hidden", timeout=30_000)


def test_two_browsers_see_the_same_and_one_may_go(browser, shown):
    page, tab = shown
    page.session.do("rewind", time=0.0)
    other = visit(browser, page)
    page.session.do("step", count=137)
    for one in (tab, other):
        one.get_by_text("t = 0.137 s").first.wait_for(timeout=60_000)
    other.close()
    page.session.do("step")
    tab.get_by_text("t = 0.138 s").first.wait_for(timeout=60_000)


def test_a_recording_plays_from_a_file_without_a_network(browser, tmp_path):
    from bellcrank.viewer.page.keeping import recording

    mechanism = bc.gallery.four_bar()
    file = tmp_path / "run.html"
    file.write_text(recording(scene.of(mechanism), bc.simulate(mechanism, 0.5)), encoding="utf-8")
    window = {"width": 700, "height": 500}
    context = browser.new_context(offline=True, viewport=window, device_scale_factor=COARSE)
    tab, foreign, errors = context.new_page(), [], []
    tab.on(
        "request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else foreign.append(r.url)
    )
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(file.as_uri())
    tab.locator("canvas").last.wait_for(timeout=90_000)
    wait_for(tab, lambda: seen(tab).std() > 5.0)  # a mechanism, not a blank page
    assert foreign == []
    assert errors == []
    context.close()


def test_the_hand_is_jogged_by_keys_and_buttons_and_torques_are_plotted(browser):
    from bellcrank.gallery.prosthetic_tasks import demonstration

    with demonstration().view(port=0) as page:
        tab = visit(browser, page)
        tab.get_by_text("Jog", exact=True).first.click()
        body = page.session.snapshot.bodies.index("hand")
        begin = page.session.snapshot.position[body].copy()
        page.session.do("speed", value=0.2)  # so that a slow machine keeps up
        end = time.monotonic() + 90.0
        while page.session.snapshot.position[body][2] < begin[2] + 0.01:
            assert time.monotonic() < end, page.session.snapshot
            tab.keyboard.press("PageUp")
            tab.wait_for_timeout(50)
        high = page.session.snapshot.position[body].copy()
        assert np.abs(high[:2] - begin[:2]).max() < 2e-3
        until(page.session, lambda _: page.plots.chosen[0].startswith("drive."), 60.0)
        assert [name.split(".")[1] for name in page.plots.chosen] == ["front motor", "rear motor"]
        button = tab.get_by_role("button", name="lower", exact=True).first
        button.scroll_into_view_if_needed()
        button.hover()
        tab.mouse.down()
        until(page.session, lambda now: now.position[body][2] < high[2] - 0.005, 90.0)
        tab.mouse.up()
        until(page.session, lambda now: np.abs(now.frame[now.layout.columns["velocity"]]).max() < 1e-3, 90.0)
        tab.close()


def test_contacts_are_seen_where_the_switch_shows_them(browser):
    mech = bc.Mechanism("box on a table")
    mech.replace(mech.ground, shapes=[bc.Plane(size=0.5)])
    mech.add_body("box", position=(0, 0, 0.1), shapes=[bc.Box(size=(0.2, 0.2, 0.2), density=500.0)])
    mech.add_force("table", bc.Contact(1e5, friction=0.4), "box", "ground")
    with mech.view(port=0) as page:
        tab = visit(browser, page)
        page.session.do("step", count=500)

        def marked():
            red, green, blue = np.moveaxis(seen(tab), -1, 0)
            return int(np.sum((red > green + 90) & (blue > green + 30)))

        assert marked() == 0
        page._contacts.value = True
        wait_for(tab, lambda: marked() > 10)
        page._contacts.value = False
        wait_for(tab, lambda: marked() == 0)
        tab.close()


def add_rod(page, tab, name, length):
    """Add a rod by the palette."""
    fill(page, tab, "Length [m]", length)
    fill(page, tab, "Width [m]", 0.04)
    fill(page, tab, "Name", name)
    press(tab, "Add")
    until(page.session, lambda now: name in now.bodies, 60.0)


def joined(page, count):
    until(page.session, lambda now: len(now.mechanism.joints) == count, 60.0)


def test_a_notice_over_the_stage_lets_clicks_pass_but_for_its_button(bench):
    page, tab = bench
    add_rod(page, tab, "rod", 1.0)
    press(tab, "Click two points")
    settled(page, tab)
    tab.mouse.click(40, 600)  # on nothing
    notice = tab.locator(".mantine-Notification-root").filter(has_text="there is nothing there")
    notice.wait_for(timeout=30_000)
    under = """notice => {
        const box = notice.getBoundingClientRect();
        return document.elementFromPoint(box.x + 60, box.y + box.height / 2)?.tagName;
    }"""
    wait_for(tab, lambda: notice.evaluate(under) == "CANVAS")  # once it has slid in
    notice.locator("button").click()
    notice.wait_for(state="detached", timeout=30_000)


def test_a_four_bar_is_built_by_clicks_from_nothing(bench, tmp_path):
    page, tab = bench
    session = page.session
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        add_rod(page, tab, name, length)
    press(tab, "Click two points")
    click(page, tab, "crank.start")
    press(tab, "First point to the ground")
    joined(page, 1)
    click(page, tab, "crank.end")
    click(page, tab, "coupler.start")
    joined(page, 2)
    assert np.allclose(place(session, "crank.end"), place(session, "coupler.start"), atol=1e-9)

    tab.mouse.click(40, 600)  # on nothing
    tab.get_by_text("there is nothing there").first.wait_for(timeout=30_000)
    assert len(session.snapshot.mechanism.joints) == 2

    click(page, tab, "coupler.end")
    click(page, tab, "rocker.start")
    joined(page, 3)
    fixed = place(session, "crank.start")
    other = np.add(fixed, (GROUND, 0.0, 0.0))
    session.do(
        "join", kind="Revolute", first={"body": "ground", "point": other.tolist()},
        second={"marker": "rocker.end"},
    )  # fmt: skip
    press(tab, "Stop joining")
    assert bc.info(session.editor.mechanism.copy()).freedom == 1

    settled(page, tab)
    field(tab, "Element").click()
    tab.get_by_role("option", name="joint revolute1", exact=True).click()
    press(tab, "Drive the joint")
    until(session, lambda now: len(now.mechanism.drives) == 1, 30.0)
    press(tab, "Play")
    until(session, lambda now: now.time > 0.5, 60.0)
    press(tab, "Pause")
    until(session, lambda now: now.status == "paused")
    assert np.linalg.norm(place(session, "coupler.end") - place(session, "crank.end")) == pytest.approx(
        COUPLER
    )
    assert np.allclose(place(session, "rocker.end"), other, atol=1e-9)

    built = session.editor.mechanism.copy()
    press(tab, "Undo")
    until(session, lambda now: not now.mechanism.drives, 30.0)
    press(tab, "Redo")
    until(session, lambda now: len(now.mechanism.drives) == 1, 30.0)
    assert session.editor.mechanism == built
    tab.get_by_text("File and commands").first.click()
    fill(page, tab, "File", "four_bar.yaml")
    press(tab, "Save")
    tab.get_by_text("written: four_bar.yaml").first.wait_for(timeout=30_000)
    assert bc.load(tmp_path / "four_bar.yaml") == built
    press(tab, "Open")
    until(session, lambda now: now.time == 0.0, 30.0)
    assert session.editor.mechanism == built


@pytest.fixture
def unfolded(bench):
    """The bench with its command line unfolded."""
    bench[1].get_by_text("File and commands").first.click()
    return bench


def chosen(tab, label, option):
    """Choose from a list."""
    field(tab, label).click()
    tab.get_by_role("option", name=option, exact=True).click()
    tab.wait_for_timeout(500)


def add(page, tab, kind, name, mass, **sizes):
    """Add a body by the palette."""
    if page.building._kind.value != kind:
        chosen(tab, "Kind", kind)
        for label, usual in PALETTE[kind].sizes.items():
            one = field(tab, f"{label.capitalize()} [m]")
            wait_for(tab, lambda one=one, usual=usual: one.is_visible() and float(one.input_value()) == usual)
    for label, value in sizes.items():
        fill(page, tab, f"{label} [m]", value)
    fill(page, tab, "Mass [kg]", mass)
    fill(page, tab, "Name", name)
    press(tab, "Add")
    until(page.session, lambda now: name in now.bodies, 60.0)


def typed(page, tab, *lines):
    """Type command lines on the page."""
    for line in lines:
        before = page.session.snapshot.log[-1].number if page.session.snapshot.log else 0
        fill(page, tab, "Command", line)
        press(tab, "Do it")
        now = until(
            page.session, lambda now, before=before: bool(now.log) and now.log[-1].number > before, 60.0
        )
        assert now.log[-1].ok, now.log[-1]


def height(page, body):
    now = page.session.snapshot
    return float(now.position[now.bodies.index(body)][2])


def test_strings_are_clicked_and_hold_a_plate(unfolded):
    page, tab = unfolded
    session = page.session
    add(page, tab, "rod", "beam", 1.0, Length=1.2, Width=0.04)
    typed(page, tab, "sb beam -t 0 0 1")
    add(page, tab, "plate", "plate", 2.0, Length=0.8, Depth=0.8, Thickness=0.03)
    typed(page, tab, "sb plate -t 0 0 0.4")
    chosen(tab, "Element", "body beam")
    press(tab, "Nail")
    until(session, lambda now: len(now.mechanism.joints) == 1, 30.0)
    chosen(tab, "By", "string")
    fill(page, tab, "Stiffness [N/m]", 400.0)
    press(tab, "Click two points")
    names = [name.split(".")[1] for name in session.snapshot.mechanism.markers if name.startswith("plate.")]
    sides = sorted(names, key=lambda name: place(session, f"plate.{name}")[0])
    for count, (one, two) in enumerate((("start", sides[0]), ("end", sides[-1])), start=1):
        click(page, tab, f"beam.{one}")
        click(page, tab, f"plate.{two}")
        until(session, lambda now, count=count: len(now.mechanism.forces) == count, 60.0)
    press(tab, "Stop joining")
    typed(page, tab, "force air BodyDamping plate damping=4 rotational_damping=0.4", "gravity 0 0 -9.81")
    press(tab, "Play")
    until(session, lambda now: now.time > 6.0, 120.0)
    press(tab, "Pause")
    until(session, lambda now: now.status == "paused")
    assert height(page, "beam") == pytest.approx(1.0, abs=1e-9)
    run = session.window(0.0, 1)
    tensions = [
        abs(float(np.ravel(run.force(name).effort)[-1]))
        for name in session.snapshot.mechanism.forces
        if name != "air"
    ]
    assert sum(tensions) > 0.9 * 2.0 * 9.81  # they carry it


def test_an_arm_is_clicked_together_and_reaches_for_its_tool(unfolded):
    """The engineer of guide 15: the tool is out of reach until the slider moves the shoulder."""
    page, tab = unfolded
    session = page.session
    tool = (1.05, 0.0, 0.75)
    add(page, tab, "rod", "upper", 3.0, Length=0.5, Width=0.05)
    typed(page, tab, "sb upper -t 0 0 1")
    add(page, tab, "rod", "fore", 2.0, Length=0.4, Width=0.04)
    typed(page, tab, "sb fore -t 0.6 0 1.2")
    add(page, tab, "box", "tool", 1.5, Length=0.08, Depth=0.08, Height=0.16)
    typed(page, tab, "sb tool -t {} {} {}".format(*tool))
    chosen(tab, "Element", "body tool")
    press(tab, "Nail")
    until(session, lambda now: len(now.mechanism.joints) == 1, 30.0)
    ground = "{body: ground, position: [shoulder_x, 0, 1.2], axis: [0, 1, 0]}"
    typed(
        page, tab, "parameter shoulder_x 0 unit=m low=-0.6 high=0.6",
        f"joint shoulder Revolute {ground} {{body: upper, position: [-0.25, 0, 0], axis: [0, 1, 0]}}",
    )  # fmt: skip
    press(tab, "Click two points")
    click(page, tab, "upper.end")
    click(page, tab, "fore.start")
    until(session, lambda now: "revolute1" in now.mechanism.joints, 60.0)
    press(tab, "Stop joining")

    def missing():
        drag(page, tab, "fore.end", tool)
        return np.linalg.norm(place(session, "fore.end") - tool)

    assert missing() == pytest.approx(np.hypot(1.05, 0.45) - 0.9, abs=0.02)
    slider = tab.locator("xpath=//label[normalize-space()='shoulder_x']/ancestor::div[3]//input").last
    slider.fill("0.396")  # a step of the slider
    tab.keyboard.press("Tab")
    until(session, lambda now: now.parameters["shoulder_x"] == pytest.approx(0.396), 30.0)
    assert missing() < 0.02


def drag(page, tab, marker, to):
    """Drag a point of a body by the mouse while time stands."""
    settled(page, tab)
    begin, end = np.array(pixel(page, place(page.session, marker))), np.array(pixel(page, to))
    tab.mouse.move(*begin)
    tab.mouse.down()
    tab.wait_for_timeout(300)
    for part in np.linspace(0.0, 1.0, 12)[1:]:
        tab.mouse.move(*(begin + part * (end - begin)))
        tab.wait_for_timeout(100)
    tab.wait_for_timeout(2000)
    tab.mouse.up()
    settled(page, tab)


def test_cans_are_clicked_together_and_bounce_behind_the_car(unfolded):
    """The animator of guide 16, with one can."""
    page, tab = unfolded
    session = page.session
    add(page, tab, "box", "car", 100.0, Length=0.6, Depth=0.4, Height=0.3)
    typed(page, tab, "sb car -t 0 0 0.4")
    add(page, tab, "rod", "wire", 0.02, Length=0.3, Width=0.02)
    typed(page, tab, "sb wire -t -0.5 0.1 0.35")
    add(page, tab, "rod", "can", 0.1, Length=0.16, Width=0.11)
    typed(page, tab, "sb can -t -0.9 -0.1 0.2")
    page.stage.look(client_of(page).camera, "top")  # no body hides a point of another
    chosen(tab, "By", "Spherical")
    press(tab, "Click two points")
    for count, (one, two) in enumerate((("car.left", "wire.end"), ("wire.start", "can.end")), start=1):
        click(page, tab, one)
        click(page, tab, two)
        until(session, lambda now, count=count: len(now.mechanism.joints) == count, 60.0)
        assert place(session, one) == pytest.approx(place(session, two), abs=1e-6)
    press(tab, "Stop joining")
    x = "3*(t - 1 + exp(-t))"
    curve = f'["{x}", "0.3*sin({x})", 0.4]'
    typed(page, tab, f"drive path marker=car path={{curve: {curve}}} orientation=[0, 0, 0]")
    for end in ("start", "end"):
        typed(page, tab, f"force road.{end} SupportPoint can.{end} stiffness=900 damping=1.5 height=0.055")
    typed(page, tab, "force scraping BodyDamping can damping=0.03 rotational_damping=2e-4")
    tab.get_by_label("Gravity").first.check()
    until(session, lambda now: any(now.mechanism.gravity), 30.0)
    press(tab, "Play")
    until(session, lambda now: now.time > 2.0 or now.status == "failed", 120.0)
    press(tab, "Pause")
    now = until(session, lambda now: now.status != "playing")
    assert now.status == "paused", now.message
    run = session.trajectory
    length = np.linalg.norm(place(session, "car.left") - place(session, "can.end"))
    assert length == pytest.approx(0.3, abs=1e-6)  # the wire holds it
    assert 3.0 < run.body("can").position[-1, 0] < run.body("car").position[-1, 0] - 0.2
    assert np.ptp(run.body("can").position[:, 2]) > 0.01  # it bounces


LINE = """([url, protocol]) => new Promise(done => {
    const line = new WebSocket(url, protocol);
    line.onopen = () => done("open");
    line.onerror = () => done("refused");
})"""
FRAME = """url => new Promise(done => {
    const frame = document.createElement("iframe");
    frame.src = url;
    frame.onload = () => done();
    document.body.append(frame);
})"""


def opened(browser, address):
    """A tab at a page of this address."""
    tab = browser.new_page(device_scale_factor=COARSE)
    tab.route(f"{address}/**", lambda route: route.fulfill(body="<body>elsewhere", content_type="text/html"))
    tab.goto(f"{address}/")
    return tab


@pytest.mark.parametrize("address", ["http://evil.example", "http://127.0.0.1.evil.example"])
def test_a_foreign_page_gets_no_line_no_answer_and_no_frame(browser, address):
    with bc.gallery.double_pendulum().view(port=0) as page:
        tab = opened(browser, address)
        protocol = f"viser-v{version('viser')}"
        for host in ("localhost", "127.0.0.1"):
            url = page.url.replace("localhost", host)
            assert tab.evaluate(LINE, [url.replace("http", "ws"), protocol]) == "refused"
            reads = "url => fetch(url).then(found => found.text(), () => 'refused')"
            assert tab.evaluate(reads, f"{url}bellcrank/name?client=0") == "refused"
            tab.evaluate(FRAME, url)
        assert not page.server._websock_server._live_connections
        tab.close()


def test_notebooks_of_this_machine_show_it_in_a_frame(browser, tmp_path):
    (tmp_path / "index.html").write_text("<body>a notebook")
    serve = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as notebook,
        bc.gallery.double_pendulum().view(port=0) as page,
    ):
        threading.Thread(target=notebook.serve_forever, daemon=True).start()
        tab = browser.new_page(device_scale_factor=COARSE)
        tab.goto(f"http://127.0.0.1:{notebook.server_port}/")
        tab.evaluate("html => document.body.innerHTML = html", page._repr_html_())
        tab.frame_locator("iframe").get_by_text("Play", exact=True).first.wait_for(timeout=120_000)
        assert len(page.server._websock_server._live_connections) == 1
        tab.close()
        notebook.shutdown()


def test_a_page_with_a_token_opens_by_its_address_alone(browser):
    with bc.gallery.double_pendulum().view(port=0, token="a b/c=d") as page:
        tab = browser.new_page(device_scale_factor=COARSE)
        assert tab.goto(page.url.partition("?")[0]).status == 403
        tab.close()
        tab = visit(browser, page)
        assert "token" not in tab.url
        tab.close()
