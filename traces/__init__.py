"""What was browsed: readers of real traces, grouping into pages, and a generator."""

from traces.errors import TraceError
from traces.records import Page
from traces.web_model import generate
from traces.workload import read_workload, write_workload

__all__ = ["Page", "TraceError", "generate", "read_workload", "write_workload"]
