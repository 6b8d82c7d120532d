"""The record that the rule of LPSM3 and LPSM4 works on: constants, what was learned, and what is going on.

A number in it that is no integer has eight bytes, as integers have.
"""

from __future__ import annotations

import numpy as np

from lpsm.native.records import IntArray, RealArray, dtype_of, record
from netsim.policies.outstanding import REST, Account
from netsim.sleep_planning import hazards
from netsim.sleep_planning.message_prices import CELLS
from netsim.sleep_planning.prices import LENGTHS
from netsim.sleep_planning.sizes import size

SERVERS = size("servers")
"""How many servers have hazards of their own at once: those that were asked last."""
ROOM = size("room")
"""How many connections and requests are kept in mind at once; what is beyond is taken for unasked."""
MESSAGE, HELD, N_KINDS = REST + 1, REST + 2, REST + 3  # after the kinds of `outstanding`
AGES_NS = np.array([20, 60, 120, 240, 480, 960, 1920, 3840], dtype=np.int64) * 1_000_000
"""Ages of the last message at the beginning of a cycle that are told apart, by the geometric middle between two."""
TRIPS, TRIP_STEP_BYTES = 24, 64  # classes of sizes of requests


@record
class Lpsm3State(Account):
    """Constants, what was learned and what is going on, with what is outstanding, the oldest first."""

    key: IntArray = ROOM
    kind: IntArray = ROOM
    origin_ns: IntArray = ROOM
    server: IntArray = ROOM
    asked_bytes: IntArray = ROOM
    left: RealArray = ROOM
    lag_ns: IntArray = ROOM
    held_ns: IntArray = ROOM
    # constants
    polls: int  # whether it may ask at any instant
    service_ns: int  # of a driver: length of a service period agreed with the access point; 0: it listens to beacons
    push_quantile: float  # that is asked for of the delay of messages, 0 for the mean, 1 for a limit of each
    push_limit_s: float
    interval_ns: int
    same_message_ns: int
    awake_w: float
    beacon_j: float
    wakeup_j: float
    wakeup_s: float
    flow_share: float
    allowed: float
    price_w: float
    gain: float
    largest_price_ratio: float
    good_will: float
    early_ratio: float
    push_delay_s: float
    least_push_price_w: float
    most_push_price_w: float
    push_memory: float
    prior_events: float
    shapes: RealArray = N_KINDS
    # learned, a row a kind
    events: RealArray = N_KINDS, hazards.N_BINS
    at_risk_s: RealArray = N_KINDS, hazards.N_BINS
    rates: RealArray = N_KINDS, hazards.N_WIDTHS, hazards.N_BINS
    log_evidence: RealArray = N_KINDS, hazards.N_WIDTHS
    mean_rates: RealArray = N_KINDS, hazards.N_BINS
    # learned of the first answers of each server, a row each: its number, when it was asked last
    servers: IntArray = SERVERS
    asked_ns: IntArray = SERVERS
    own_prior_events: float
    common_nats: float
    own_events: RealArray = SERVERS, hazards.N_BINS
    own_at_risk_s: RealArray = SERVERS, hazards.N_BINS
    own_rates: RealArray = SERVERS, hazards.N_WIDTHS + 1, hazards.N_BINS
    own_log_evidence: RealArray = SERVERS, hazards.N_WIDTHS + 1
    own_mean_rates: RealArray = SERVERS, hazards.N_BINS
    # messages
    message_ns: int
    quiet_ns: int  # when the last came, if what may have been an answer since was one
    messages: int
    ages: RealArray = len(AGES_NS)
    delivered: int
    push_key: int
    more: int
    began_ns: int
    delivered_ns: int
    held_from_ns: int
    held_middle_ns: int
    # those that waited together last: between which instants, how many, the sum of their waits; see `expected_waits`
    waited_from_ns: int
    waited_until_ns: int
    waited: int
    waited_s: float
    waiting: RealArray = 3, CELLS
    # the link: until when waits that may be over have been watched; least time from a request of a size to its answer,
    # 0: not seen
    watched_ns: int
    reply: int  # the request that the last frame may have answered, or -1
    paused: int  # whether the client could sleep since it sent last
    least_trip_ns: IntArray = TRIPS
    by_size: RealArray = 2, TRIPS  # how many messages and first frames of replies had a size of each class
    # the sleep: when it was last left, how long what came first then had waited, until when the client is awake, and
    # when it could last sleep
    opened_ns: int
    backlog_ns: int
    awake_until_ns: int
    idle_ns: int
    # a poll that is planned or on its way, or -1; how long one takes until nothing has come, and in all without sleep
    poll_ns: int
    shift: float  # of the stops of the last plan that polled, in steps
    took_s: float
    spent_s: float
    trip_ns: int  # least time from asking for a connection to the answer, 0: not seen
    # between which instants the frame came to the access point, and whether that was ever less than exact
    low_ns: int
    high_ns: int
    blurred: int
    # the page
    loading: int
    issued_ns: int
    heard_ns: int
    due_ns: int  # when the last of it that was heard would have come without sleep,
    cause_ns: int  # and how much later the frame came that was heard last, which what is asked for next waited for
    doubted: int  # whether it had a wait that may have been over
    told: int  # whether the host ever said of a page that it lacks something,
    counted: int  # and says so of this one
    pages: int
    deadline_ns: int
    came: int  # in which classes of its age something came, a bit each
    doubt_s2: float  # how uncertain its length without delay is (`hazards.doubt_s2`): the largest of its waits
    least_page_s: float  # shortest length without delay of a page, 0: none was seen
    pages_by_age: RealArray = LENGTHS + 1  # what worth is learned from, and worth (`prices`)
    inverses_by_age: RealArray = LENGTHS + 1
    worth: RealArray = LENGTHS
    exceptions: int
    # prices
    balance: float
    push_balance: float
    push_doubt_s2: float  # the variance of the sum of delays in it, as far as it is an estimate
    push_price_w: float
    push_stale: int
    priced_messages: int
    # the plan
    period_ns: int  # of a driver
    planned: int
    planned_ns: int
    last_stop: int
    next_stop: int


STATE = dtype_of(Lpsm3State.__name__)
