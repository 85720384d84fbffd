//! The frames of a stream and their player in the words of a scenario.

use stack::stream::{Depends, FrameType, Frames, Player, Video};
use toml::{Table, Value};
use units::Duration;

use super::print::{put, rate, span};

pub(crate) fn video_table(video: &Video) -> Table {
    let mut table = Table::new();
    match &video.frames {
        Frames::Equal { rate: mean } => {
            put(&mut table, "kind", "constant");
            put(&mut table, "rate", rate(*mean));
        }
        Frames::Groups { rate: mean, pattern, sizes, variation } => {
            put(&mut table, "kind", "frames");
            put(&mut table, "rate", rate(*mean));
            put(&mut table, "pattern", pattern.iter().copied().map(FrameType::letter).collect::<String>());
            put(&mut table, "sizes", sizes.map(Value::from).to_vec());
            put(&mut table, "variation", *variation);
        }
        Frames::Trace { file, rate: mean, repeat, .. } => {
            put(&mut table, "kind", "trace");
            put(&mut table, "file", file.clone());
            if let Some(mean) = mean {
                put(&mut table, "rate", rate(*mean));
            }
            put(&mut table, "repeat", *repeat);
        }
    }
    put(&mut table, "frame_rate", video.frame_rate);
    put(&mut table, "live", video.live);
    if video.drop_after < Duration::MAX {
        put(&mut table, "drop_after", span(video.drop_after));
    }
    table
}

pub(crate) fn player_table(player: &Player) -> Table {
    let mut table = Table::new();
    put(&mut table, "startup", span(player.startup));
    put(&mut table, "resume", span(player.resume));
    put(&mut table, "late", if player.waits { "wait" } else { "skip" });
    let depends = match player.depends {
        Depends::Nothing => "nothing",
        Depends::Intra => "intra",
        Depends::References => "references",
    };
    put(&mut table, "depends", depends);
    if let Some(modes) = &player.modes {
        put(&mut table, "modes", vec![modes.filling.clone(), modes.full.clone()]);
        put(&mut table, "low", span(modes.low));
        put(&mut table, "high", span(modes.high));
    }
    table
}
