"""Environments for reinforcement learning: the checks of Gymnasium and PettingZoo, determinism, and what a step is."""

import math
import warnings

import gymnasium
import numpy
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

import thalweg as tw
from thalweg import gym
from thalweg.observation import FEATURES, factor


def network(*flows, **keys):
    """Flows at a bottleneck of 12 Mbit/s; flows of an agent are called a, b …"""
    return tw.Scenario(
        duration=keys.pop("duration", "5 s"),
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="12 Mbit/s", delay="20 ms", buffer="1 bdp")),
        flows=list(flows) or [tw.Flow(name="a", scheme="agent")],
        **keys,
    )


def steps(env, actions, seed=4):
    """Everything that an environment returns."""
    seen, info = env.reset(seed=seed)
    rows = [(seen.tolist(), info)]
    for action in actions:
        seen, reward, terminated, truncated, info = env.step(numpy.array([action], dtype=numpy.float32))
        rows.append((seen.tolist(), reward, terminated, truncated, info))
        if truncated:
            break
    return rows


@pytest.mark.parametrize("keys", [{}, {"interval_s": 0.02}, {"act": "rate"}])
def test_gymnasium_accepts_the_environment(keys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.FlowEnv(**keys), skip_render_check=True)


def test_gymnasium_makes_it_by_name():
    env = gymnasium.make("thalweg/Flow-v0", interval_s=0.05)
    env.reset(seed=1)
    *_, info = env.step(env.action_space.sample())
    assert info["duration_s"] == pytest.approx(0.05)


def test_pettingzoo_accepts_the_environment_of_several_flows():
    flows = [tw.Flow(name=name, scheme="agent") for name in "ab"]
    flows.append(tw.Flow(name="cubic", scheme="cubic"))
    parallel_api_test(gym.FlowsEnv(network(*flows)), num_cycles=300)


def test_the_same_seed_and_actions_give_the_same_episode():
    actions = numpy.random.default_rng(1).uniform(-1, 1, 80).tolist()
    rows = [steps(gym.FlowEnv(), actions, seed) for seed in (1, 1, 2)]
    assert rows[0] == rows[1]
    assert rows[0] != rows[2]


