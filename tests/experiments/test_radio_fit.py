import json
from dataclasses import replace

import numpy as np

import netsim
import traces
from experiments import radio_fit
from experiments.radio_fit import DOZE, LISTENING, RECEIVING, STATES, TRANSMITTING, WAKING
from experiments.world import made as made_world
from netsim.radio import Radio
from tests.tables import cases_of, each, near

VOLT = 3.3
CHIPS = {  # mA in doze, waking, listening, receiving, transmitting; ms to wake up, of guard, of a beacon, to settle
    "cc3235sf": ((0.12, 6.4, 50.0, 68.0, 232.0), (2.6, 0.6, 1.76, 0.8)),
    "nrf7002": ((0.015, 22.0, 60.0, 90.0, 190.0), (1.0, 0.4, 2.2, 0.5)),
}


def made(rng, chip, *, rate=20_000, seconds=6.0, noise_ma=0.0, drift_ma=0.0, exchanges=8):
    """Return times, currents in mA and the true states of a client that hears beacons and now and then sends."""
    currents, (up, guard, beacon, settle) = CHIPS[chip]
    pieces, at = [], 0.0
    for number in range(int(seconds / 0.1024)):
        pieces.append((DOZE, 0.1024 * (number + 1) - at - 1e-3 * (up + guard)))
        pieces += [(WAKING, 1e-3 * up), (LISTENING, 1e-3 * guard), (RECEIVING, 1e-3 * beacon)]
        if exchanges and number % (60 // exchanges) == 3:
            for _ in range(3):
                pieces += [(LISTENING, rng.uniform(2e-3, 8e-3)), (TRANSMITTING, 1.2e-3), (RECEIVING, 1.5e-3)]
        pieces.append((WAKING, 1e-3 * settle))
        at = sum(lasts for _, lasts in pieces)
    pieces.append((DOZE, 0.02))
    edges = np.cumsum([lasts for _, lasts in pieces])
    time_s = np.arange(int(edges[-1] * rate)) / rate
    state = np.array([kind for kind, _ in pieces])[np.searchsorted(edges, time_s, side="right")]
    current = np.array(currents)[state] + drift_ma * time_s / time_s[-1] + rng.normal(0.0, noise_ma, len(state))
    return time_s, current, state


def traced(time_s, current_ma):
    return radio_fit.Trace(time_s=time_s, current_a=1e-3 * current_ma, voltage_v=VOLT, name="t.csv")


def written(path):
    """Write the trace of a made client as the Power Profiler Kit exports it; docs/radio.md shows what is found."""
    time_s, current, _ = made(np.random.default_rng(5), "cc3235sf", noise_ma=0.2)
    rows = zip(time_s, current, strict=True)
    path.write_text("Timestamp(ms),Current(uA)\n" + "".join(f"{1e3 * t:.2f},{1e3 * i:.1f}\n" for t, i in rows))


WORLDS = {"clean": {}, "noise": {"noise_ma": 1.0}, "drift": {"drift_ma": 0.01, "noise_ma": 0.005},
    "slow": {"rate": 4_000, "seconds": 20.0, "noise_ma": 0.2},
    "fast": {"rate": 100_000, "seconds": 3.0, "noise_ma": 2.0}}  # fmt: skip


@each("chip", CHIPS)
@each("world", WORLDS)
def test_the_charge_is_the_measured_one_and_every_power_is_the_true_one_within_a_bound(chip, world):
    asked = WORLDS[world]
    currents, (up, _, beacon, settle) = CHIPS[chip]
    time_s, current, state = made(np.random.default_rng(7), chip, **asked)
    found = radio_fit.fit(traced(time_s, current))
    assert found.fitted_mw == near(found.mean_mw, rel=1e-12) == near(VOLT * current.mean(), rel=1e-9)
    assert found.merged == ()
    step_ms = 1e3 / asked.get("rate", 20_000)
    for place, name in enumerate(STATES):
        truth = VOLT * (currents[place] + (asked.get("drift_ma", 0.0) / 2 if place == DOZE else 0.0))
        n = (state == place).sum()
        bound = 0.05 * truth + 4 * VOLT * asked.get("noise_ma", 0.0) / np.sqrt(n)
        assert getattr(found.radio, f"{name}_mw") == near(truth, abs=bound), name
    assert found.radio.wakeup_ms == near(up, abs=step_ms)
    assert found.radio.settle_ms == near(settle, abs=step_ms)
    assert found.radio.beacon_ms == near(beacon, rel=0.15, abs=2 * step_ms)
    assert found.between_ms == near(102.4, abs=step_ms)
    assert (found.state == state).mean() > 0.99
    assert found.told_percent > 97
    if world == "drift":
        assert found.drift_ma_per_h == near(0.01 * 3600 / time_s[-1], rel=0.2)


@each("chip", CHIPS)
def test_a_client_that_hears_beacons_alone_needs_in_a_run_what_was_measured(chip):
    currents, (_, _, beacon, _) = CHIPS[chip]
    time_s, current, _ = made(np.random.default_rng(4), chip, exchanges=0, seconds=10.0, noise_ma=0.3)
    found = radio_fit.fit(traced(time_s, current))
    assert found.merged == ("transmitting",)
    assert found.radio.receiving_mw == near(VOLT * currents[RECEIVING], rel=0.02)
    idle = traces.Workload.of([], datagrams=[traces.Datagram(0.0, 0, True)], captured_s=60.0)
    beacons = {"dtim_period": 1, "size_bytes": round((1000 * beacon - 192) / 8)}  # at 1 Mb/s, behind the long preamble
    run = netsim.simulate(idle, "psm", config=replace(made_world("iot", beacons).config, radio=found.radio))
    assert 1e3 * run.energy.total_j / run.elapsed_s == near(found.mean_mw, rel=0.03)


def test_the_residual_is_the_noise():
    time_s, current, _ = made(np.random.default_rng(3), "nrf7002", noise_ma=0.8)
    assert radio_fit.fit(traced(time_s, current)).residual_ma == near(0.8, rel=0.1)


def test_states_that_the_current_does_not_tell_have_one_power():
    rng = np.random.default_rng(1)
    time_s, current, state = made(rng, "nrf7002", exchanges=0)
    level = np.where(state == DOZE, 0.1, 80.0) + rng.normal(0, 1.0, len(current))
    found = radio_fit.fit(traced(time_s, level))
    assert found.merged == ("waking", "receiving", "transmitting")
    assert found.radio.waking_mw == found.radio.receiving_mw == found.radio.transmitting_mw == found.radio.listening_mw
    assert found.radio.listening_mw == near(VOLT * 80, rel=0.01)
    assert found.radio.beacon_ms == near(1.76)
    up, guard, beacon, settle = CHIPS["nrf7002"][1]
    assert found.radio.listen_advance_ms + found.radio.beacon_ms == near(up + guard + beacon + settle, abs=0.1)


FORMS = {
    "ppk": ("Timestamp(ms),Current(uA),D0-D7\n", "{ms:.3f},{ua:.3f},00000000\n"),
    "joulescope": ("#time,current,voltage,power,charge,energy\n", "{s:.6f},{a:.9f},3.6,0,0,0\n"),
    "joulescope without names": ("", "{s:.6f},{a:.9f},3.6\n"),
    "otii": ("Timestamp,Value\n", "{s:.6f},{a:.9f}\n"),
    "semicolons": ("time (s);current (mA)\n", "{s:.6f};{ma:.6f}\n"),
}


@each("form", FORMS)
def test_exports_of_three_instruments_are_read_alike(tmp_path, form):
    head, row = FORMS[form]
    time_s, current, _ = made(np.random.default_rng(2), "cc3235sf", seconds=1.0)
    text = "".join(
        row.format(s=t, ms=1e3 * t, a=1e-3 * i, ma=i, ua=1e3 * i) for t, i in zip(time_s, current, strict=True)
    )
    text = text.replace(".", ",") if form == "semicolons" else text
    (path := tmp_path / "t.csv").write_text(head + text)
    found = radio_fit.read(path)
    np.testing.assert_allclose(found.time_s, time_s, atol=1e-6)
    np.testing.assert_allclose(found.current_a, 1e-3 * current, rtol=1e-5)
    assert found.voltage_v == near(3.6 if form.startswith("joule") else 3.3)
    assert radio_fit.read(path, 4.2).voltage_v == 4.2


ROWS = "".join(f"{n / 1000},{0.01 if n % 50 < 5 else 0.0001}\n" for n in range(500))


REFUSED = r"""
"volts,amps\n1,2\n" -> t.csv, line 1: the first line must name a time (time, timestamp) and a current
"time,current(kg)\n1,2\n" -> t.csv, line 1: the unit must be one of s, ms,
"" -> t.csv, line 1: the first line must name a time (time, timestamp) and a current
"\x00\xff\x1b" * 50 -> t.csv, line 1: the first line must name
"time,current\n0,1\n0.1,x7\n" -> t.csv, line 3: current must be a number, got x7
"time,current\n0,1\n0.1,2\n" -> t.csv, end of file: a trace must have at least 100 samples, got 2
"time,current\n" + ROWS + "0.2,1\n" -> t.csv, line 502: time must grow, got 0.2
"time,current\n" + ROWS.replace("0.0001", "0.01") -> t.csv, end of file: the current must change, got 0.01 A
"time (s),current\n" + ROWS[:1500] -> t.csv: a trace must show at least 5 passages awake between two of doze, got
"time,current\n" + FAR -> t.csv: samples must be at most 1 ms apart, got 1e+03 ms
"""
FAR = "".join(f"{n},{n % 7}\n" for n in range(200))


@cases_of("text said", REFUSED, {"ROWS": ROWS, "FAR": FAR})
def test_what_is_no_trace_is_refused_with_file_line_rule_and_value(complaint, tmp_path, text, said):
    (path := tmp_path / "t.csv").write_text(text)
    line = complaint("radio", "fit", path, "--out", tmp_path / "r.toml")
    assert said in line.replace(str(tmp_path) + "/", "")
    assert not (tmp_path / "r.toml").exists()


def test_the_command_writes_a_radio_that_is_taken_and_says_what_a_run_needs(lpsm, complaint, tmp_path):
    trace, out = tmp_path / "ppk.csv", tmp_path / "mine.toml"
    written(trace)
    (work := tmp_path / "w.jsonl").write_text('{"message_bytes": 100, "at_s": 1.0}\n{"captured_s": 6.0}\n')
    said = lpsm("radio", "fit", trace, "--out", out, "--capture", work, "--policy", "psm", "--preset", "iot", "--json")
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    radio = Radio.load(out)
    assert {name: near(value, rel=1e-4) for name, value in found["radio"].items()} == {
        name: getattr(radio, name) for name in found["radio"]
    }
    same = lpsm("simulate", work, "--policy", "psm", "--preset", "iot", "--radio", out, "--json")
    assert found["predicted"]["mean_mw"] == near(json.loads(same.stdout)["mean_mw"], rel=1e-3)
    words = lpsm("radio", "fit", trace, "--out", out).stdout
    assert "Residual: 0.2" in words
    assert "no --capture is given" in complaint("radio", "fit", trace, "--out", out, "--policy", "psm")
    assert "an output must be a file of its own" in complaint("radio", "fit", trace, "--out", trace)
