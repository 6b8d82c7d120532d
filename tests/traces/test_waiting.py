"""What a client waits for, told packet by packet."""

from tests.netsim.test_real_time import ACK, DATA, SYN, SYN_ACK, tcp
from traces.captures.waiting import Waiting

MS = 1_000_000
FIN, RST = 0x11, 0x04


def counts(*steps):
    """Return how many flows wait after each (instant in ms, flags, payload, sequence, whether up), or instant."""
    waiting, found = Waiting(), []
    for step in steps:
        if isinstance(step, int):
            waiting.over(step * MS)
        else:
            at, flags, size, sequence, up = step
            waiting.over(at * MS)
            waiting.take(at * MS, tcp(up, flags, size, sequence), up)
        found.append(waiting.n)
    return found


def test_a_connection_waits_for_its_answer_and_a_request_for_its_reply():
    opened = (0, SYN, 0, 1, True), (40, SYN_ACK, 0, 1, False), (40, ACK, 0, 2, True)
    asked = (41, DATA, 300, 2, True), (90, ACK, 0, 2, False), (95, DATA, 1400, 2, False)
    assert counts(*opened, *asked, (150, DATA, 500, 1402, False), 249, 251) == [1, 0, 0, 1, 1, 1, 1, 1, 0]


def test_what_is_sent_again_asks_for_nothing_and_a_reset_ends_all():
    again = (0, DATA, 300, 2, True), (10, DATA, 9, 2, False), 111, (120, DATA, 300, 2, True)
    assert counts(*again) == [1, 1, 0, 0]
    assert counts((0, DATA, 300, 2, True), (1, RST, 0, 2, False)) == [1, 0]
    assert counts((0, DATA, 300, 2, True), (1, FIN, 0, 302, True), (60, FIN, 0, 2, False)) == [1, 1, 0]


def test_what_nobody_answers_is_forgotten_after_a_minute():
    waiting = Waiting()
    waiting.take(0, tcp(True, DATA, 300), True)
    waiting.over(59_000 * MS)
    assert waiting.n == 1
    waiting.due_ns = 0
    [(seen, _)] = waiting.over(61_000 * MS)
    assert seen.completes
    assert waiting.n == 0


def test_no_packet_of_any_kind_is_an_error():
    waiting = Waiting()
    for packet in (b"\x45", bytes(40), b"\x60" + bytes(30), tcp(True, SYN)[:24], b"\x45" + bytes(19) + b"\xff" * 40):
        assert not waiting.take(0, packet, True).opens
    assert waiting.n == 0
