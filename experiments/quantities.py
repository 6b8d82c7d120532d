"""What is measured, declared once: the name, heading, form and place of every quantity that results are made of.

Rows of runs, tables in the terminal and in the HTML report, the legends of figures, CSV and JSON all iterate over
these declarations, so that a new quantity is one line here.  The reference policies have their names here too.

`RUN` names the totals of a run.  The others (`COMPARISON` and so on) are the columns that the tables of commands show,
in that order; the CSV files hold more.  A name ends in its unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

    import netsim

BASELINE = "none"  # no power saving: what slowdowns and the two reference energies are measured against
PSM = "psm:100"  # static power saving at every beacon of 100 ms, what the literature compares with
LIMIT, PAGE_AWAKE = "limit", "page-awake"
REFERENCES = (LIMIT, PAGE_AWAKE)  # energies that no run has, but rows of tables and lines in pictures

ENERGY_PARTS = {
    "awake_j": "awake", "sleep_j": "asleep", "listen_j": "listening to beacons", "wakeup_j": "waking up",
}  # fmt: skip
"""The parts of the energy of a run, which add up to ``total_j``, and what they are called in sentences and pictures."""
ENERGIES = (*ENERGY_PARTS, "total_j")
_COUNTS = ("beacons", "wakeups", "group_frames_lost", "exceptions")
RUN = ("pages", "elapsed_s", "beacons", "wakeups", "awake_s", "group_frames_lost", *ENERGIES, "uplink_air_s",
       "downlink_air_s", "exceptions")  # fmt: skip
"""The totals of a run, in the order of the columns of ``runs.csv``; `exceptions`: pages that were not as a promise of
its policy supposes, 0 for one that promises nothing."""
PER_PAGE = (*ENERGIES, "beacons", "wakeups", "elapsed_s")
"""The totals of a run that are also given a page, as ``NAME_per_page``."""


Row: TypeAlias = dict[str, Any]
"""A row of results, or a JSON object: plain data by name."""


class Quantity(NamedTuple):
    """One quantity: a column of a table, a key of a JSON object."""

    name: str  #: of the column in frames, CSV and JSON
    heading: str  #: what stands above it in a table
    form: str = ".2f"  #: of a number, as Python formats it, and after a blank what is printed behind it
    #: words: "±", ``NAME_half_width`` is the half width of its 95 % interval, printed beside it; "optional", a table
    #: leaves it out if it is 0 in every row; "detail", or if it is too wide; the name of another quantity, it is left
    #: blank where that is 0
    note: str = ""


def _columns(text: str) -> tuple[Quantity, ...]:
    """Return the columns that a text declares, a line each, whose fields stand two blanks apart."""
    return tuple(Quantity(*re.split(" {2,}", line.strip())) for line in text.strip().splitlines())


_LATE = """added_delay_mean_s                added s            .3f     ±
    added_delay_p95_s                 p95                .3f
    datagram_delay_mean_s             late s             .3f     ±
    datagram_delay_p95_s              p95                .3f
    datagram_delay_p99_s              p99                .3f
    datagram_delay_max_s              max                .3f"""
COMPARISON = _columns(f"""
    policy                            policy
    total_j_per_page                  J/page             .3f     ±
    awake_j_per_page                  awake              .3f     detail
    sleep_j_per_page                  sleep              .3f     detail
    listen_j_per_page                 listen             .3f     detail
    wakeup_j_per_page                 wake-up            .3f     optional detail
    energy_vs_psm_percent             energy vs psm      +.1f %  ±
    beacon_energy_vs_psm_percent      beacons            +.1f %  listen_j_per_page detail
    energy_above_limit_percent        above limit        +.1f %  detail
    energy_above_clairvoyant_percent  above clairvoyant  +.1f %  ±
    energy_above_polling_clairvoyant_percent  if it polls  +.1f %  ±
    slowdown_mean                     slowdown           .2f     ±
    slowdown_median                   median             .2f     detail
    slowdown_p95                      p95
    exceptions                        unpromised pages   .0f     optional
{_LATE}
    mean_mw                           mW                 .2f     optional detail ±
""")

PAIRED = _columns("""
    policy          policy
    energy_percent  energy     +.1f %  ±
    slowdown        slowdown   +.3f    ±
    added_delay_s   added s    +.3f    ±
