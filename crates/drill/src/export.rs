//! Scripts of connections that were recorded: what arrived at a sender and what left, for packetdrill on a real kernel.

use std::fmt::Write;

use contract::{Ecn, EcnFeedback, ParamList, TcpHeader};
use stack::tcp::{Config, LossDetection, WindowPacing};
use units::{Bytes, Duration, Time};

use crate::connection::sequence_numbers;
use crate::report::Outcome;
use crate::settings::{Agreed, Settings};
use crate::{Like, Options, drill, parse};

/// A connection as its sender saw it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What it is, in one line.
    pub title: String,
    /// Its settings.
    pub config: Config,
    /// Its scheme.
    pub scheme: String,
    /// The parameters of the scheme, all of them.
    pub params: ParamList,
    /// Its packets in order.
    pub packets: Vec<Passed>,
}

/// A packet that left the sender or arrived there.
#[derive(Clone, Debug)]
pub struct Passed {
    /// When.
    pub at: Time,
    /// It left; otherwise it arrived.
    pub left: bool,
    /// Its header.
    pub header: TcpHeader,
    /// Its payload, in bytes.
    pub payload: u64,
    /// Its ECN field.
    pub ecn: Ecn,
}

/// A script of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The script.
    pub text: String,
    /// Packets in it.
    pub packets: usize,
    /// The packets of the connection are more than a script has.
    pub shortened: bool,
}

/// Writes the script of a connection: the handshake, the program's write, what arrived, what left, and the congestion
/// window wherever it changes.
///
/// The other end opens the connection in the script, and there are no time stamps, so that a kernel measures round-trip
/// times itself. The script is drilled before it is returned, and the windows come from that drill.
///
/// # Errors
///
/// Why the connection has no script: a setting that scripts cannot express, or the first line at which the drill
/// differs from the record.
pub fn export(recorded: &Recorded) -> Result<Exported, String> {
    let (like, settings) = expressible(recorded)?;
    let options = Options { scheme: Some(recorded.scheme.clone()), params: recorded.params.clone(), like };
    let shown = recorded.packets.len().min(MAX_PACKETS);
    let lines = lines(recorded, shown)?;
    let head = head(recorded, like, &settings);
    let plain: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let script = parse(&format!("{head}{plain}")).map_err(|problem| problem.to_string())?;
    let report = drill(&script, &options);
    if report.outcome != Outcome::Pass {
        let line = report.lines.last().map_or("", |line| &line.text);
        let hint = if recorded.config.send_buffer != Bytes::UNLIMITED {
            "; the send buffer of the flow has no equivalent in a script: without it, with `tcp.send_buffer` left out, the script may be expressible"
        } else if recorded.config.time_stamps {
            "; scripts have no time stamps: with `tcp.time_stamps = false` the flow has none either"
        } else {
            ""
        };
        return Err(format!(
            "the flow differs from its script at `{line}`: {}{hint}",
            report.outcome.message()
        ));
    }
    let mut text = head;
    let (mut last, mut held_back, mut open) = (None, None, false);
    // the drill passes, so that each line has its result; the lines of the head come first
    let first = report.lines.len() - lines.len();
    for (line, result) in lines.iter().zip(&report.lines[first..]) {
        let _ = writeln!(text, "{line}");
        let cwnd = result.window.as_ref().map(|window| window.cwnd);
        if cwnd.is_some() && cwnd != last && result.text.starts_with('<') && !result.text.starts_with("< S") {
            (held_back, last) = (cwnd, cwnd);
        }
        // a kernel is asked through the socket, which there is after `accept`
        open |= line.contains(" write(4,");
        if let Some(cwnd) = held_back.take_if(|_| open) {
            let time = line.split_whitespace().next().unwrap_or("*");
            let time = if time.starts_with('+') { "+0" } else { time };
            let _ = writeln!(text, "{time} %{{ assert tcpi_snd_cwnd == {cwnd}, tcpi_snd_cwnd }}%");
        }
    }
    Ok(Exported { text, packets: shown, shortened: shown < recorded.packets.len() })
}

