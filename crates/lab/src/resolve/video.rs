//! Video of streams: an encoder's frames, and the player at the receivers.

use std::path::Path;
use std::sync::Arc;

use sim::Cast;
use stack::stream::{Depends, EncoderModel, FrameType, Player as Usual};
use units::Duration;

use super::Trace;
use crate::files::{self, Column, Remarks, Unit, Wrong, comma_hint, is_heading};
use crate::schema::file::{Flow, Source, SourceWord};
use crate::schema::read::{At, Notes, shortened, suggestion};
use crate::schema::video::{DependsWord, Encoder, Player};

/// Longest group of pictures.
const MAX_TYPES: usize = 1000;

/// The frames of a stream, and those that a file lists; `None` when something is noted.
pub(super) fn video(
    source: &Source,
    folder: &Path,
    notes: &mut Notes,
) -> Option<(Source, Option<(String, Trace)>)> {
    let before = notes.count();
    let kind = source.kind.required("kind", "a source", source.location, notes)?;
    let of = format!("kind = \"{}\"", kind.value.word());
    if matches!(kind.value, SourceWord::Poisson | SourceWord::OnOff) {
        notes
            .wrong(kind.location, format!("a source of {of} has no frames, and cannot have a scheme"))
            .hint("leave `scheme` out, or take kind = \"constant\", \"frames\" or \"trace\"");
        return None;
    }
    refuse_others(source, kind.value, true, notes);
    let usual = Source::defaults();
    let live = source.live.or(*usual.live.resolved());
    if let (false, Some(drop)) = (live, source.drop_after.present()) {
        notes
            .wrong(drop.location, "frames that are all there from the start are never too old")
            .hint("leave `drop_after` out, or write live = true");
    }
    let mut filled = source.clone();
    filled.frame_rate = filled.frame_rate.filled(*usual.frame_rate.resolved());
    filled.live = filled.live.filled(live);
    let mut listed = None;
    match kind.value {
        SourceWord::Trace => {
            let file = source.file.required("file", &of, source.location, notes);
            let list = file.and_then(|file| trace(file, folder, notes));
            listed = file.map(|file| file.value.clone()).zip(list);
            filled.repeat = filled.repeat.filled(*usual.repeat.resolved());
        }
        SourceWord::Frames => {
            source.rate.required("rate", &of, source.location, notes);
            filled = groups(filled, notes);
        }
        _ => {
            source.rate.required("rate", &of, source.location, notes);
        }
    }
    (notes.count() == before).then_some((filled, listed))
}

/// The source with its groups of pictures filled in.
fn groups(source: Source, notes: &mut Notes) -> Source {
    if let Some(at) = source.pattern.present()
        && !((1..=MAX_TYPES).contains(&at.chars().count()) && at.chars().all(|c| FrameType::of(c).is_some()))
    {
        notes
            .wrong(at.location, format!("`{}` is no group of pictures", shortened(at)))
            .hint("write the letters I, P and B, such as \"IBBPBBPBBPBB\"");
    }
    if let Some(at) = source.sizes.present() {
        let wrong = at.value.iter().find(|size| !(1e-6..=1e6).contains(&size.value));
        if at.value.len() != 3 {
            notes
                .wrong(at.location, format!("{} sizes, where I, P and B have one each", at.value.len()))
                .hint("write three numbers, such as [5, 3, 1]");
        } else if let Some(wrong) = wrong {
            notes
                .wrong(wrong.location, format!("`{}` is out of range", wrong.value))
                .hint("write a number from 0.000001 to 1000000");
        }
    }
    let usual = Source::defaults();
    Source {
        pattern: source.pattern.clone().filled(usual.pattern.resolved().clone()),
        sizes: source.sizes.clone().filled(usual.sizes.resolved().clone()),
        variation: source.variation.clone().filled(*usual.variation.resolved()),
        ..source
    }
}

