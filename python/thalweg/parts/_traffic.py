"""Builders: applications, arrivals and video.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Required, TypedDict, Unpack

    class EncoderKeys(TypedDict, total=False):
        """Keys of `Encoder`."""

        min: str | None
        start: str | None
        max: str | None
        frame_rate: int | None
        reaction: str | None
        variation: float | None
        key_ratio: float | None
        key_every: int | None
        drop_after: str | None

    class PlayerKeys(TypedDict, total=False):
        """Keys of `Player`."""

        startup: str | None
        resume: str | None
        late: str | None
        depends: str | None
        modes: Iterable[str] | None
        low: str | None
        high: str | None

    class ArrivalsKeys(TypedDict, total=False):
        """Keys of `Arrivals`."""

        load: str | None
        count: int | None
        size: Required[str]
        size_shape: float | None
        size_variation: float | None
        sizes: str | Iterable[Iterable[float]] | None
        duration: str | None
        file: str | None

    class AppKeys(TypedDict, total=False):
        """Keys of `App`."""

        name: str | None
        kind: str | None
        count: int | None
        size: str | None
        size_shape: float | None
        size_variation: float | None
        sizes: str | Iterable[Iterable[float]] | None
        think: str | None
        think_shape: float | None
        think_fixed: bool | None
        request: str | None
        connections: int | None
        multiplex: bool | None
        objects: Iterable[Mapping[str, Any]] | None
        file: str | None
        weight: str | None
        number: int | None
        page_seed: int | None
        rates: Iterable[str] | None
        segment: str | None
        variation: float | None
        abr: str | None
        start_rate: str | None
        buffer: str | None
        buffer_at_top: str | None
        startup: str | None
        abandon: bool | None

    class ObjectKeys(TypedDict, total=False):
        """Keys of `Object`."""

        size: str | None
        after: Iterable[int] | None
        delay: str | None


class Encoder(Part):
    """A live video encoder.

    Its rate follows the target rate of the stream's scheme, or the bandwidth that a stack for media
    estimates.

    - `min` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Lowest rate. Default: 150 kbit/s; with
      `stack` 100 kbit/s.
    - `start` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): stack: estimate at the start, from `min`
      to `max`. Default: 300 kbit/s. A scheme has a parameter for its initial rate.
    - `max` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Highest rate. A stack probes for as much.
      Default: 1.5 Mbit/s; with `stack` 2.5 Mbit/s.
    - `frame_rate` (whole number): Frames per second. Default: 30.
    - `reaction` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Reaction time, the minimum time between two
      changes of the encoder's rate (RFC 8593 §4.1). Default: 200 ms.
    - `variation` (number): Variation of frame sizes, the scale of a Laplace distribution as a share of the
      mean size (RFC 8593 §4.3). Default: 0.15.
    - `key_ratio` (number): Size of a key frame relative to the mean size (RFC 8593 §4.2). The seven frames
      after it are smaller. Default: 3.237.
    - `key_every` (whole number): Number of frames from one key frame to the next. Default: only the first
      frame is a key frame.
    - `drop_after` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Streams: drop frames that have waited at the
      sender for longer than this. Default: never.
    """

    KEYS: ClassVar = {
        "min": ("str | None", "50 Mbit/s"),
        "start": ("str | None", "50 Mbit/s"),
        "max": ("str | None", "50 Mbit/s"),
        "frame_rate": ("int | None", ""),
        "reaction": ("str | None", "60 s"),
        "variation": ("float | None", ""),
        "key_ratio": ("float | None", ""),
        "key_every": ("int | None", ""),
        "drop_after": ("str | None", "60 s"),
    }

    def __init__(self, **keys: Unpack[EncoderKeys]) -> None:
        super().__init__(keys)


class Player(Part):
    """Playback of frames by the receivers of a stream.

    - `startup` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Playback starts when this much video is buffered.
      Default: 1 s.
    - `resume` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Playback resumes after a stall when this much video
      is buffered. Default: as `startup`.
    - `late` (`wait`, `skip`): What to do with a frame that is due and has not arrived. Default: wait.
    - `depends` (`nothing`, `intra`, `references`): Which other frames a frame needs to be shown. Default:
      intra if frames have types, otherwise nothing.
    - `modes` (list of text): Two modes of the scheme: the first while the buffer fills, the second once it is
      full.
    - `low` (such as `"60 s"`, `"20 ms"`, `"500 us"`): modes: switch to the first mode when the buffer holds
      less than this. Default: 5 s.
    - `high` (such as `"60 s"`, `"20 ms"`, `"500 us"`): modes: switch to the second mode when the buffer holds
      this. Default: 20 s.
    """

    KEYS: ClassVar = {
        "startup": ("str | None", "60 s"),
        "resume": ("str | None", "60 s"),
        "late": ("str | None", "wait"),
        "depends": ("str | None", "nothing"),
        "modes": ("Iterable[str] | None", ""),
        "low": ("str | None", "60 s"),
        "high": ("str | None", "60 s"),
    }

    def __init__(self, **keys: Unpack[PlayerKeys]) -> None:
        super().__init__(keys)


class Arrivals(Part):
    """Flows that arrive as a Poisson process, from `start` until `stop`; or at the times that a file lists.

    - `rate` (number): Mean number of new flows per second.
    - `load` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Offered load instead of `rate`: mean
      payload that the new flows bring per second.
    - `count` (whole number): Maximum number of flows; fewer arrive if `stop` or the end of the run comes
      first. Default: no limit.
    - `size` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): TCP and QUIC: mean payload of a flow; without a shape
      or variation every flow has this size.
    - `size_shape` (number): Shape of Pareto-distributed sizes, above 1.
    - `size_variation` (number): Coefficient of variation (standard deviation / mean) of log-normal sizes.
    - `sizes` (such as `"web_search"`, `"data_mining"` or list of list of number): Distribution of the sizes,
      instead of `size`: "web_search" (Alizadeh et al., DCTCP, SIGCOMM 2010), "data_mining" (Greenberg et al.,
      VL2, SIGCOMM 2009); or the path of a text file, relative to the scenario, of which each line is a size
      in bytes and the share of flows up to this size, from 0 to 1 or to 100; with a third column between
      them, as in the files of pFabric, sizes are packets of 1460 bytes; or the pairs as a list. Between two
      sizes the distribution is uniform.
    - `duration` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Streams and datagrams: mean duration of a flow,
      such as a call; durations are exponentially distributed.
    - `file` (text): Path of a CSV file of flows, relative to the scenario, instead of random arrivals. Each
      line is a start in seconds after `start` and a payload in bytes, `0.5,20000`; or a start, the sender's
      node, the receiver's node and a payload, `0.5,h1,h2,20000`, and then `from` and `to` are left out. A
      first line can name the columns and the unit of times: `start_ms,bytes`. Starts since 1970 are counted
      from the first one.
    """

    KEYS: ClassVar = {
        "rate": ("float", ""),
        "load": ("str | None", "50 Mbit/s"),
        "count": ("int | None", ""),
        "size": ("str", "1500 B"),
        "size_shape": ("float | None", ""),
        "size_variation": ("float | None", ""),
        "sizes": ("str | Iterable[Iterable[float]] | None", ""),
        "duration": ("str | None", "60 s"),
        "file": ("str | None", ""),
    }

    def __init__(self, rate: float, **keys: Unpack[ArrivalsKeys]) -> None:
        super().__init__({"rate": rate, **keys})


class App(Part):
    """An application at the receiver.

    It asks the sender for data by requests of one packet each, which are repeated after 1 s, 2 s and so on
    while nothing arrives, and waits for the answers. The first request opens the connection. Connections stay
    open.

    - `name` (text): Its name in results. Flows whose application has one name are its connections. Default:
      the name of the entry; with `requests` and `player`, of the flow.
    - `kind` (`requests`, `incast`, `page`, `player`): What it does.
    - `count` (whole number): Number of rounds, of loads of the page, or of segments of the video. Default:
      until `stop` or the end of the run.
    - `size` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): requests, incast: mean size of an answer; without a
      shape or variation every answer has this size.
    - `size_shape` (number): requests, incast: shape of Pareto-distributed sizes, above 1.
    - `size_variation` (number): requests, incast: coefficient of variation of log-normal sizes.
    - `sizes` (such as `"web_search"`, `"data_mining"` or list of list of number): requests, incast:
      distribution of the sizes, as in `arrivals`.
    - `think` (such as `"60 s"`, `"20 ms"`, `"500 us"`): requests, incast, page: mean think time from the end
      of a round or load to the start of the next one, exponentially distributed. Default: none.
    - `think_shape` (number): Shape of Pareto-distributed think times, above 1.
    - `think_fixed` (true or false): All think times have their mean length.
    - `request` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size on the wire of a request. Default: 400 B.
    - `connections` (whole number): page: number of connections. Default: 6; with `multiplex` 1.
    - `multiplex` (true or false): page: a connection can have several unanswered requests, as in HTTP/2 and
      HTTP/3; they are answered in order. Default: false, one at a time, as in HTTP/1.1.
    - `objects` (list of `Object`): page: its objects. Default: those of a model of a median page of the HTTP
      Archive, which `weight`, `number` and `page_seed` set.
    - `file` (text): page: path of a CSV file of objects, relative to the scenario. Each line is the size of
      an object in bytes, the delay before its request in milliseconds, and the numbers of the objects that it
      waits for, from 1, with spaces between them: `20000,5,1 3`.
    - `weight` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): page: mean size of all objects of the model.
      Default: 2652 kB.
    - `number` (whole number): page: number of objects of the model. Default: 71.
    - `page_seed` (whole number): page: seed of the model; the seed of the run does not change the page.
      Default: 1.
    - `rates` (list of such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): player: rates of the qualities,
      ascending.
    - `segment` (such as `"60 s"`, `"20 ms"`, `"500 us"`): player: duration of a segment. Default: 4 s.
    - `variation` (number): player: coefficient of variation of the sizes of segments, which are log-normal
      and vary alike in all qualities. Default: 0.
    - `abr` (`throughput`, `bola`, `dynamic`): player: how the quality of the next segment is chosen. Default:
      dynamic.
    - `start_rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): player: the first segment has the
      highest quality up to this rate. Default: 1 Mbit/s.
    - `buffer` (such as `"60 s"`, `"20 ms"`, `"500 us"`): player: level up to which the buffer is filled.
      Default: 18 s.
    - `buffer_at_top` (such as `"60 s"`, `"20 ms"`, `"500 us"`): player: the same at the highest quality.
      Default: 30 s, or `buffer` if that is longer.
    - `startup` (such as `"60 s"`, `"20 ms"`, `"500 us"`): player: playback starts, and resumes after a stall,
      when this much video is buffered. Default: `segment`.
    - `abandon` (true or false): player: abandon the request for a segment that would take more than 1.8 times
      its duration, for a lower quality of it (`AbandonRequestsRule` of dash.js). Default: true, over a QUIC
      `stack` false.
    """

    KEYS: ClassVar = {
        "name": ("str | None", ""),
        "kind": ("str | None", "requests"),
        "count": ("int | None", ""),
        "size": ("str | None", "1500 B"),
        "size_shape": ("float | None", ""),
        "size_variation": ("float | None", ""),
        "sizes": ("str | Iterable[Iterable[float]] | None", ""),
        "think": ("str | None", "60 s"),
        "think_shape": ("float | None", ""),
        "think_fixed": ("bool | None", ""),
        "request": ("str | None", "1500 B"),
        "connections": ("int | None", ""),
        "multiplex": ("bool | None", ""),
        "objects": ("Iterable[Mapping[str, Any]] | None", ""),
        "file": ("str | None", ""),
        "weight": ("str | None", "1500 B"),
        "number": ("int | None", ""),
        "page_seed": ("int | None", ""),
        "rates": ("Iterable[str] | None", ""),
        "segment": ("str | None", "60 s"),
        "variation": ("float | None", ""),
        "abr": ("str | None", "throughput"),
        "start_rate": ("str | None", "50 Mbit/s"),
        "buffer": ("str | None", "60 s"),
        "buffer_at_top": ("str | None", "60 s"),
        "startup": ("str | None", "60 s"),
        "abandon": ("bool | None", ""),
    }

    def __init__(self, **keys: Unpack[AppKeys]) -> None:
        super().__init__(keys)


class Object(Part):
    """An object of a web page.

    - `size` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Its size.
    - `after` (list of whole number): Numbers of the objects that must have arrived before it is requested,
      from 1, each before it. Default: none.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Time that the browser computes before the request.
      Default: 0 s.
    """

    KEYS: ClassVar = {
        "size": ("str | None", "1500 B"),
        "after": ("Iterable[int] | None", ""),
        "delay": ("str | None", "60 s"),
    }

    def __init__(self, **keys: Unpack[ObjectKeys]) -> None:
        super().__init__(keys)