/// Whose TCP the settings of a connection are, with the settings that a script has for it.
fn expressible(recorded: &Recorded) -> Result<(Like, Settings), String> {
    let config = &recorded.config;
    if !config.handshake {
        return Err(
            "a script begins with a handshake, and the flow has none: set `tcp.handshake = true`".to_owned()
        );
    }
    let mut best: Option<Vec<&str>> = None;
    for like in [Like::Linux, Like::Standard] {
        let options =
            Options { scheme: Some(recorded.scheme.clone()), params: recorded.params.clone(), like };
        let mut settings = Settings::new(&options);
        settings.adopt(config);
        let agreed = Agreed {
            segment: config.segment.as_u64(),
            window: 0,
            window_scale: 0,
            sack: config.sack,
            time_stamps: false,
            ecn: config.ecn.then_some(match config.ecn_feedback {
                EcnFeedback::Accurate => EcnFeedback::Accurate,
                _ => EcnFeedback::Classic,
            }),
        };
        let different = different(config, &settings.config(&agreed));
        if different.is_empty() {
            return Ok((like, settings));
        }
        if best.as_ref().is_none_or(|best| different.len() < best.len()) {
            best = Some(different);
        }
    }
    let names = best.unwrap_or_default().join(", ");
    Err(format!("scripts cannot express these settings of the flow's TCP: {names}"))
}

/// The names of the settings of a sender that differ.
fn different(a: &Config, b: &Config) -> Vec<&'static str> {
    let rows = [
        ("initial_window", a.initial_window == b.initial_window),
        ("initial_rto", a.initial_rto == b.initial_rto),
        ("min_rto", a.min_rto == b.min_rto),
        ("rto_floor", a.rto_floor == b.rto_floor),
        ("max_rto", a.max_rto == b.max_rto),
        ("limited_transmit", a.limited_transmit == b.limited_transmit),
        ("fast_recovery", a.fast_recovery == b.fast_recovery),
        ("recovery_timer", a.sack || a.recovery_timer == b.recovery_timer),
        ("loss_detection", a.loss_detection == b.loss_detection),
        ("tail_probe", a.tail_probe == b.tail_probe),
        ("reduction", a.reduction == b.reduction),
        ("undo", a.undo == b.undo),
        ("frto", !a.sack || a.frto == b.frto),
        ("idle_restart", a.idle_restart == b.idle_restart),
        ("ecn_feedback", !a.ecn || a.ecn_feedback == b.ecn_feedback),
        ("l4s", a.l4s == b.l4s),
        ("gso", a.gso == b.gso),
        ("pacing", a.pacing == b.pacing),
    ];
    rows.iter().filter(|row| !row.1).map(|row| row.0).collect()
}

/// Comments, settings and the sockets.
fn head(recorded: &Recorded, like: Like, settings: &Settings) -> String {
    let Recorded { title, config, scheme, .. } = recorded;
    let linux = if scheme == "tcp_lp" { "lp" } else { scheme };
    let standard = if like == Like::Standard { " --like standard" } else { "" };
    // what the drill would choose itself is not said
    let own = Settings::new(&Options { scheme: Some(scheme.clone()), like, ..Options::default() });
    let own = own.params(&Options::default());
    let set: String = recorded
        .params
        .iter()
        .filter(|(name, value)| !own.iter().any(|(known, own)| known == name && own == value))
        .filter(|(name, value)| !is_default(scheme, name, value))
        .map(|(name, value)| format!(" --set {name}={value}"))
        .collect();
    let line = title.replace(['\n', '\r'], " ");
    let on = |on: bool| u8::from(on);
    let mut settings_text = format!(
        "sysctl -q net.ipv4.tcp_congestion_control={linux} net.ipv4.tcp_sack={} net.ipv4.tcp_timestamps=0 net.ipv4.tcp_ecn={}\n",
        on(config.sack),
        match (config.ecn, config.ecn_feedback) {
            (false, _) => 0,
            (true, EcnFeedback::Accurate) => 3,
            (true, _) => 2,
        },
    );
    let _ = writeln!(
        settings_text,
        "sysctl -q net.ipv4.tcp_slow_start_after_idle={} net.ipv4.tcp_early_retrans={} net.ipv4.tcp_recovery={} net.ipv4.tcp_frto={}",
        on(config.idle_restart),
        if config.tail_probe { 3 } else { 0 },
        on(like == Like::Standard || config.loss_detection == LossDetection::Time),
        if config.frto { 2 } else { 0 },
    );
    settings_text.push_str(&settings.written());
    if config.pacing == WindowPacing::Linux {
        settings_text.push_str("tc qdisc replace dev tun0 root fq\n");
    }
    // one segment per packet that the program sees, and no threshold of an earlier connection
    settings_text.push_str("sysctl -q net.ipv4.tcp_no_metrics_save=1\nip link set dev tun0 gso_max_segs 1\n");
    format!(
        "// {line}\n// Drilled by: thalweg drill FILE --scheme {scheme}{standard}{set}\n\
         --tolerance_usecs=4000\n\n`{settings_text}`\n\n\
         0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0\n\
         0 bind(3, ..., ...) = 0\n\
         0 listen(3, 1) = 0\n"
    )
}

