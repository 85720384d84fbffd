//! The settings of the TCP that is drilled: settings of Linux by their `sysctl` names, and options of the script.

use contract::{EcnFeedback, ParamList, ParamValue};
use stack::tcp::{Config, LossDetection, WindowPacing};
use units::{Bytes, Duration, Rate};

use crate::problem::nearest;
use crate::{Like, Options};

/// The settings of a connection, before it is opened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// The congestion controller.
    pub(crate) scheme: String,
    /// Whether the program that runs the script has chosen it.
    scheme_is_fixed: bool,
    /// Parameters of the scheme that the script sets.
    params: ParamList,
    pub(crate) like: Like,
    pub(crate) time_stamps: bool,
    pub(crate) sack: bool,
    ecn: u32,
    idle_restart: bool,
    tail_probe: bool,
    frto: bool,
    rack: bool,
    pacing: bool,
    /// Whether segments leave in batches, as from a kernel that has a device with segmentation offload.
    gso: bool,
    /// Of the timeout, if the script sets them.
    min_rto: Option<Duration>,
    max_rto: Option<Duration>,
    sack_compression: Option<Duration>,
    /// Deviation of a time that is accepted.
    pub(crate) tolerance: Duration,
    /// Deviation that is accepted as a share of the time since the last event, in percent.
    pub(crate) tolerance_percent: f64,
    /// The unit of time stamps.
    pub(crate) tick: Duration,
}

/// Why a setting is refused.
pub(crate) enum Refusal {
    /// Its name is unknown: a hint.
    Unknown(String),
    /// Its value is none: a hint.
    Wrong(String),
    /// It cannot be expressed: the feature.
    Beyond(String),
}

/// What a setting of Linux does here.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// It is applied.
    Applied,
    /// It is applied if its value is one of these; others cannot be expressed.
    Only(&'static [&'static str]),
    /// None: it has no effect on what is judged here.
    Nothing,
}

/// The settings of Linux that are known.
const SYSCTLS: [(&str, Effect); 55] = [
    ("tcp_congestion_control", Effect::Applied),
    ("tcp_timestamps", Effect::Applied),
    ("tcp_sack", Effect::Applied),
    ("tcp_ecn", Effect::Applied),
    ("tcp_slow_start_after_idle", Effect::Applied),
    ("tcp_early_retrans", Effect::Applied),
    ("tcp_recovery", Effect::Applied),
    ("tcp_frto", Effect::Applied),
    ("tcp_rto_min_us", Effect::Applied),
    ("tcp_rto_max_ms", Effect::Applied),
    ("tcp_comp_sack_delay_ns", Effect::Applied),
    ("tcp_comp_sack_nr", Effect::Applied),
    ("default_qdisc", Effect::Applied),
    ("tcp_reordering", Effect::Only(&["3"])),
    ("tcp_fack", Effect::Only(&["0"])),
    ("tcp_mtu_probing", Effect::Only(&["0"])),
    ("tcp_pacing_ss_ratio", Effect::Only(&["200"])),
    ("tcp_pacing_ca_ratio", Effect::Only(&["120"])),
    ("tcp_thin_linear_timeouts", Effect::Only(&["0"])),
    ("tcp_shrink_window", Effect::Only(&["0"])),
    ("tcp_limit_output_bytes", Effect::Nothing),
    ("tcp_dsack", Effect::Nothing),
    ("tcp_ecn_option", Effect::Nothing),
    ("tcp_ecn_option_beacon", Effect::Nothing),
    ("tcp_ecn_fallback", Effect::Nothing),
    ("tcp_rmem", Effect::Nothing),
    ("tcp_wmem", Effect::Nothing),
    ("rmem_max", Effect::Nothing),
    ("wmem_max", Effect::Nothing),
    ("tcp_moderate_rcvbuf", Effect::Nothing),
    ("tcp_adv_win_scale", Effect::Nothing),
    ("tcp_window_scaling", Effect::Nothing),
    ("tcp_tso_win_divisor", Effect::Nothing),
    ("tcp_min_tso_segs", Effect::Nothing),
    ("tcp_tso_rtt_log", Effect::Nothing),
    ("tcp_autocorking", Effect::Nothing),
    ("tcp_notsent_lowat", Effect::Nothing),
    ("tcp_base_mss", Effect::Nothing),
    ("tcp_min_snd_mss", Effect::Nothing),
    ("tcp_retries1", Effect::Nothing),
    ("tcp_retries2", Effect::Nothing),
    ("tcp_syn_retries", Effect::Nothing),
    ("tcp_synack_retries", Effect::Nothing),
    ("tcp_syn_linear_timeouts", Effect::Nothing),
    ("tcp_syncookies", Effect::Nothing),
    ("tcp_no_metrics_save", Effect::Nothing),
    ("tcp_fastopen", Effect::Nothing),
    ("tcp_fastopen_key", Effect::Nothing),
    ("tcp_fastopen_cookies", Effect::Nothing),
    ("tcp_fastopen_blackhole_timeout_sec", Effect::Nothing),
    ("tcp_fin_timeout", Effect::Nothing),
    ("tcp_invalid_ratelimit", Effect::Nothing),
    ("tcp_challenge_ack_limit", Effect::Nothing),
    ("tcp_pingpong_thresh", Effect::Nothing),
    ("ip_no_pmtu_disc", Effect::Nothing),
];