/// Keys that belong to some kinds only: which, and whether they go with a scheme alone.
const KEYS: &[(&str, &[SourceWord], bool)] = &[
    ("on", &[SourceWord::OnOff], false),
    ("off", &[SourceWord::OnOff], false),
    ("shape", &[SourceWord::OnOff], false),
    ("fixed", &[SourceWord::OnOff], false),
    ("pattern", &[SourceWord::Frames], true),
    ("sizes", &[SourceWord::Frames], true),
    ("variation", &[SourceWord::Frames], true),
    ("file", &[SourceWord::Trace], true),
    ("repeat", &[SourceWord::Trace], true),
    ("frame_rate", &[SourceWord::Constant, SourceWord::Frames, SourceWord::Trace], true),
    ("live", &[SourceWord::Constant, SourceWord::Frames, SourceWord::Trace], true),
    ("drop_after", &[SourceWord::Constant, SourceWord::Frames, SourceWord::Trace], true),
];

/// Notes keys that do not go with this kind of source, or with one that has no scheme.
pub(super) fn refuse_others(source: &Source, kind: SourceWord, has_scheme: bool, notes: &mut Notes) {
    for (key, location) in source.written() {
        if key == "interests" {
            notes
                .wrong(location, "`interests` goes with network = \"ndn\"")
                .hint("write the `rate` of the datagrams");
        }
        let Some((_, kinds, of_scheme)) = KEYS.iter().find(|row| row.0 == key) else { continue };
        if !kinds.contains(&kind) {
            let words: Vec<String> = kinds.iter().map(|kind| format!("\"{}\"", kind.word())).collect();
            notes
                .wrong(location, format!("`{key}` does not go with kind = \"{}\"", kind.word()))
                .hint(format!("it belongs to kind = {}", words.join(" or ")));
        } else if *of_scheme && !has_scheme {
            notes
                .wrong(location, format!("`{key}` needs frames, and a scheme that is a stream"))
                .hint("add scheme = \"tfrc\", or leave the key out");
        }
    }
}

/// The frames that a file lists.
fn trace(file: &At<String>, folder: &Path, notes: &mut Notes) -> Option<Trace> {
    const HINT: &str = "a line is the size of a frame in bytes, or its number, its type and its size, with its time before the size or without; \
                        of ffprobe, its size and its type";
    files::parsed(file, HINT, folder, notes, listed)
}

/// Sizes in bytes, a frame a line: `size`, `number type size`, `number type time size` (verbose traces of Arizona State
/// University), or, as ffprobe writes CSV, `size,type` and `frame,size,type`. A heading may say the unit of the size.
fn listed(text: &str, _remarks: &mut Remarks) -> Result<Trace, Wrong> {
    let (mut sizes, mut types) = (Vec::new(), Vec::new());
    let mut unit = Unit::ten_to(0);
    for (index, (line, written)) in files::lines(text).enumerate() {
        let mut words = files::words(written);
        if words.first() == Some(&"frame") && words.len() == 3 {
            words.remove(0);
        } else if index == 0 && is_heading(&words) && words.iter().all(|word| files::number(word).is_none()) {
            unit = unit_of_sizes(written).map_err(|message| (line, message))?;
            continue;
        }
        let letters = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
        let (number, kind, size) = match words[..] {
            [size] => (None, None, size),
            [size, kind] | [kind, size] if letters(kind) => (None, Some(kind), size),
            [number, kind, size] => (Some(number), Some(kind), size),
            [number, kind, time, size] if files::number(time).is_some() => (Some(number), Some(kind), size),
            _ => {
                return Err(
                    (line, (format!("`{}` is no frame", shortened(written)), comma_hint(written))).into()
                );
            }
        };
        if let Some(number) = number.filter(|number| number.parse::<u64>().is_err()) {
            return Err((line, format!("`{}` is no number of a frame", shortened(number))).into());
        }
        if let Some(kind) = kind {
            if !letters(kind) {
                return Err((line, format!("`{}` is no type of a frame", shortened(kind))).into());
            }
            let mut letters = kind.chars().map(|letter| FrameType::of(letter.to_ascii_uppercase()));
            types.extend(letters.next().flatten().filter(|_| letters.next().is_none()));
        }
        if files::decimal(size, 0) == Some(0) && files::number(size) == Some(0.0) {
            let hint = "leave out the lines of frames that the encoder skipped, or write 1";
            return Err(Wrong::with_hint(line, "a frame of 0 bytes is not sent", hint));
        }
        let size = files::bytes(size, unit, u32::MAX.into()).map_err(|wrong| (line, wrong))?;
        sizes.push(u32::try_from(size).unwrap_or(u32::MAX));
    }
    if sizes.is_empty() {
        return Err((0, "there are no frames in it".to_owned()).into());
    }
    if types.len() < sizes.len() {
        types.clear();
    }
    Ok(Trace { sizes: sizes.into(), types: types.into() })
}

