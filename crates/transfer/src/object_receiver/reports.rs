//! Reports of what is missing, for the sender.

use super::ObjectReceiver;
use crate::messages::{MAX_LACKS, MissingSymbols, Report};
use crate::tree::{Known, PROOF};

/// Blocks that are told one by one in a report, at most; whole runs are told beyond.
const TOLD: u32 = 4096;
/// Blocks of hashes that a report asks for, at most.
const HASHES_TOLD: usize = 8;

impl ObjectReceiver {
    pub(crate) fn report(&self, seen: u64, proof: Option<[u8; PROOF]>) -> Report {
        let base = self.done.base();
        let mut report = Report {
            proof,
            seen,
            base,
            until: base,
            limit: self.limit(),
            complete: self.done.count(),
            lacks: Vec::new(),
        };
        let missing = self.known.iter().flat_map(Known::missing).take(HASHES_TOLD);
        report.lacks.extend(missing.map(|of| {
            let symbols = self.hashes.lacks(of, self.symbols_in(of));
            MissingSymbols { first: of, blocks: 1, symbols }
        }));
        for block in base..self.until.min(base.saturating_add(TOLD)) {
            if !self.has(block) {
                let lacks = self.assembly.lacks(block, self.symbols_in(block));
                if !push(&mut report.lacks, block, lacks) {
                    return report;
                }
            }
            report.until = block + 1;
        }
        if report.until >= self.until && !self.is_stream() {
            self.report_beyond(&mut report);
        }
        report
    }

    /// Tells of blocks of which nothing was seen: those that are there, and runs of those that are not. This is the map by which a sender passes over
    /// what an earlier attempt left.
    fn report_beyond(&self, report: &mut Report) {
        let blocks = self.manifest.layout.blocks();
        while report.until < blocks {
            let gap = self.there.next(report.until, false);
            if gap >= blocks {
                report.until = blocks;
                return;
            }
            // the last block may have fewer symbols
            let end = self.there.next(gap, true);
            let end = if gap + 1 < blocks { end.min(blocks - 1) } else { end };
            let max = u32::from(u16::MAX);
            let run = MissingSymbols {
                first: gap,
                blocks: (end - gap).min(max) as u16,
                symbols: self.symbols_in(gap),
            };
            if report.lacks.len() >= MAX_LACKS {
                report.until = gap;
                return;
            }
            report.lacks.push(run);
            report.until = gap + u32::from(run.blocks);
        }
    }
}

/// Adds a block that lacks something; false where there is no room.
fn push(lacks: &mut Vec<MissingSymbols>, block: u32, symbols: u16) -> bool {
    let full = lacks.len() >= MAX_LACKS;
    match lacks.last_mut() {
        Some(last)
            if last.symbols == symbols
                && last.first + u32::from(last.blocks) == block
                && last.blocks < u16::MAX =>
        {
            last.blocks += 1;
        }
        _ if full => return false,
        _ => lacks.push(MissingSymbols { first: block, blocks: 1, symbols }),
    }
    true
}