/// Options of scripts that have no effect here.
const IDLE_OPTIONS: [&str; 16] = [
    "ip_version",
    "mtu",
    "mss",
    "bind_port",
    "connect_port",
    "local_ip",
    "remote_ip",
    "gateway_ip",
    "netmask_ip",
    "init_scripts",
    "speed",
    "non_fatal",
    "verbose",
    "dry_run",
    "send_omit_free",
    "wire_client",
];
/// Those that cannot be expressed.
const BEYOND_OPTIONS: [&str; 5] =
    ["strict_segments", "tcp_ts_ecr_scaled", "define", "udp_encaps", "wire_server"];
/// Those that have one.
const OPTIONS: [&str; 3] = ["tolerance_usecs", "tolerance_percent", "tcp_ts_tick_usecs"];

impl Settings {
    /// The defaults of Linux, and what the program chose.
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            scheme: options.scheme.clone().unwrap_or_else(|| "cubic".to_owned()),
            scheme_is_fixed: options.scheme.is_some(),
            params: ParamList::new(),
            like: options.like,
            time_stamps: true,
            sack: true,
            ecn: 2,
            idle_restart: true,
            tail_probe: true,
            frto: true,
            rack: true,
            pacing: false,
            gso: options.like == Like::Linux,
            min_rto: None,
            max_rto: None,
            sack_compression: None,
            tolerance: Duration::from_micros(4000),
            tolerance_percent: 12.5,
            tick: Duration::from_millis(1),
        }
    }

    /// The settings of the usual file `defaults.sh`: CUBIC, no restart after an idle time, no ECN, no pacing.
    pub(crate) fn set_defaults(&mut self) {
        self.set_scheme("cubic");
        (self.time_stamps, self.sack, self.rack, self.tail_probe) = (true, true, true, true);
        (self.ecn, self.idle_restart, self.pacing) = (0, false, false);
    }

    fn set_scheme(&mut self, name: &str) {
        if !self.scheme_is_fixed {
            name.clone_into(&mut self.scheme);
        }
    }

    /// Sets the controller by the name that Linux gives it.
    pub(crate) fn set_controller(&mut self, name: &str) -> Result<(), Refusal> {
        let ours = match name {
            "lp" => "tcp_lp",
            other => other,
        };
        match schemes::find(ours) {
            Some(entry) if matches!(entry.build, schemes::Build::Control(_)) => {
                self.set_scheme(ours);
                Ok(())
            }
            _ => Err(Refusal::Beyond(format!("the congestion controller `{name}`"))),
        }
    }

    /// Whether the queue paces, as fq does.
    pub(crate) fn set_pacing(&mut self, paces: bool) {
        self.pacing = paces;
    }

    /// Every segment leaves by itself.
    pub(crate) fn without_gso(&mut self) {
        self.gso = false;
    }

    /// Adds a parameter of the scheme.
    pub(crate) fn add_param(&mut self, name: &str, value: ParamValue) {
        self.params.push((name.to_owned(), value));
    }

    /// Sets what `sysctl` would set; the name may have its path.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let short = name.rsplit(['.', '/']).next().unwrap_or(name);
        let Some((_, effect)) = SYSCTLS.iter().find(|(known, _)| *known == short) else {
            return Err(Refusal::Unknown(match nearest(short, SYSCTLS.iter().map(|known| known.0)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "the reference of `thalweg drill` lists the known ones".to_owned(),
            }));
        };
        match effect {
            Effect::Nothing => Ok(()),
            Effect::Only(values) if values.contains(&value) => Ok(()),
            Effect::Only(_) => Err(Refusal::Beyond(format!("`{short}` of {value}"))),
            Effect::Applied => self.apply(short, value),
        }
    }

    fn apply(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        match name {
            "tcp_congestion_control" => return self.set_controller(value),
            "default_qdisc" => {
                self.set_pacing(value == "fq");
                return Ok(());
            }
            _ => {}
        }
        let number = match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => value.parse(),
        };
        let number = number.map_err(|_| Refusal::Wrong("a whole number".to_owned()))?;
        match name {
            "tcp_timestamps" => self.time_stamps = number > 0,
            "tcp_sack" => self.sack = number > 0,
            "tcp_ecn" if number <= 5 => self.ecn = number as u32,
            "tcp_ecn" => return Err(Refusal::Wrong("0 to 5".to_owned())),
            "tcp_slow_start_after_idle" => self.idle_restart = number > 0,
            // 1 and 2 were early retransmit, which Linux has no more           [Linux: tcp_schedule_loss_probe]
            "tcp_early_retrans" => self.tail_probe = number >= 3,
            "tcp_frto" => self.frto = number > 0,
            "tcp_recovery" => self.rack = number & 1 > 0,
            "tcp_rto_min_us" if number <= 120_000_000 => self.min_rto = Some(Duration::from_micros(number)),
            "tcp_rto_max_ms" if (1000..=120_000).contains(&number) => {
                self.max_rto = Some(Duration::from_millis(number))
            }
            "tcp_comp_sack_delay_ns" if number <= 1_000_000_000 => {
                self.sack_compression = Some(Duration::from_nanos(number));
            }
            "tcp_comp_sack_nr" if number == 0 => self.sack_compression = Some(Duration::ZERO),
            "tcp_comp_sack_nr" if number == 44 => {}
            "tcp_comp_sack_nr" => return Err(Refusal::Beyond(format!("`{name}` of {value}"))),
            _ => return Err(Refusal::Wrong("a time as Linux accepts it".to_owned())),
        }
        Ok(())
    }

    /// Sets an option of the script.
    pub(crate) fn set_option(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let number = value.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0 && *x <= 1e9);
        let number = || number.ok_or_else(|| Refusal::Wrong("a number".to_owned()));
        match name {
            "tolerance_usecs" => self.tolerance = Duration::from_micros(number()? as u64),
            "tolerance_percent" => self.tolerance_percent = number()?.min(100.0),
            "tcp_ts_tick_usecs" => self.tick = Duration::from_micros((number()? as u64).max(1)),
            _ if IDLE_OPTIONS.contains(&name) => {}
            _ if BEYOND_OPTIONS.contains(&name) => {
                return Err(Refusal::Beyond(format!("the option `--{name}`")));
            }
            _ => {
                let known = OPTIONS.iter().chain(&IDLE_OPTIONS).copied();
                return Err(Refusal::Unknown(match nearest(name, known) {
                    Some(near) => format!("did you mean `--{near}`?"),
                    None => format!("known: --{}", OPTIONS.join(", --")),
                }));
            }
        }
        Ok(())
    }

    /// The ECN feedback of a connection that the other end opens with these flags; `None` for no ECN
    /// [Linux: tcp_ecn_create_request].
    pub(crate) const fn ecn_accepted(&self, ace: u8) -> Option<EcnFeedback> {
        match (self.ecn, ace) {
            (0, _) | (_, 0) => None,
            (3..=5, 0b111) => Some(EcnFeedback::Accurate),
            (_, 0b111 | 0b011) => Some(EcnFeedback::Classic),
            _ => None,
        }
    }

    /// The flags with which this end requests ECN.
    pub(crate) const fn ecn_requested(&self) -> u8 {
        match self.ecn {
            1 | 4 => 0b011,
            3 => 0b111,
            _ => 0,
        }
    }

    /// The ECN feedback of a connection that this end opened and the other answered with these flags.
    pub(crate) const fn ecn_answered(&self, ace: u8) -> Option<EcnFeedback> {
        match (self.ecn_requested(), ace) {
            (0, _) | (_, 0 | 0b111) => None,
            (0b111, 0b001) | (0b011, 0b001) => Some(EcnFeedback::Classic),
            (0b111, _) => Some(EcnFeedback::Accurate),
            _ => None,
        }
    }

    /// The configuration of a connection, for what the two ends agreed on.
    pub(crate) fn config(&self, agreed: &Agreed) -> Config {
        let base = match self.like {
            Like::Linux => Config::linux(),
            Like::Standard => Config::default(),
        };
        let needs = schemes::ecn_use(&self.scheme);
        let feedback = match (agreed.ecn, needs) {
            // a scheme may read the bits of classic feedback in its own way             [RFC8257 §3.2]
            (Some(EcnFeedback::Classic), Some(needs)) if needs.feedback == EcnFeedback::Dctcp => {
                needs.feedback
            }
            (Some(feedback), _) => feedback,
            (None, _) => EcnFeedback::Classic,
        };
        let rack = agreed.sack && base.loss_detection == LossDetection::Time && self.rack;
        Config {
            segment: Bytes::new(agreed.segment),
            header: Bytes::new(if agreed.time_stamps { 52 } else { 40 }),
            initial_window: 10,
            min_rto: self.min_rto.unwrap_or(base.min_rto),
            max_rto: self.max_rto.unwrap_or(base.max_rto),
            sack: agreed.sack,
            loss_detection: if rack { LossDetection::Time } else { LossDetection::Count },
            tail_probe: base.tail_probe && self.tail_probe && rack,
            time_stamps: agreed.time_stamps,
            frto: base.frto && self.frto && agreed.sack,
            idle_restart: self.idle_restart,
            sack_compression: self.sack_compression.unwrap_or(base.sack_compression),
            ecn: agreed.ecn.is_some(),
            ecn_feedback: feedback,
            l4s: agreed.ecn.is_some() && needs.is_some_and(|needs| needs.l4s),
            receive_window: Bytes::new(agreed.window),
            receive_buffer: Bytes::UNLIMITED,
            send_buffer: Bytes::UNLIMITED,
            gso: self.gso,
            pacing: if self.pacing { WindowPacing::Linux } else { WindowPacing::Off },
            handshake: true,
            demand: stack::tcp::Demand::Limited(Rate::ZERO),
            ..base
        }
    }

    /// Takes the settings of a connection that commands of a script can set.
    pub(crate) fn adopt(&mut self, config: &Config) {
        self.time_stamps = false;
        self.sack = config.sack;
        self.idle_restart = config.idle_restart;
        self.tail_probe = config.tail_probe;
        self.frto = config.frto;
        self.rack = config.loss_detection == LossDetection::Time || self.like == Like::Standard;
        self.pacing = config.pacing == WindowPacing::Linux;
        self.gso = false;
        let base = match self.like {
            Like::Linux => Config::linux(),
            Like::Standard => Config::default(),
        };
        self.min_rto = (config.min_rto != base.min_rto).then_some(config.min_rto);
        self.max_rto = (config.max_rto != base.max_rto).then_some(config.max_rto);
    }

    /// The commands that set the limits of the timeout, if a connection has others.
    pub(crate) fn written(&self) -> String {
        let min =
            self.min_rto.map(|min| format!("sysctl -q net.ipv4.tcp_rto_min_us={}\n", min.as_nanos() / 1000));
        let max = self
            .max_rto
            .map(|max| format!("sysctl -q net.ipv4.tcp_rto_max_ms={}\n", max.as_nanos() / 1_000_000));
        [min, max].into_iter().flatten().collect()
    }

    /// Parameters of the scheme: the script's, then the program's.
    pub(crate) fn params(&self, options: &Options) -> ParamList {
        let mut all = ParamList::new();
        let mut set = |name: &str, value: ParamValue| match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => all.push((name.to_owned(), value)),
        };
        if self.like == Like::Linux {
            schemes::like_linux(&self.scheme).into_iter().for_each(|(name, value)| set(name, value));
        }
        let chosen = self.params.iter().filter(|(name, _)| name != "hystart" || self.scheme == "cubic");
        chosen.chain(&options.params).for_each(|(name, value)| set(name, value.clone()));
        all
    }
}