/// The unit of the sizes that a heading names: bytes where it names none. The error is a message.
fn unit_of_sizes(written: &str) -> Result<Unit, String> {
    // between spaces, a unit in brackets is a word of its own: `Length [byte]`
    let joined = written.replace(" [", "[").replace(" (", "(");
    let columns = match written.contains([';', ',', '\t']) {
        true => files::columns(written),
        false => joined.split_whitespace().collect(),
    };
    let names = || columns.iter();
    let unit = names().find_map(|name| Column::SIZE.matched(name).flatten());
    match names().find(|name| Column::SIZE.has_other_unit(name)) {
        Some(other) if unit.is_none() => Err(format!("`{}` names no unit of a size", shortened(other))),
        _ => Ok(unit.unwrap_or(Unit::ten_to(0))),
    }
}

/// The encoder that follows the scheme, complete; `None` when something is noted.
pub(super) fn encoder(table: &At<Arc<Encoder>>, notes: &mut Notes) -> Option<Encoder> {
    let defaults = EncoderModel::default();
    let (min, max) = (table.min.or(defaults.min), table.max.or(defaults.max));
    if let Some(start) = table.start.present() {
        notes.wrong(start.location, "a stream starts at the initial rate of its scheme").hint(
            "leave `start` out, or write the scheme's parameter: params = { initial_rate = \"300 kbit/s\" }",
        );
        return None;
    }
    if min > max {
        let location = table.max.present().or(table.min.present()).map_or(table.location, |at| at.location);
        notes
            .wrong(location, format!("an encoder cannot go from {min} to {max}"))
            .hint("lower `min` or raise `max`");
        return None;
    }
    let encoder = Encoder::clone(&table.value);
    Some(Encoder {
        min: encoder.min.filled(min),
        max: encoder.max.filled(max),
        frame_rate: encoder.frame_rate.filled(30),
        reaction: encoder.reaction.filled(defaults.reaction),
        variation: encoder.variation.filled(defaults.variation),
        key_ratio: encoder.key_ratio.filled(defaults.key_ratio),
        ..encoder
    })
}

/// How the receivers of a stream play its frames; `None` where they do not, or when something is noted.
pub(super) fn player(
    table: &Flow,
    has_types: bool,
    scheme: &str,
    cast: Cast,
    notes: &mut Notes,
) -> Option<Player> {
    let written = table.player.present()?;
    if table.source.is_missing() && table.encoder.is_missing() {
        notes
            .wrong(written.location, "there are no frames to be played")
            .hint("write what the stream carries: source = { kind = \"frames\", rate = \"1 Mbit/s\" }");
        return None;
    }
    if let (Some(modes), true) = (written.modes.present(), cast != Cast::Unicast) {
        notes
            .wrong(modes.location, "the buffers of a group do not fill together")
            .hint("leave `modes` out, or write `to` without brackets");
        return None;
    }
    let default = Usual::default();
    let startup = written.startup.or(default.startup);
    let depends = if has_types { Depends::Intra } else { Depends::Nothing };
    let player = written.filled(&Usual { startup, resume: startup, depends, ..default });
    if let Some(word) = written.depends.present()
        && word.value != DependsWord::Nothing
        && !has_types
    {
        notes
            .wrong(word.location, "these frames have no types, so that none depends on another")
            .hint("take kind = \"frames\", or a list with the type of each frame: I, P or B");
        return None;
    }
    modes(player, scheme, notes)
}

