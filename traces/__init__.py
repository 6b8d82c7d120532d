"""What was browsed: readers of real traces, grouping into pages, and a generator.

Where to look: `reading` is the way in, and lists the formats.  Each has a module of its own (`ucb`, `bu`, `har`,
`table`, `workload`, and `captures` for packets); `files` hands them bytes.
`records` and `columns` hold what was read.  `grouping` makes pages of requests, `times` workloads of sessions.
`web_model`, `web_2025` and `traffic` draw traffic; `arrivals` tells what a sleeping client would have found waiting.
"""

from traces.columns import Workload
from traces.errors import TraceError
from traces.grouping import GroupingRule, iter_pages, pages
from traces.reading import Format, Requests, batches, detect, read, read_workload, registry, sessions
from traces.records import Batch, Captured, Cause, Datagram, Message, Page, Report, Request, Session, Timing, counted
from traces.times import browsed, workload_of
from traces.web_model import generate
from traces.workload import workload_line, write_workload

__all__ = [
    "Batch", "Captured", "Cause", "Datagram", "Format", "GroupingRule", "Message", "Page", "Report", "Request",
    "Requests", "Session", "Timing", "TraceError", "Workload", "batches", "browsed", "counted", "detect", "generate",
    "iter_pages", "pages", "read", "read_workload", "registry", "sessions", "workload_line", "workload_of",
    "write_workload",
]  # fmt: skip