def test_an_episode_ends_with_the_scenario_and_has_a_result():
    env = gym.FlowEnv(network(), interval_s=0.05)
    rows = steps(env, [0.0] * 1000)
    assert len(rows) == 5 / 0.05
    assert rows[-1][3] is True
    assert rows[-1][4]["now_s"] == pytest.approx(5.0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(numpy.zeros(1, dtype=numpy.float32))
    result = env.result()
    assert result.complete
    assert result.flows["goodput_bps"][0] > 1e6
    # what was delivered in the steps is what the tables say
    delivered = sum(row[-1]["delivery_rate_bps"] * row[-1]["duration_s"] for row in rows)
    assert delivered == pytest.approx(result.flows["goodput_bps"][0] * 5.0, rel=0.02)


def test_an_action_that_changes_nothing_is_a_constant_window():
    # the window of the first step is the initial one, 10 segments of 1460 bytes in a round trip of 44 ms and more
    env = gym.FlowEnv(network(), interval_s=0.1)
    rows = steps(env, [0.0] * 30)
    assert {row[-1]["window_bytes"] for row in rows} == {14600.0}
    assert rows[-1][-1]["delivery_rate_bps"] == pytest.approx(14600 * 8 / rows[-1][-1]["rtt_mean_s"], rel=0.1)


def test_an_action_takes_effect_at_once():
    env = gym.FlowEnv(network(), interval_s=0.5)
    rows = steps(env, [0.0] * 5 + [1.0] + [0.0] * 3)
    rates = [row[-1]["delivery_rate_bps"] for row in rows]
    assert rates[6] > 1.4 * rates[5]
    assert rates[8] == pytest.approx(2 * rates[5], rel=0.1)


def test_a_paced_agent_sends_at_its_rate():
    env = gym.FlowEnv(network(), interval_s=0.5, act="rate")
    rows = steps(env, [0.0] * 8)
    [one, *_] = {row[-1]["window_bytes"] for row in rows[1:]}
    assert one > 14600
    rates = [row[-1]["delivery_rate_bps"] for row in rows[2:]]
    assert max(rates) < 1.1 * min(rates)


def test_a_step_is_a_round_trip_unless_an_interval_is_given():
    rows = steps(gym.FlowEnv(network()), [0.0] * 20)
    assert rows[10][-1]["duration_s"] == pytest.approx(rows[9][-1]["rtt_mean_s"], rel=0.1)


def test_steps_do_not_change_what_happens():
    """An agent that keeps a window has the throughput of a scheme that does, beside the same other flow."""

    class Constant(tw.CongestionControl):
        def on_round(self, summary):
            self.window = self.initial_window_bytes

    tw.register_scheme(Constant)
    other = tw.Flow(name="cubic", scheme="cubic")
    env = gym.FlowEnv(network(tw.Flow(name="a", scheme="agent"), other), interval_s=0.037)
    env.reset(seed=1)
    while not env.step(numpy.zeros(1, dtype=numpy.float32))[3]:
        pass
    ours = env.result()
    theirs = network(tw.Flow(name="a", scheme="constant"), other).run(seed=ours.seed)
    assert ours.flows["goodput_bps"].to_list() == theirs.flows["goodput_bps"].to_list()


def test_the_reward_can_be_replaced():
    env = gym.FlowEnv(network(), reward=lambda step: step.summary.acked_bytes / 1e6)
    rows = steps(env, [0.0] * 5)
    info = rows[3][-1]
    assert rows[3][1] == pytest.approx(info["delivery_rate_bps"] * info["duration_s"] / 8e6)


def test_each_episode_can_have_its_own_network():
    seen = []

    def make(random):
        seen.append(round(float(random.uniform(5, 50)), 3))
        return network().with_({"topology.bottleneck.rate": f"{seen[-1]} Mbit/s"})

    env = gym.FlowEnv(make)
    for seed in (1, None, 1):
        env.reset(seed=seed)
    assert seen[0] == seen[2] != seen[1]


def test_an_agent_that_starts_later_sees_zeros_until_then():
    flows = [tw.Flow(name="a", scheme="agent"), tw.Flow(name="b", scheme="agent", start="1 s")]
    env = gym.FlowsEnv(network(*flows), interval_s=0.3)
    seen, infos = env.reset(seed=1)
    assert seen["b"].tolist() == [0.0] * len(FEATURES)
    assert infos["b"] == {}
    for _ in range(5):
        seen, *_, infos = env.step({name: numpy.zeros(1, dtype=numpy.float32) for name in "ab"})
    assert infos["b"]["window_bytes"] == 14600.0


def test_wrong_settings_are_refused():
    two = [tw.Flow(name=name, scheme="agent") for name in "ab"]
    with pytest.raises(ValueError, match="FlowsEnv is for several"):
        gym.FlowEnv(network(*two)).reset()
    with pytest.raises(ValueError, match="no flow with the scheme `agent`"):
        gym.FlowsEnv(network(tw.Flow(name="cubic", scheme="cubic")))
    with pytest.raises(ValueError, match="starts before the end"):
        gym.FlowEnv(network(tw.Flow(name="a", scheme="agent", start="3.9999 s"), duration="4 s")).reset()
    with pytest.raises(ValueError, match="interval_s"):
        gym.FlowEnv(interval_s=0.0)
    with pytest.raises(ValueError, match="act ="):
        gym.FlowEnv(act="both")
    with pytest.raises(tw.SchemeError, match=r"environment of thalweg\.gym"):
        network().run()


def test_an_exception_of_another_scheme_ends_a_step():
    class Broken(tw.CongestionControl):
        def on_ack(self, ack):
            raise RuntimeError("broken")

    tw.register_scheme(Broken)
    env = gym.FlowEnv(network(tw.Flow(name="a", scheme="agent"), tw.Flow(name="x", scheme="broken")))
    with pytest.raises(tw.SchemeError, match=r"Broken\.on_ack of flow `x`"):
        env.reset(seed=1)


def test_factors_are_symmetric():
    assert [factor(action) for action in (-2, -1, -0.5, 0, 0.5, 1, 2)] == [
        0.5,
        0.5,
        1 / 1.5,
        1.0,
        1.5,
        2.0,
        2.0,
    ]
    assert math.prod(factor(action) for action in (0.3, -0.3)) == pytest.approx(1.0)
