//! Which keys of a table stand for which settings of a state machine or of the simulator: resolving fills keys from the
//! usual settings, lowering sets settings from the keys.

use contract::EcnFeedback;
use sim::Encoder as EncoderConfig;
use sim::{ClockSpec, Emulation as EmulationSettings, Metric};
use stack::icn::Config as IcnConfig;
use stack::ndn::{ConsumerConfig, EpisodeCheck, Policy, ProducerConfig, Store as StoreConfig};
use stack::quic::FlowControl;
use stack::sdn::Config as SdnConfig;
use stack::stream::{Config as StreamConfig, Depends, Player as PlayerConfig};
use stack::tcp::{
    Acks, AppLimited, Config as TcpConfig, LossDetection, RecoveryTimer, Reduction, RtoFloor, WindowPacing,
};
use units::{Bytes, Drift, Duration, Offset, Rate};

use crate::schema::emulation::Emulation;
use crate::schema::file::{Clock, Icn, MetricWord, Stream};
use crate::schema::ndn::{Consumer, EpisodeWord, NodeStore, PolicyWord, Producer, Store};
use crate::schema::quic::Quic;
use crate::schema::read::{Field, Read};
use crate::schema::sdn::Sdn;
use crate::schema::tcp::{
    AcksWord, AppLimitedWord, DetectionWord, FeedbackWord, FloorWord, PacingWord, ReductionWord, Tcp,
    TimerWord,
};
use crate::schema::video::{DependsWord, Encoder, LateWord, Player};

/// A value of a scenario that stands for a setting of type `M`.
pub(crate) trait Setting<M>: Read {
    /// The setting.
    fn to_setting(&self) -> M;

    /// The value that stands for it.
    fn of_setting(setting: &M) -> Self;
}

/// Values that are settings themselves.
macro_rules! same {
    ($($Type:ty),*) => {$(
        impl Setting<Self> for $Type {
            fn to_setting(&self) -> Self {
                *self
            }
            fn of_setting(setting: &Self) -> Self {
                *setting
            }
        }
    )*};
}

same!(bool, u32, f64, Bytes, Drift, Duration, Offset, Rate);

impl Setting<u8> for u32 {
    fn to_setting(&self) -> u8 {
        u8::try_from(*self).unwrap_or(u8::MAX)
    }
    fn of_setting(setting: &u8) -> Self {
        Self::from(*setting)
    }
}

impl Setting<bool> for LateWord {
    fn to_setting(&self) -> bool {
        *self == Self::Wait
    }
    fn of_setting(waits: &bool) -> Self {
        if *waits { Self::Wait } else { Self::Skip }
    }
}

/// Words that stand for the variants of the same names.
macro_rules! variants {
    ($($Word:ident for $Setting:ident { $($Variant:ident),* })*) => {$(
        impl Setting<$Setting> for $Word {
            fn to_setting(&self) -> $Setting {
                match self { $(Self::$Variant => $Setting::$Variant),* }
            }
            fn of_setting(setting: &$Setting) -> Self {
                match setting { $($Setting::$Variant => Self::$Variant),* }
            }
        }
    )*};
}

variants! {
    TimerWord for RecoveryTimer { Impatient, Steady }
    DetectionWord for LossDetection { Count, Time }
    FloorWord for RtoFloor { Timeout, Variation }
    ReductionWord for Reduction { Halt, Proportional }
    AppLimitedWord for AppLimited { AtEnd, AtWrite }
    AcksWord for Acks { Honest, Divided, Repeated, Optimistic }
    PacingWord for WindowPacing { Off, Quic, Linux }
    FeedbackWord for EcnFeedback { Classic, Dctcp, Accurate }
    EpisodeWord for EpisodeCheck { Segment, Highest }
    PolicyWord for Policy { Lru, Fifo, None }
    DependsWord for Depends { Nothing, Intra, References }
    MetricWord for Metric { Delay, Hops }
}

/// The keys of tables that stand for settings: those of the same names, and others with the setting that they stand
/// for.
macro_rules! settings {
    ($($Table:ident for $Settings:ident { $($key:ident),* $(; $($other:ident for $($part:ident).+),+)? })*) => {$(
        impl $Table {
            /// The table with every key that stands for a setting: as written, or else as `defaults`.
            pub(crate) fn filled(&self, defaults: &$Settings) -> Self {
                let mut table = self.clone();
                $(if table.$key.present().is_none() {
                    table.$key = Field::of(Setting::of_setting(&defaults.$key));
                })*
                $($(if table.$other.present().is_none() {
                    table.$other = Field::of(Setting::of_setting(&defaults.$($part).+));
                })+)?
                table
            }

            /// Applies the table to the settings.
            pub(crate) fn set(&self, settings: &mut $Settings) {
                $(if let Some(at) = self.$key.present() {
                    settings.$key = at.value.to_setting();
                })*
                $($(if let Some(at) = self.$other.present() {
                    settings.$($part).+ = at.value.to_setting();
                })+)?
            }
        }
    )*};
}

settings! {
    Tcp for TcpConfig {
        sack, dsack, limited_transmit, fast_recovery, recovery_timer, loss_detection, tail_probe, reduction, undo, time_stamps, frto, idle_restart, idle_decay,
        delayed_ack, ack_delay, quick_acks, sack_compression, ecn, ecn_feedback, l4s, initial_window, initial_rto, min_rto, rto_floor, max_rto, receive_window,
        receive_buffer, send_buffer, gso, pacing, unpaced, timer_slack, app_limited, handshake, acks, header
    }
    Quic for FlowControl { receive_window, send_window }
    Stream for StreamConfig { jitter, feedback, reorder, reordering_window, ecn }
    Player for PlayerConfig { startup, resume, depends; late for stall_on_missing }
    Encoder for EncoderConfig {
        start, frame_rate;
        min for model.min, max for model.max, reaction for model.reaction, variation for model.variation, key_ratio for model.key_ratio
    }
    Icn for IcnConfig { refresh, lifetime, signal, probe, probe_packets; initial_rto for retry }
    Sdn for SdnConfig { period, phase, message; initial_rto for retry, max_age for stale }
    Store for StoreConfig { policy, size }
    NodeStore for StoreConfig { policy, size }
    Producer for ProducerConfig { payload, data, delay }
    Consumer for ConsumerConfig {
        tick, tick_phase, jitter, initial_window, marks, episode, episode_check, retries, lifetime, interest;
        initial_rto for timeout.initial, min_rto for timeout.min, max_rto for timeout.max,
        rto_backoff for timeout.backoff, rto_scan for timeout.scan
    }
    Clock for ClockSpec { offset, drift }
    Emulation for EmulationSettings { max_lateness }
}
