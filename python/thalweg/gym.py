"""Environments for reinforcement learning: `FlowEnv` for one flow (Gymnasium), `FlowsEnv` for several (PettingZoo).

An agent steers each flow whose scheme is `agent`; all other flows of the scenario run their schemes. A step lasts a
smoothed round-trip time, or a fixed interval. The simulation advances in the calling thread, without waiting for real
time; the same seed, scenario and actions give the same observations and the same trace::

    import thalweg.gym

    env = thalweg.gym.FlowEnv()
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`pip install thalweg[gym]` installs Gymnasium and PettingZoo. Importing this module registers `thalweg/Flow-v0` for
`gymnasium.make`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy

try:
    import gymnasium
    from gymnasium import spaces
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"the package `{error.name}` is not installed: `pip install thalweg[gym]` installs it",
        name=error.name,
    ) from None

from . import _native
from .observation import FEATURES, Observer, Step, factor, next_window, power
from .scenario import Plan, Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._native import Summary
    from .result import Result

__all__ = ["FEATURES", "FlowEnv", "FlowsEnv", "Observer", "Step", "default_scenario", "power"]

Reward = Callable[[Step], float]
Make = Callable[[numpy.random.Generator], Scenario]
Vector = numpy.ndarray[Any, numpy.dtype[numpy.float32]]

START_INTERVAL_S = 0.001
"""Until its flow starts, an environment advances by this time."""
FIRST_STEP_S = 0.1
"""A step of a round-trip time before the first sample."""
MIN_RATE_BPS = 1e4
MAX_RATE_BPS = 1e11
"""Limits of the pacing rate."""

_native.register_agent()


def default_scenario(random: numpy.random.Generator | None = None) -> Scenario:
    """One flow `agent` at a bottleneck: 5 to 50 Mbit/s, a delay of 5 to 40 ms, a buffer of 0.5 to 3 times their product.

    The numbers are log-uniform in these ranges; without `random` they are 20 Mbit/s, 15 ms and 1.
    """
    rate, delay, buffer = 20.0, 15.0, 1.0
    if random is not None:
        rate, delay, buffer = (
            float(numpy.exp(random.uniform(numpy.log(low), numpy.log(high))))
            for low, high in ((5, 50), (5, 40), (0.5, 3))
        )
    return Scenario.from_tree(
        {
            "title": "One agent at one bottleneck",
            "duration": "20 s",
            "topology": {
                "kind": "dumbbell",
                "edge": {"rate": "1 Gbit/s", "delay": "1 ms", "buffer": "10000 packets"},
                "bottleneck": {
                    "rate": f"{rate:.3f} Mbit/s",
                    "delay": f"{delay:.3f} ms",
                    "buffer": f"{buffer:.3f} bdp",
                },
            },
            "flows": [{"name": "agent", "scheme": "agent"}],
        }
    )


class _Seat:
    """The state of one agent."""

    def __init__(self, setup: tuple[int, int], act: str) -> None:
        segment, initial = setup
        self.act = act
        self.segment_bytes = segment
        self.window = float(initial)
        self.rate = math.inf
        self.observer = Observer()
        self.rtt_s: float | None = None

    def change(self, action: Any) -> tuple[float, float]:
        """The window and the rate after an action."""
        number = float(numpy.asarray(action, dtype=numpy.float64).reshape(-1)[0])
        if self.act == "window":
            self.window = next_window(self.window, number, self.segment_bytes)
            return self.window, math.inf
        if self.rate == math.inf:
            # the initial window in a round-trip time
            self.rate = self.window * 8 / (self.rtt_s or FIRST_STEP_S)
        self.rate = min(max(self.rate * factor(number), MIN_RATE_BPS), MAX_RATE_BPS)
        # two round-trip times of the rate, so that the rate limits it
        self.window = max(2 * self.rate * (self.rtt_s or FIRST_STEP_S) / 8, 2 * self.segment_bytes)
        return self.window, self.rate

    def see(self, summary: Summary) -> Step:
        """The observation of a step."""
        self.rtt_s = summary.rtt_smoothed_s
        return self.observer.observe(summary, self.window)


class _Episode:
    """A simulation from the start of its first agent."""

    def __init__(self, plan: Plan, act: str, interval_s: float | None) -> None:
        self.plan = plan
        self.native = _native.Simulation(plan._native)
        self.names = self.native.agents
        self.act, self.interval_s = act, interval_s
        self.seats: dict[str, _Seat] = {}
        self.over = False

    def begin(self) -> dict[str, Step]:
        """Advances until the first agent starts, and by a step."""
        while not self.over and not any(self.native.setups):
            self.over, _ = self.native.step([None] * len(self.names), START_INTERVAL_S)
        if self.over:
            raise ValueError("no flow with the scheme `agent` starts before the end of the scenario")
        return self.step({})

    def step(self, actions: Mapping[str, Any]) -> dict[str, Step]:
        """Applies actions and advances by a step; what each started agent saw."""
        changes = [
            self.seats[name].change(actions[name]) if name in self.seats and name in actions else None
            for name in self.names
        ]
        self.over, seen = self.native.step(changes, self.span_s())
        if len(self.seats) < len(self.names):
            for name, setup in zip(self.names, self.native.setups, strict=True):
                if setup is not None and name not in self.seats:
                    self.seats[name] = _Seat(setup, self.act)
        return {
            name: self.seats[name].see(summary)
            for name, summary in zip(self.names, seen, strict=True)
            if summary is not None
        }

    def span_s(self) -> float:
        """The time of the next step: the interval, or the longest smoothed round-trip time of the agents."""
        if self.interval_s is not None:
            return self.interval_s
        return max((seat.rtt_s for seat in self.seats.values() if seat.rtt_s), default=FIRST_STEP_S)

    def result(self) -> Result:
        """The result up to now; ends the simulation."""
        from .result import Result

        self.over = True
        return Result.of(self.plan, self.native.finish(), 0.0, 0.0)


class _Environment:
    """What both environments have in common."""

    def __init__(
        self,
        scenario: Scenario | Make | None,
        interval_s: float | None,
        act: Literal["window", "rate"],
        reward: Reward,
    ) -> None:
        if interval_s is not None and not 0 < interval_s < math.inf:
            raise ValueError(f"interval_s of {interval_s} is not above 0")
        if act not in ("window", "rate"):
            raise ValueError(f"act = {act!r} is neither 'window' nor 'rate'")
        self.scenario: Scenario | Make = default_scenario if scenario is None else scenario
        self.interval_s, self.act, self.reward = interval_s, act, reward
        self.episode: _Episode | None = None

    def spaces(self) -> tuple[spaces.Box, spaces.Box]:
        """Observations and actions."""
        low, high = (
            numpy.array(row, dtype=numpy.float32)
            for row in zip(*[(f.low, f.high) for f in FEATURES], strict=True)
        )
        return spaces.Box(low, high), spaces.Box(-1.0, 1.0, (1,), numpy.float32)

    def plan(self, random: numpy.random.Generator) -> Plan:
        """The plan of an episode."""
        scenario = self.scenario if isinstance(self.scenario, Scenario) else self.scenario(random)
        return scenario.plan(int(random.integers(2**31)))

    def begin(self, random: numpy.random.Generator) -> dict[str, Step]:
        """Begins an episode."""
        self.episode = _Episode(self.plan(random), self.act, self.interval_s)
        return self.episode.begin()

    def running(self) -> _Episode:
        """The episode. Raises `ResetNeeded` before the first, and at its end."""
        if self.episode is None or self.episode.over:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        return self.episode


def _vector(step: Step | None) -> Vector:
    """An observation; zeros before a flow starts."""
    return numpy.array((0.0,) * len(FEATURES) if step is None else step.features, dtype=numpy.float32)


def _info(step: Step | None) -> dict[str, Any]:
    if step is None:
        return {}
    summary = step.summary
    return {
        "now_s": summary.now_s,
        "duration_s": summary.duration_s,
        "delivery_rate_bps": summary.delivery_rate_bps,
        "rtt_mean_s": math.nan if summary.rtt_mean_s is None else summary.rtt_mean_s,
        "lost_bytes": summary.lost_bytes,
        "window_bytes": step.window_bytes,
    }


class FlowEnv(gymnasium.Env[Vector, Vector]):
    """One flow with the scheme `agent`, in any scenario.

    An observation has the numbers of `FEATURES`. An action a is a number in [−1, 1]: the window (or with `act="rate"`
    the pacing rate) is multiplied by 1 + a, or divided by 1 − a if a is below 0. An episode is truncated at the end of the
    scenario, and never terminated.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | Make | None = None,
        *,
        interval_s: float | None = None,
        act: Literal["window", "rate"] = "window",
        reward: Reward = power,
        render_mode: None = None,
    ) -> None:
        """An environment of `scenario`, or of the scenarios that a function makes from random numbers, one per episode.

        A step lasts `interval_s`, by default a smoothed round-trip time. `reward` replaces `thalweg.observation.power`.
        """
        self._env = _Environment(scenario, interval_s, act, reward)
        self.observation_space, self.action_space = self._env.spaces()  # type: ignore[assignment]
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begins an episode. Its observation is as after a first step with the initial window. Raises `ScenarioError`."""
        super().reset(seed=seed, options=options)
        seen = self._env.begin(self.np_random)
        names = self._env.running().names
        if len(names) != 1:
            raise ValueError(
                f"the scenario has {len(names)} flows with the scheme `agent`: FlowsEnv is for several"
            )
        step = seen.get(names[0])
        return _vector(step), _info(step)

    def step(self, action: Vector) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Applies an action and runs for a step."""
        episode = self._env.running()
        [name] = episode.names
        step = episode.step({name: action}).get(name)
        reward = 0.0 if step is None else float(self._env.reward(step))
        return _vector(step), reward, False, episode.over, _info(step)

    def result(self) -> Result:
        """The result of the episode up to now, with its tables and its trace hash. Ends the episode."""
        if self._env.episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before result()")
        return self._env.episode.result()


