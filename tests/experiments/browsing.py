"""A small trace of Boston University form: sessions of a few users, for tests of populations."""

import random


def make(folder, n_sessions, *, n_users=5, pages=3, seed=1):
    """Write sessions into a new folder; each has `pages` pages, some with an image."""
    draw = random.Random(seed)
    folder.mkdir()
    for number in range(n_sessions):
        start = 790_000_000 + 5000 * number
        lines, at = [], float(start)
        for page in range(pages):
            lines.append(f'cs20 {int(at)} 0 "http://a.b/{page}.html" {draw.randint(200, 30_000)} 0.5\n')
            if draw.random() < 0.5:
                lines.append(f'cs20 {int(at) + 1} 0 "http://a.b/{page}.gif" {draw.randint(200, 9000)} 0.25\n')
            at += draw.choice((4, 20, 90))
        (folder / f"con{number % n_users}.cs20.{start}").write_text("".join(lines))
    return folder


def contents(folder):
    """Every file of a folder, at any depth."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def damaged(folder):
    """Cut the last session of a trace off in the middle of a record."""
    last = max(folder.iterdir())
    last.write_text(last.read_text() + "cs20 7900")
    return folder


def population(trace, out, *more):
    """The command `lpsm population`, in this process and with few pages a task."""
    return ["population", str(trace), "--pages-per-task", "6", "--out", str(out), "--jobs", "1", *more]
