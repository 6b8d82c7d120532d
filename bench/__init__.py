"""Speed: each figure beside a peer in the same run; `python -m bench`."""
