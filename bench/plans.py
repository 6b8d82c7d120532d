"""Time of one plan of LPSM3 and of LPSM4, compiled, beside plain numpy, in one run.

A plan alone: what is outstanding is entered, survival found, and every stop decided; no frame is observed, and no price
of messages sought.  Numpy does less of the same, a sweep over later stops at each: when to poll, never to be awake.
Every figure is the least of many short repetitions.  ``python -m bench.plans`` prints the table.
"""

import numpy as np

import netsim
from bench.experts import least
from lpsm.native import compiled
from netsim.policies import lpsm3_rule as rule
from netsim.policies.lpsm3 import Lpsm3
from netsim.policies.lpsm4 import Lpsm4
from netsim.policies.protocol import FOREVER_NS, Frame, HostFrame
from netsim.sleep_planning import plans as planning

MS = 1_000_000
SECOND = 1000 * MS
REPEATED, STATE = 100, rule.STATE.itemsize // 8


@compiled
def plans(ints, now_ns, n):
    """Make the same plan n times."""
    state = ints[:STATE].view(rule.STATE)[0]
    work = ints[STATE:].view(planning.WORKSPACE)[0]
    for _ in range(n):
        rule._plan(state, work, now_ns, FOREVER_NS, True)


def numpy_plan(alive, mass, delay_s, stop_s, poll_j, price_w):
    """Decide at every stop when to poll next, asleep in between; return the least cost.

    `alive` is the probability that nothing has come by each stop, `mass` that something comes between two, and
    `delay_s` that times its delay until the second, of shape (stops,) and one less.
    """
    last = len(alive) - 1
    value, late = np.zeros(last + 1), np.zeros(last + 1)
    for k in range(last - 1, -1, -1):
        late[k + 1 :] += price_w * (delay_s[k] + mass[k] * (stop_s[k + 1 :] - stop_s[k + 1]))
        value[k] = (late[k + 1 :] + value[k + 1 :]).min() + poll_j * alive[k]
    return value[0]


def told(policy, at_ns, sent, connection):
    """Tell a policy of a request, or of the frame that is all of the reply."""
    host = HostFrame(connection, False, 300, not sent, True)
    policy.observe(Frame(sent, at_ns, at_ns, 340, host, at_ns, at_ns))


def main():
    """Print a row a kind of wait."""
    print("microseconds a plan                    stops")
    rng, radio = np.random.default_rng(0), netsim.Radio.named("esp32-c6")
    for made, waits in ((Lpsm3, 1), (Lpsm4, 1), (Lpsm4, 4)):
        policy, now_ns = made(None, radio=radio), SECOND
        for wait_s in rng.lognormal(np.log(0.5) - 0.32, 0.8, 200):
            told(policy, now_ns, True, 1)
            told(policy, now_ns + int(wait_s * SECOND), False, 1)
            now_ns += int((wait_s + 3.0) * SECOND)
        for connection in range(waits):
            told(policy, now_ns, True, connection)
        ints, policy.memory[0]["push_stale"] = policy.compiled.ints, 0
        for age_ms in (5, 500):
            took_s = least(lambda: plans(ints, now_ns + age_ms * MS, REPEATED), REPEATED)  # noqa: B023
            work = ints[STATE:].view(planning.WORKSPACE)[0]
            last = int(policy.memory[0]["last_stop"])
            row = f"{policy.spec.partition(':')[0]}, {waits} outstanding for {age_ms} ms"
            print(f"{1e6 * took_s:6.2f}  {row:36s} {last}")
        if made is Lpsm4 and waits == 1:
            alive, stop_s = work["alive"][0][: last + 1].copy(), work["stop_ns"][: last + 1] * 1e-9
            parts = work["mass"][0][:last].copy(), work["delay_s"][0][:last].copy()
            took_s = least(lambda: numpy_plan(alive, *parts, stop_s, 2e-4, 0.2), 1)  # noqa: B023
            print(f"{1e6 * took_s:6.2f}  {'numpy, of the same waits, asleep alone':36s} {last}")


if __name__ == "__main__":
    main()
