//! Names of earlier versions and of other programs, and keys that stand in another table, so that each of them is
//! answered with what to write.

use crate::schema::hints::{nearest, suggestion};

/// Old and new names of keys, parameters, series and columns. Where an old name had several meanings, each has its row.
pub const RENAMED: &[(&str, &str)] = &[
    // keys
    ("retry", "initial_rto"),
    ("stale", "max_age"),
    // columns
    ("frames_spoiled", "frames_undecodable"),
    ("held", "delayed"),
    ("moves", "reroutes"),
    ("orders", "commands"),
    ("orders_repeated", "commands_retransmitted"),
    ("refusals", "nacks"),
    ("refused", "nacked"),
    ("goodput_total", "goodput"),
    ("throughput_total", "throughput"),
    ("throughput_max", "throughput_best"),
    ("throughput_min", "throughput_worst"),
    // series
    ("decrease", "decrease_probability"),
    ("heard_rate", "notified_rate"),
    ("held", "shaper_queue"),
    ("least_rate", "min_reported_rate"),
    ("shaped", "shaped_rate"),
    // parameters
    ("above", "threshold"),
    ("active", "idle_timeout"),
    ("age", "max_age"),
    ("ask_interval", "probe_interval"),
    ("beta_floor", "min_beta"),
    ("by_cut", "cut_gain"),
    ("early_gain", "early_weight"),
    ("early_least", "early_min_th"),
    ("early_most", "early_max_th"),
    ("early_share", "early_max_p"),
    ("every", "interval"),
    ("floor", "min_packet_rate"),
    ("floor", "min_pending"),
    ("floor", "min_reported_rate"),
    ("forget", "path_timeout"),
    ("form", "variant"),
    ("full", "when_full"),
    ("initial_timer", "initial_timeout"),
    ("interests", "queue_limit"),
    ("keep", "beta"),
    ("lasts", "shaping_intervals"),
    ("least", "min_rate"),
    ("least", "min_rate_share"),
    ("least_share", "p_min"),
    ("line", "queue_per"),
    ("longest_gap", "max_gap"),
    ("longest_gap", "max_packet_interval"),
    ("longest_gap", "t_mbi"),
    ("most", "max_cut"),
    ("most", "max_window"),
    ("patience", "initial_timeout"),
    ("patience", "max_unanswered"),
    ("patience", "timeout_intervals"),
    ("patience_least", "min_timeout"),
    ("pie_a", "pie_alpha"),
    ("pie_b", "pie_beta"),
    ("pie_burst", "pie_max_burst"),
    ("pie_every", "pie_update_interval"),
    ("place", "mark_at"),
    ("probe_every", "probing_interval"),
    ("quiet", "recovery_intervals"),
    ("repeats", "retransmissions"),
    ("settle", "min_move_interval"),
    ("share", "delta_p"),
    ("silence", "feedback_timeout"),
    ("silence", "max_timeouts"),
    ("silence", "min_timeout"),
    ("silence", "on_timeout"),
    ("silence_rtts", "timeout_rtts"),
    ("silences", "silent_timeouts"),
    ("start", "initial_rate"),
    ("start", "initial_shares"),
    ("suppress", "retx_suppression_initial"),
    ("suppress_most", "retx_suppression_max"),
    ("trickle", "min_path_share"),
];

/// Keys, and what other programs call them.
pub(crate) const SYNONYMS: &[(&str, &[&str])] = &[
    ("rate", &["bandwidth", "bw", "capacity", "speed", "data_rate", "datarate", "link_rate", "bitrate"]),
    ("delay", &["latency", "propagation_delay", "prop_delay", "one_way_delay"]),
    ("loss", &["loss_rate", "loss_ratio", "packet_loss", "plr", "drop_rate", "error_rate"]),
    ("buffer", &["buffer_size", "queue_size", "queue_length", "queue_limit", "qlen"]),
    ("queue", &["qdisc", "aqm", "queue_discipline", "scheduler"]),
    (
        "scheme",
        &["cc", "cca", "congestion_control", "congestion", "congestion_controller", "algorithm", "protocol"],
    ),
    ("duration", &["sim_time", "simulation_time", "runtime", "run_time", "length"]),
    ("start", &["start_time", "begin"]),
    ("stop", &["stop_time", "end_time"]),
    ("size", &["file_size", "transfer_size", "flow_size"]),
    ("from", &["src", "sender", "client"]),
    ("to", &["dst", "dest", "destination", "receiver", "server"]),
    ("count", &["num_flows", "n_flows", "number"]),
    ("seed", &["random_seed", "rng_seed"]),
];

/// Tables: their name in the schema, what they are called in hints, and keys that are easily written elsewhere.
pub(crate) const HOMES: &[(&str, &str, &[&str])] = &[
    ("", "the top of the file, before the first table", &["duration", "warmup", "seed"]),
    ("Topology", "[topology]", &["bottleneck", "edge", "pairs", "link"]),
    (
        "Link",
        "a link, such as bottleneck = { … } of [topology]",
        &["rate", "delay", "buffer", "queue", "loss", "trace", "impair", "shaper", "mark_above"],
    ),
    ("Impair", "impair = { … } of a link", &["jitter", "keep_order", "duplicate", "corrupt"]),
    (
        "Flow",
        "a flow: [[flows]]",
        &["scheme", "start", "stop", "size", "count", "from", "to", "params", "tcp"],
    ),
    ("Tcp", "tcp = { … } of a flow", &["sack", "delayed_ack", "loss_detection", "ecn", "like", "min_rto"]),
];

