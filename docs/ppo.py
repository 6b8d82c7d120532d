"""An agent of stable-baselines3 that saves power: trained on a world of the benchmark, kept, and a policy.

``pip install stable-baselines3`` and ``python docs/ppo.py`` train it, some minutes (proximal policy optimization,
Schulman et al. 2017), and write its weights beside this file.  As a policy it needs numpy alone:
``lpsm benchmark --policies docs/ppo.py:Agent``.
"""

import sys
from pathlib import Path

import numpy as np

from netsim.environment import AWAKE_MS, observed, planned

WEIGHTS = Path(__file__).with_name("ppo.npz")


class Agent:
    """The policy `ppo`: two layers of 32 neurons, of whose choices it takes the likeliest."""

    spec, host_aware, polls = "ppo", True, True

    def __init__(self, *, beacon_interval_ns=100_000_000):
        self.interval_ns = beacon_interval_ns
        with np.load(WEIGHTS) as kept:
            self.layers = [(kept[f"w{layer}"], kept[f"b{layer}"]) for layer in range(3)]

    def plan(self, view):
        """Return what the network says."""
        *hidden, (weights, bias) = self.layers
        x = observed(view, self.interval_ns)
        for w, b in hidden:
            x = np.tanh(w @ x + b)
        choices = weights @ x + bias
        awake, then = choices[: len(AWAKE_MS)].argmax(), choices[len(AWAKE_MS) :].argmax()
        return planned(view.now_ns, self.interval_ns, int(awake), int(then))


def train(steps):
    """Train on `web-lognormal`, on seeds of no split, and keep the weights."""
    from stable_baselines3 import PPO

    from experiments.benchmark import environment

    env = environment("web-lognormal", seconds=300.0, price_w=0.5)
    model = PPO("MlpPolicy", env, seed=0, n_steps=4096, batch_size=256, gamma=0.999, gae_lambda=0.98, ent_coef=0.003,
        learning_rate=1e-3, policy_kwargs={"net_arch": [32, 32]}, device="cpu", verbose=1)  # fmt: skip
    model.learn(steps)
    kept = model.policy.state_dict()
    layers = ("mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net")
    np.savez(WEIGHTS, **{
        f"{short}{layer}": kept[f"{name}.{long}"].numpy()
        for layer, name in enumerate(layers) for short, long in (("w", "weight"), ("b", "bias"))
    })  # fmt: skip


if __name__ == "__main__":
    train(int(sys.argv[1]) if len(sys.argv) > 1 else 120_000)