/// What the two ends of a connection agreed on when it was opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Agreed {
    /// Payload of a full segment, in bytes, without time stamps.
    pub(crate) segment: u64,
    /// The other end's first receive window, in bytes.
    pub(crate) window: u64,
    /// By which the window field of later packets is shifted.
    pub(crate) window_scale: u8,
    pub(crate) sack: bool,
    pub(crate) time_stamps: bool,
    /// Feedback of marks; `None` without ECN.
    pub(crate) ecn: Option<EcnFeedback>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of the docs lists every setting, and no other.
    #[test]
    fn every_setting_is_documented() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/concepts/drill.md");
        let page = std::fs::read_to_string(page).expect("the page is there");
        let missing: Vec<_> =
            SYSCTLS.iter().map(|known| known.0).filter(|name| !page.contains(&format!("`{name}`"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn an_unknown_setting_is_refused_with_the_nearest_known_one() {
        let mut settings = Settings::new(&Options::default());
        let Err(Refusal::Unknown(hint)) = settings.set("net.ipv4.tcp_congestion_contrl", "reno") else {
            panic!("it is unknown");
        };
        assert_eq!(hint, "did you mean `tcp_congestion_control`?");
    }

    #[test]
    fn both_ends_agree_on_ecn() {
        let mut settings = Settings::new(&Options::default());
        let mut accepted = |ecn: &str, ace| {
            assert!(settings.set("tcp_ecn", ecn).is_ok());
            settings.ecn_accepted(ace)
        };
        assert_eq!(accepted("0", 0b011), None);
        assert_eq!(accepted("2", 0b011), Some(EcnFeedback::Classic));
        assert_eq!(accepted("2", 0b111), Some(EcnFeedback::Classic));
        assert_eq!(accepted("3", 0b111), Some(EcnFeedback::Accurate));
        assert_eq!(accepted("3", 0b000), None);
    }
}