/// What `word` is called now, where that is one of `known`.
pub(crate) fn renamed<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known.into_iter().find(|new| RENAMED.contains(&(word, *new)))
}

/// What another program's `word` is called here.
fn synonym(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase().replace('-', "_");
    SYNONYMS.iter().find(|(_, others)| others.contains(&word.as_str())).map(|(here, _)| *here)
}

/// The one of `known` that `word` most likely means.
pub(crate) fn likely<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let of_others = synonym(word).and_then(|here| known.clone().into_iter().find(|known| *known == here));
    renamed(word, known.clone()).or(of_others).or_else(|| match home(word) {
        // a key of another table is no misspelt key of this one
        Some(_) => None,
        None => nearest(word, known),
    })
}

/// The table that has the key `word`, or the one that it is called here: the key, and the table.
fn home(word: &str) -> Option<(&str, &'static str)> {
    let here = synonym(word).unwrap_or(word);
    HOMES.iter().find(|(.., keys)| keys.contains(&here)).map(|(_, table, _)| (here, *table))
}

/// The message and the hint for a key of a table that is not in `known`: as [`unknown`], or the table that has it.
pub(crate) fn unknown_key<'a>(
    key: &str,
    message: String,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> (String, Option<String>) {
    match home(key).filter(|_| likely(key, known.clone()).is_none()) {
        Some((here, table)) => (message, Some(format!("`{here}` belongs to {table}"))),
        None => unknown(key, message, known),
    }
}

/// The message and the hint for a word that is not in `known`: its new name, or `message` and a suggestion.
pub(crate) fn unknown<'a>(
    word: &str,
    message: String,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> (String, Option<String>) {
    if let Some(new) = renamed(word, known.clone()) {
        return (format!("`{word}` was renamed to `{new}`"), Some(format!("write {new}")));
    }
    let of_others = synonym(word).filter(|here| known.clone().into_iter().any(|known| known == *here));
    match of_others {
        Some(here) => (message, Some(format!("did you mean `{here}`?"))),
        None => (message, suggestion(word, known)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::describe;

    /// The names of each scheme's and strategy's parameters, of each table's columns and keys, and of series.
    fn present() -> Vec<BTreeSet<String>> {
        let name = |row: &Value| row["name"].as_str().expect("rows have names").to_owned();
        let names = |rows: &Value| rows.as_array().expect("a list").iter().map(name).collect();
        let mut sets = vec![names(&describe::series())];
        for rows in [describe::schemes(), describe::strategies()] {
            sets.extend(rows.as_array().expect("a list").iter().map(|row| names(&row["params"])));
        }
        for table in ["flows", "receivers", "links", "nodes"] {
            let rows = crate::METRICS.iter().filter(|row| row.table == table);
            sets.push(rows.map(|row| crate::report::word(row.name).to_owned()).collect());
        }
        let schema = crate::schema();
        let tables = schema["$defs"].as_object().expect("tables").values();
        let keys = tables.filter_map(|table| table["properties"].as_object());
        sets.extend(keys.map(|keys| keys.keys().cloned().collect()));
        sets
    }

    #[test]
    fn every_new_name_is_in_use_and_no_old_one_beside_it() {
        let sets = present();
        for (old, new) in RENAMED {
            let with: Vec<_> = sets.iter().filter(|set| set.contains(*new)).collect();
            assert!(!with.is_empty(), "nothing is called {new}");
            for set in with {
                assert!(!set.contains(*old), "{old} and {new} are both in {set:?}");
            }
        }
    }

    #[test]
    fn every_home_of_a_key_has_it() {
        let schema = crate::schema();
        for (table, _, keys) in HOMES {
            let of = if table.is_empty() { &schema } else { &schema["$defs"][*table] };
            for key in *keys {
                assert!(of["properties"].get(*key).is_some(), "{table}: {key}");
            }
        }
    }

    #[test]
    fn a_key_of_another_program_is_answered_with_ours() {
        for (here, others) in SYNONYMS {
            for other in *others {
                let hint =
                    |known: &[&'static str]| unknown_key(other, "no".to_owned(), known.iter().copied()).1;
                assert_eq!(hint(&["mtu", here]), Some(format!("did you mean `{here}`?")), "{other}");
                assert_eq!(likely(other, ["mtu", here]), Some(*here), "{other}");
                // in a table that has no such key
                let elsewhere = hint(&["mtu"]).unwrap_or_default();
                assert!(elsewhere.starts_with(&format!("`{here}` belongs to ")), "{other}: {elsewhere}");
            }
        }
        let hint = unknown_key("delay", "no".to_owned(), ["relay", "replay"]).1;
        assert!(hint.is_some_and(|hint| hint.contains("a link")), "an exact key is no typo");
    }

    #[test]
    fn an_old_name_is_answered_where_the_new_one_is_known() {
        assert_eq!(renamed("held", ["hits", "delayed"]), Some("delayed"));
        assert_eq!(renamed("held", ["shaper_queue"]), Some("shaper_queue"));
        assert_eq!(renamed("held", ["hits"]), None);
        let (message, hint) = unknown("orders", "no".to_owned(), ["commands"]);
        assert_eq!(
            (message.as_str(), hint.as_deref()),
            ("`orders` was renamed to `commands`", Some("write commands"))
        );
        assert_eq!(
            unknown("ordres", "no".to_owned(), ["orders"]).1.as_deref(),
            Some("did you mean `orders`?")
        );
    }
}
