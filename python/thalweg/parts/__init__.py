"""Builders of the parts of a scenario: a class for each table of a scenario file, which takes its keys.

A topology has a class for each kind. The first key of a table may go by position where the table needs it. A key
that Python reserves has an underscore behind it: `from_`, `class_`.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from ._files import Emulation, Event, File, Record, Window
from ._flows import Churn, Commands, Flow, Member, Quic, Receivers, Source, Stream, Tcp
from ._links import Bucket, Bursts, Impair, Link, ModelTrace, Port
from ._ndn import Consumer, NameRoute, Ndn, NodeStore, Producer, Store
from ._queues import CakeQueue, CodelQueue, Dualpi2Queue, FqCodelQueue, FqQueue, PieQueue, RedQueue
from ._routing import Icn, Route, Routing
from ._sdn import ControlLink, Sdn
from ._topologies import (
    Chain,
    Clock,
    Custom,
    Dumbbell,
    FatTree,
    GraphML,
    LeafSpine,
    NetworkNode,
    ParkingLot,
    Random,
    Star,
    Tree,
)
from ._traffic import App, Arrivals, Encoder, Object, Player

__all__ = [
    "App",
    "Arrivals",
    "Bucket",
    "Bursts",
    "CakeQueue",
    "Chain",
    "Churn",
    "Clock",
    "CodelQueue",
    "Commands",
    "Consumer",
    "ControlLink",
    "Custom",
    "Dualpi2Queue",
    "Dumbbell",
    "Emulation",
    "Encoder",
    "Event",
    "FatTree",
    "File",
    "Flow",
    "FqCodelQueue",
    "FqQueue",
    "GraphML",
    "Icn",
    "Impair",
    "LeafSpine",
    "Link",
    "Member",
    "ModelTrace",
    "NameRoute",
    "Ndn",
    "NetworkNode",
    "NodeStore",
    "Object",
    "ParkingLot",
    "PieQueue",
    "Player",
    "Port",
    "Producer",
    "Quic",
    "Random",
    "Receivers",
    "Record",
    "RedQueue",
    "Route",
    "Routing",
    "Sdn",
    "Source",
    "Star",
    "Store",
    "Stream",
    "Tcp",
    "Tree",
    "Window",
]
