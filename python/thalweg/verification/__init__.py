"""A second way to every number of a run: its tables, recomputed from the record of its packets.

The program does not share code with the metrics of the core. It is plain and slow: one function per column, written from
the definitions in `docs/reference/metrics.md`, over the files that `docs/reference/packet-record.md` defines.
"""

from __future__ import annotations

from .comparison import Difference, Verification, verify_record
from .record import Record
from .rerun import verify, verify_plan

__all__ = ["Difference", "Record", "Verification", "verify", "verify_plan", "verify_record"]
