"""Schemes for the tests of schemes in Python: AIMD as a window update, and as a controller that does everything itself."""

import math

import thalweg as tw


class PyAimd(tw.WindowUpdate):
    """AIMD as a window update."""

    a = tw.Parameter(1.0, within=(0.001, 100.0), about="Segments added per round trip.", source="YL00 §2: α")
    b = tw.Parameter(0.5, within=(0.01, 0.99), about="Share of the window kept after a loss.")

    def congestion_avoidance(self, window, ack):
        return window + self.a * ack.packets / window

    def ssthresh(self, window, cut):
        return self.b * window


class PyAimdControl(tw.CongestionControl):
    """AIMD as a controller, with slow start, threshold and undo of its own."""

    a = tw.Parameter(1.0, within=(0.001, 100.0))
    b = tw.Parameter(0.5, within=(0.01, 0.99))

    def __init__(self):
        self.initial = max(self.initial_window_bytes / self.segment_bytes, 1.0)
        self.threshold = math.inf
        self.undo = None
        self.set(self.initial)

    def set(self, segments):
        self.segments = max(segments, 1.0)
        self.window = math.floor(self.segments * self.segment_bytes)

    def set_threshold(self, segments):
        self.threshold = segments
        self.ssthresh = math.inf if segments == math.inf else math.floor(segments * self.segment_bytes)

    def on_ack(self, ack):
        if ack.recovering or ack.marked or ack.app_limited:
            return
        if self.segments < self.threshold:
            self.set(self.segments + min(ack.bytes / self.segment_bytes, 1.0))
        else:
            self.set(self.segments + self.a * ack.packets / self.segments)

    def on_congestion(self, event):
        if event.first:
            self.undo = (self.segments, self.threshold)
            reduced = self.b * self.segments
            self.set_threshold(max(reduced, 2.0))
            if event.cause == "loss":
                self.set(self.threshold)
            elif event.cause != "timeout":
                self.set(reduced)
        if event.cause == "timeout":
            self.set(1.0)

    def on_spurious(self):
        if self.undo is not None:
            window, threshold = self.undo
            self.undo = None
            self.set_threshold(threshold)
            self.set(max(self.segments, window))

    def on_idle(self, idle_s):
        self.set(min(self.segments, self.initial))