""")

POPULATION = _columns("""
    policy                             policy
    energy_of_all_vs_none_percent      vs none   +.1f
    energy_vs_none_percent_p05         5 %       +.1f
    energy_vs_none_percent_p50         median    +.1f
    energy_vs_none_percent_p95         95 %      +.1f
    energy_of_all_vs_psm_percent       vs psm    +.1f
    energy_vs_psm_percent_p05          5 %       +.1f
    energy_vs_psm_percent_p50          median    +.1f
    energy_vs_psm_percent_p95          95 %      +.1f
    slowdown_mean                      slowdown
    slowdown_p50                       median
    slowdown_p95                       95 %
    slowdown_p100                      max
    added_delay_s_mean                 added s   .3f
    added_delay_s_p95                  95 %      .3f
    costlier_than_psm_percent          dearer    .1f
    slower_than_psm_percent            slower    .1f
    losing_both_percent                both      .1f
""")

TUNING = _columns(f"""
    policy                           policy
    mean_mw                          mW                .2f     ±
    energy_j_per_page                J/page            .2f     ±
    energy_vs_none_percent           vs none           +.1f %
    energy_above_limit_percent       above limit       +.1f %
    energy_above_page_awake_percent  above page-awake  +.1f %
    slowdown_mean                    slowdown          .3f     ±
    slowdown_p95                     p95
    slowdown_p99                     p99
{_LATE}
    battery_h                        battery           .1f h
    wins_percent                     wins              .0f %
""")

CELL = _columns("""
    policy                   policy
    clients                  clients   .0f
    mean_mw                  mW        .2f    ±
    total_j_per_page         J/page    .3f    ±
    awake_percent            awake     .2f %  ±
    latency_s                latency   .3f    ±
    slowdown_mean            slowdown  .2f    ±
    group_frames_lost_per_h  lost/h    .1f    optional ±
""")

EMULATED = _columns("""
    policy                 policy
    elapsed_s              took s     .2f
    energy_j_total         J          .4f
    mean_mw                mW         .2f
    awake_share            awake      .1%
    beacons                beacons    .0f
    packets_up             up         .0f
    packets_down           down       .0f
    added_delay_ms_mean    added ms   .1f
    added_delay_ms_median  median     .1f
    added_delay_ms_p95     p95        .1f
    added_delay_ms_p99     p99        .1f
    added_delay_ms_max     max        .1f
    late_ms_p99            late p99   .3f
""")

LABELS = _columns("""
    class       class
    positive    positive      .0f
    queries     labels asked  .0f
    label_rate  rate          .1%
    stored      stored        .0f
    mistakes    mistakes      .0f
    accuracy    accuracy      .4f
    precision   precision     .3f
    recall      recall        .3f
    f_measure   F             .3f
""")

REPLAYS = _columns("""
    replay              replay
    polls               polls         .0f
    mean_sleep_ms       mean sleep    .0f ms
    mixture_loss        mixture loss
    polling_loss        polling loss
    best_expert_loss    best fixed
    best_expert_ms      its T         .6g ms
    best_per_poll_loss  best of each poll
""")

STATEMENTS = _columns("""
    class      class
    statement  statement
    measured   measured   .6g
    bound      bound      .6g
    verdict    verdict
""")


def run_row(result: netsim.SimulationResult) -> Row:
    """Return the totals of a run by name (`RUN`)."""
    values = {name: getattr(result.energy if name in ENERGIES else result, name) for name in RUN[1:-1]}
    values["exceptions"] = getattr(result.final_policy, "exceptions", 0)
    counted = {name: (int if name in _COUNTS else float)(value) for name, value in values.items()}
    return {"pages": len(result.latency_s), **counted}


def mean_row(rows: Sequence[Row]) -> Row:
    """Return the means of the rows (`run_row`) of a run's clients, which have as many pages each.

    `clients` is their number, if there is not one alone.
    """
    if len(rows) == 1:
        return dict(rows[0])
    means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    return {"clients": len(rows), **means, "pages": rows[0]["pages"]}


def shown(quantities: Iterable[Quantity], frame: pd.DataFrame) -> list[Quantity]:
    """Return those of the quantities that the frame has, without optional ones that are 0 in every row."""
    return [one for one in quantities if one.name in frame and ("optional" not in one.note or frame[one.name].any())]