/// Whether a parameter has the default of its scheme.
fn is_default(scheme: &str, name: &str, value: &contract::ParamValue) -> bool {
    let Some(entry) = schemes::find(scheme) else { return false };
    // the defaults as they are resolved: with their units
    let defaults = (entry.resolve)(&[]).unwrap_or_default();
    defaults.iter().any(|(known, default)| known == name && default == value)
}

/// The events after the head, a line each.
fn lines(recorded: &Recorded, shown: usize) -> Result<Vec<String>, String> {
    let config = &recorded.config;
    let packets = &recorded.packets[..shown];
    let opened = packets.iter().find(|packet| packet.left && packet.header.flags.syn);
    let opened = opened.ok_or("the flow sent no SYN")?.at;
    let answered = packets.iter().position(|packet| !packet.left && packet.header.flags.syn);
    let answered = answered.ok_or("no answer to the flow's SYN arrived")?;
    let sent = packets.iter().filter(|packet| packet.left && !packet.header.flags.syn);
    let high = sent.map(|packet| packet.header.seq + packet.payload).max().unwrap_or(0);
    let written = match config.demand {
        stack::tcp::Demand::Bulk => high + BEYOND,
        stack::tcp::Demand::Finite(size) => size.as_u64(),
        stack::tcp::Demand::Limited(_) => {
            return Err("the times at which the flow's application writes are not recorded: export a flow without `rate` and requests".to_owned());
        }
    };
    if high + 1 > u64::from(u32::MAX) {
        return Err("the flow sends more than 4 GiB".to_owned());
    }
    let windows = packets.iter().filter(|packet| !packet.left).map(|packet| packet.header.window_bytes);
    let scale = window_scale(windows.max().unwrap_or(u32::MAX));
    let window = |packet: &Passed| (packet.header.window_bytes >> scale).min(u32::from(u16::MAX));
    let flags = match (config.ecn, config.ecn_feedback) {
        (false, _) => ("S", "S."),
        (true, EcnFeedback::Accurate) => ("SEWA", "SW."),
        (true, _) => ("SEW", "SE."),
    };
    let sack = if config.sack { ",sackOK,nop,nop" } else { "" };
    let mut lines = vec![format!(
        "0 < {} 0:0(0) win 65535 <mss {}{sack},nop,wscale {scale}>",
        flags.0,
        config.segment.as_u64()
    )];
    let (mut arrived_at, mut before, mut late) = (opened, opened, false);
    let push = Push {
        every: u64::from((window(&packets[answered]) << scale) / 2),
        segment: config.segment.as_u64(),
        written,
    };
    for (number, packet) in packets.iter().enumerate() {
        // the timers of a kernel have ticks: from the first segment on that a timer sends, times count from the line
        // before
        late |= packet.left && packet.at > arrived_at;
        let at = if late {
            format!("+{}", seconds(packet.at.saturating_since(before)))
        } else {
            seconds(packet.at.saturating_since(opened))
        };
        before = packet.at;
        if !packet.left {
            arrived_at = packet.at;
        }
        match (packet.left, packet.header.flags.syn) {
            (true, true) => lines.push(format!("{at} > {} 0:0(0) ack 1 <...>", flags.1)),
            (false, true) if number == answered => {
                let first =
                    if config.ecn_feedback == EcnFeedback::Accurate && config.ecn { "W." } else { "." };
                lines.push(format!("{at} < {first} 1:1(0) ack 1 win {}", window(packet)));
                lines.push(format!("{at} accept(3, ..., ...) = 4"));
                lines.push(format!(
                    "{at} setsockopt(4, SOL_SOCKET, {SO_SNDBUFFORCE}, [{}], 4) = 0",
                    2 * written
                ));
                lines.push(format!("{at} write(4, ..., {written}) = {written}"));
            }
            (false, true) => return Err("the answer to the flow's SYN arrived twice".to_owned()),
            (true, false) => lines.push(departure(&at, packet, config, &push)),
            (false, false) => lines.push(arrival(&at, packet, config, window(packet))),
        }
    }
    Ok(lines)
}

