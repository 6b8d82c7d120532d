"""How many labels a sampler asks for until it predicts well: the whole test set is predicted after each update."""

import numpy as np


def first_touch(make, X, y, test, truth, error, stays=1):
    """Return how many labels were asked for when the test error first was at most `error` (None: never), and in all.

    It has to stay there for `stays` labels in a row, or else to the end of the stream; the first of them counts.
    """
    log = make().run(X, y)
    queried, stored = np.cumsum(log.queried), np.flatnonzero(log.stored)
    spent = int(queried[-1])
    sampler, at, since = make(), 0, None
    for position, update in enumerate(stored):
        sampler.run(X[at : update + 1], y[at : update + 1])
        at = int(update) + 1
        now = int(queried[update])
        if float(np.mean(sampler.predict(test) != truth)) > error:
            since = None
            continue
        since = now if since is None else since
        last = position + 1 == len(stored)
        if last or int(queried[stored[position + 1]]) - since >= stays:
            return since, spent
    return None, spent