class FlowsEnv(ParallelEnv):  # type: ignore[misc]
    """All flows with the scheme `agent` of a scenario, one agent each, all acting at the same times.

    Spaces and rewards are as in `FlowEnv`, for each agent. A step lasts `interval_s`, by default the longest smoothed
    round-trip time of the agents. An agent whose flow has not started sees zeros.
    """

    metadata: dict[str, Any] = {"name": "thalweg_flows_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | Make,
        *,
        interval_s: float | None = None,
        act: Literal["window", "rate"] = "window",
        reward: Reward = power,
        render_mode: None = None,
    ) -> None:
        """An environment of `scenario`, or of the scenarios that a function makes, all with the same agents."""
        self._env = _Environment(scenario, interval_s, act, reward)
        self._random = numpy.random.default_rng()
        plan = self._env.plan(numpy.random.default_rng(0))
        self.possible_agents: list[str] = _native.Simulation(plan._native).agents
        if not self.possible_agents:
            raise ValueError("the scenario has no flow with the scheme `agent`")
        self.agents: list[str] = []
        made = {name: self._env.spaces() for name in self.possible_agents}
        self.observation_spaces = {name: space for name, (space, _) in made.items()}
        self.action_spaces = {name: space for name, (_, space) in made.items()}
        self.render_mode = render_mode

    def observation_space(self, agent: str) -> spaces.Box:
        """The observations of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Box:
        """The actions of an agent."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Vector], dict[str, dict[str, Any]]]:
        """Begins an episode, as `FlowEnv.reset`."""
        del options
        if seed is not None:
            self._random = numpy.random.default_rng(seed)
        seen = self._env.begin(self._random)
        if self._env.running().names != self.possible_agents:
            raise ValueError("the scenarios of an environment have the same agents")
        self.agents = list(self.possible_agents)
        return self._observations(seen), self._infos(seen)

    def step(
        self, actions: dict[str, Vector]
    ) -> tuple[
        dict[str, Vector], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
        """Applies the actions of all agents and runs for a step."""
        episode = self._env.running()
        seen = episode.step(actions)
        rewards = {name: float(self._env.reward(seen[name])) if name in seen else 0.0 for name in self.agents}
        observations, infos = self._observations(seen), self._infos(seen)
        terminations = dict.fromkeys(self.agents, False)
        truncations = dict.fromkeys(self.agents, episode.over)
        if episode.over:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def _observations(self, seen: dict[str, Step]) -> dict[str, Vector]:
        return {name: _vector(seen.get(name)) for name in self.agents}

    def _infos(self, seen: dict[str, Step]) -> dict[str, dict[str, Any]]:
        return {name: _info(seen.get(name)) for name in self.agents}

    def result(self) -> Result:
        """The result of the episode up to now, with its tables and its trace hash. Ends the episode."""
        if self._env.episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before result()")
        self.agents = []
        return self._env.episode.result()


gymnasium.register(id="thalweg/Flow-v0", entry_point="thalweg.gym:FlowEnv")