/// The player with its two modes, where it has them; `None` when something is noted.
fn modes(player: Player, scheme: &str, notes: &mut Notes) -> Option<Player> {
    let Some(modes) = player.modes.present() else {
        for (key, location) in player.written() {
            if matches!(key, "low" | "high") {
                notes
                    .wrong(location, format!("`{key}` is a threshold between modes"))
                    .hint("write modes = [\"NAME WHILE IT FILLS\", \"NAME WHEN IT IS FULL\"]");
                return None;
            }
        }
        return Some(player);
    };
    let [_, _] = &modes.value[..] else {
        notes
            .wrong(modes.location, format!("{} modes instead of two", modes.value.len()))
            .hint("write the mode while the buffer fills and the one when it is full");
        return None;
    };
    let known = super::params::modes(scheme);
    for mode in &modes.value {
        if !known.contains(&mode.value.as_str()) {
            match known {
                [] => notes.wrong(modes.location, format!("`{scheme}` has no modes")),
                _ => notes.wrong(mode.location, format!("`{}` is no mode of `{scheme}`", shortened(mode))),
            }
            .maybe(suggestion(mode, known.iter().copied()));
            return None;
        }
    }
    let (low, high) = (player.low.or(Duration::from_secs(5)), player.high.or(Duration::from_secs(20)));
    if low >= high {
        let location =
            player.low.present().or(player.high.present()).map_or(player.location, |at| at.location);
        notes
            .wrong(location, format!("`low` of {low} is not below `high` of {high}"))
            .hint("lower one or raise the other");
        return None;
    }
    Some(Player { low: player.low.clone().filled(low), high: player.high.clone().filled(high), ..player })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stand_alone_or_behind_number_and_type() {
        let list = |sizes: &[u32], types: &str| {
            Ok(Trace { sizes: sizes.into(), types: types.chars().filter_map(FrameType::of).collect() })
        };
        let listed = |text| listed(text, &mut Remarks::new());
        assert_eq!(listed("# a film\n5000\n\n 1200 \r\n"), list(&[5000, 1200], ""));
        assert_eq!(listed("0 I 5000\n1 b 300\n2\tP 1200"), list(&[5000, 300, 1200], "IBP"));
        // types count where all are known
        assert_eq!(listed("0 I 5000\n1 X 300"), list(&[5000, 300], ""));
        assert_eq!(listed("0 I 5000\n1 IB 300"), list(&[5000, 300], ""));
        assert_eq!(listed("0 I 5000\n300"), list(&[5000, 300], ""));
        // others' files
        for text in [
            "# Frame Frame-Type Time[ms] Length [byte]\n0 I 0 5342\n1 P 120 1432\n2 B 40.0 544",
            "Frame Frame-Type Time[ms] Length [byte]\n0 I 5342\n1 P 1432\n2 B 544",
            "pkt_size,pict_type\n5342,I\n1432,P\n544,B",
            "frame,5342,I\nframe,1432,P\nframe,544,B",
            "0;I;5342\r1;P;1432e0\r2;B;5.44e2",
            "number type size_kB\n0 I 5.342\n1 P 1.432\n2 B 0.544",
            "type,Size (bits)\nI,42736\nP,11456\nB,4352",
            "Frame Type Length [kB]\n0 I 5.342\n1 P 1.432\n2 B 0.544",
        ] {
            assert_eq!(listed(text), list(&[5342, 1432, 544], "IPB"), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_in_a_list_is_told_with_its_line() {
        let wrong = |text| {
            let Wrong { line, message, .. } = listed(text, &mut Remarks::new()).expect_err(text);
            (line, message)
        };
        assert_eq!(wrong("5000\n# so far\nbig\n"), (3, "`big` is no size in bytes".to_owned()));
        assert_eq!(wrong("5000\n0\n"), (2, "a frame of 0 bytes is not sent".to_owned()));
        assert_eq!(wrong("5000 6000"), (1, "`5000 6000` is no frame".to_owned()));
        assert_eq!(wrong("0 7 5000"), (1, "`7` is no type of a frame".to_owned()));
        assert_eq!(wrong("\nx I 5000"), (2, "`x` is no number of a frame".to_owned()));
        for text in ["0 I 5,123", "0\tI\t5,123", "0;I;5,123"] {
            assert_eq!(wrong(text), (1, "`5,123` is no size in bytes".to_owned()));
        }
        assert_eq!(wrong("size_packets\n5"), (1, "`size_packets` names no unit of a size".to_owned()));
        assert_eq!(wrong("# nothing\n"), (0, "there are no frames in it".to_owned()));
    }
}
