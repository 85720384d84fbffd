"""A scheme: additive increase, multiplicative decrease. Change what it does.

Run it beside others: `thalweg run first.toml --scheme-file THIS_FILE --set flows.reno.scheme=my_scheme`,
after `thalweg new first.toml`.
"""

import thalweg as tw
from thalweg.scheme import Ack, Cut


class MyScheme(tw.WindowUpdate):
    """Additive increase by `a`, multiplicative decrease to `b`."""

    a = tw.Parameter(1.0, within=(0.001, 100.0), about="Segments added per round trip.")
    b = tw.Parameter(0.5, within=(0.01, 0.99), about="Share of the window kept after a loss.")

    def congestion_avoidance(self, window: float, ack: Ack) -> float:
        """The window in segments after an acknowledgement."""
        return float(window + self.a * ack.packets / window)

    def ssthresh(self, window: float, cut: Cut) -> float:  # noqa: ARG002
        """The window in segments after a loss, once per round trip."""
        return float(self.b * window)