/// Which segments of data that a program writes in one call have PSH.
struct Push {
    /// More bytes than this since the last PSH have it again: half of the largest window that the other end announced
    /// before the call.
    every: u64,
    /// Payload of a full segment, in bytes.
    segment: u64,
    /// Bytes of the call.
    written: u64,
}

impl Push {
    /// Whether the segment that ends before byte `end` has it [Linux: forced_push, tcp_mark_push].
    fn at(&self, end: u64) -> bool {
        let apart = (self.every / self.segment + 1) * self.segment;
        end == self.written || end.is_multiple_of(apart)
    }
}

fn departure(at: &str, packet: &Passed, config: &Config, push: &Push) -> String {
    let (start, end) = (packet.header.seq + 1, packet.header.seq + packet.payload + 1);
    let accurate = config.ecn && config.ecn_feedback == EcnFeedback::Accurate;
    let mark = match (config.ecn, packet.ecn) {
        (false, _) => "",
        (true, Ecn::Capable) => "[ect0] ",
        (true, Ecn::CapableL4s) => "[ect1] ",
        // marked on its way
        (true, Ecn::Marked) if config.l4s => "[ect1] ",
        (true, Ecn::Marked) => "[ect0] ",
        (true, Ecn::NotCapable) => "[noecn] ",
    };
    let push = if push.at(end - 1) { "P" } else { "" };
    // nothing arrives with a mark, so the counter of the sender's end stays at 5
    let bits = match () {
        () if accurate => "5",
        () if config.ecn && packet.header.flags.cwr() => "W.",
        () => ".",
    };
    let dot = if accurate { "." } else { "" };
    format!("{at} > {mark}{push}{dot}{bits} {start}:{end}({}) ack 1", packet.payload)
}

fn arrival(at: &str, packet: &Passed, config: &Config, window: u32) -> String {
    let TcpHeader { ack, sack, flags, .. } = packet.header;
    let bits = match (config.ecn, config.ecn_feedback) {
        (true, EcnFeedback::Accurate) => format!(".{}", flags.ace),
        (true, _) if flags.ece() => "E.".to_owned(),
        _ => ".".to_owned(),
    };
    let blocks: String = sequence_numbers(&sack, ack)
        .into_iter()
        .map(|(start, end)| format!(" {}:{}", start + 1, end + 1))
        .collect();
    let options = if blocks.is_empty() { String::new() } else { format!(" <nop,nop,sack{blocks}>") };
    format!("{at} < {bits} 1:1(0) ack {} win {window}{options}", ack + 1)
}

/// The smallest shift with which a window fits its field, at most 14 [RFC7323 §2.3].
fn window_scale(maximum: u32) -> u32 {
    (0..MAX_SHIFT).find(|shift| maximum >> shift <= u32::from(u16::MAX)).unwrap_or(MAX_SHIFT)
}

fn seconds(time: Duration) -> String {
    let nanos = time.as_nanos();
    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// Packets of a script.
const MAX_PACKETS: usize = 20_000;
/// Bytes that a flow without end has at the end of its script.
const BEYOND: u64 = 1 << 20;
/// The socket option, of which packetdrill has no name.
const SO_SNDBUFFORCE: u32 = 32;
/// The largest shift of a window [RFC7323 §2.3].
const MAX_SHIFT: u32 = 14;
