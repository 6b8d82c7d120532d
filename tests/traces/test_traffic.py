"""Traffic beside the Web model: what its names promise, and the same from the same seed."""

import numpy as np

from tests.tables import cases_of, each, near
from traces.traffic import APPS, KINDS, Wishes, draw, make, push_messages

QUICK = "game", "voice"  # of which a minute has much


def rng(seed=0):
    return np.random.default_rng(seed)


@each("kind", KINDS)
def test_the_same_generator_gives_the_same_traffic_of_one_server_a_page(kind):
    first, second, other = (draw(kind, 60.0 if kind in QUICK else 800.0, rng(seed)) for seed in (1, 1, 2))
    said = [repr((*one[:2], *map(np.ndarray.tolist, one[2:4]), one.messages)) for one in (first, second, other)]
    assert said[0] == said[1] != said[2]
    assert len(first.pages) == len(first.servers) == len(first.deadlines_s) == len(first.viewings)
    assert first.pages or first.messages
    assert first.messages == sorted(first.messages)
    assert ((first.viewings >= 0) == ~np.isnan(first.deadlines_s)).all()


def test_memoryless_gaps_are_exponential_and_bursts_are_not():
    spreads = []
    for bursty in (False, True):
        gaps = np.diff([message.at_s for message in push_messages(100_000.0, rng(), bursty=bursty)])
        spreads.append(gaps.std() / gaps.mean())  # 1 for an exponential
    assert spreads[0] == near(1.0, abs=0.06)
    assert spreads[1] > 2.0
    assert np.mean(gaps < 1.0) == near(5 / 6 * (1 - np.exp(-1 / 0.3)), abs=0.03)


@each("kind", APPS)
def test_a_program_fills_its_time_with_the_sizes_and_waits_of_its_row(kind):
    app, whole_s = APPS[kind], 300.0 if kind in QUICK else 3000.0
    found = draw(kind, whole_s, rng(4))
    assert (bool(found.pages), bool(found.messages)) == (bool(app.pause_s), app.messages is not None)
    assert all(len(page.waits_s) == 1 + len(page.objects) for page in found.pages)
    for page in found.pages if not app.web else ():
        sizes = np.array([(page.request_bytes, page.reply_bytes), *page.objects])
        for column, (least, most) in zip(sizes.T, (app.request_bytes, app.reply_bytes), strict=True):
            assert least <= column.min() <= column.max() <= most
    if app.pause_s:
        lasts_s = found.pages[-1].issue_s or sum(page.think_s + sum(page.waits_s) for page in found.pages)
        assert lasts_s == near(whole_s, rel=0.1)


@cases_of("kind part median_s", """
"web-pareto", slice(None), 0.1 * 2 ** (1 / 1.5) ; "web-cache", slice(None), 0.01 ; "web-jump", slice(500), 0.0743
"web-jump", slice(-500, None), 0.743
""")  # fmt: skip
def test_servers_of_the_web_take_as_long_as_their_kind_says(kind, part, median_s):
    waits = np.concatenate([page.waits_s for page in draw(kind, 60_000.0, rng(5)).pages[part]])
    assert np.median(waits) == near(median_s, rel=0.1)


def test_a_mixture_says_which_server_is_asked():
    pages = draw("web-servers", 60_000.0, rng(6)).pages
    assert [page.servers for page in pages] == [(i % 3,) * (1 + len(page.objects)) for i, page in enumerate(pages)]
    means_s = [np.mean(np.concatenate([page.waits_s for page in pages[i::3]])) for i in range(3)]
    assert means_s == near([0.05, 0.5, 2.0], rel=0.1)
    programs = draw("long-poll-and-web", 3000.0, rng(6)).pages
    assert {page.servers[0] for page in programs} == {0, 1}
    phases = draw("shifting", 1500.0, rng(6)).pages
    assert all(set(page.servers) == {int(page.page.partition("/")[0])} for page in phases)


def test_a_call_is_datagrams_that_nobody_waits_for_each_way_at_its_own_pace():
    call = make("voice", Wishes(hours=0.02), rng(3))
    assert (len(call), len(call.messages), call.captured_s) == (0, 0, 72.0)
    for up, a_second in ((True, 25.0), (False, 20.0)):
        assert len([one for one in call.datagrams if one.up is up]) == near(72 * a_second, rel=0.1)
    assert [one.at_s for one in call.datagrams] == sorted(one.at_s for one in call.datagrams)
