//! Reports of missing symbols to the sender.

use super::ObjectReceiver;
use crate::messages::{MAX_LACKS, MissingSymbols, Report};
use crate::tree::{PROOF, PartialTree};

/// Maximum number of blocks that a report lists individually; beyond them it lists runs.
const TOLD: u32 = 4096;
/// Maximum number of blocks of hashes that a report requests.
const MAX_REPORTED_HASHES: usize = 8;

impl ObjectReceiver {
    pub(crate) fn report(&self, seen: u64, proof: Option<[u8; PROOF]>) -> Report {
        let base = self.complete.base();
        let mut report = Report {
            proof,
            seen,
            base,
            until: base,
            limit: self.limit(),
            complete: self.complete.count(),
            missing: Vec::new(),
        };
        let missing = self.hash_tree.iter().flat_map(PartialTree::missing).take(MAX_REPORTED_HASHES);
        report.missing.extend(missing.map(|of| {
            let symbols = self.hashes.missing(of, self.symbols_in(of));
            MissingSymbols { first: of, blocks: 1, symbols }
        }));
        for block in base..self.until.min(base.saturating_add(TOLD)) {
            if !self.has(block) {
                let missing = self.assembly.missing(block, self.symbols_in(block));
                if !push(&mut report.missing, block, missing) {
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

    /// Reports blocks without a received symbol: stored ones, and runs of missing ones, so that a sender skips the
    /// blocks of an earlier attempt.
    fn report_beyond(&self, report: &mut Report) {
        let blocks = self.manifest.layout.blocks();
        while report.until < blocks {
            let gap = self.present.next(report.until, false);
            if gap >= blocks {
                report.until = blocks;
                return;
            }
            // the last block may have fewer symbols
            let end = self.present.next(gap, true);
            let end = if gap + 1 < blocks { end.min(blocks - 1) } else { end };
            let max = u32::from(u16::MAX);
            let run = MissingSymbols {
                first: gap,
                blocks: (end - gap).min(max) as u16,
                symbols: self.symbols_in(gap),
            };
            if report.missing.len() >= MAX_LACKS {
                report.until = gap;
                return;
            }
            report.missing.push(run);
            report.until = gap + u32::from(run.blocks);
        }
    }
}

/// Adds an incomplete block. Returns false if there is no room.
fn push(missing: &mut Vec<MissingSymbols>, block: u32, symbols: u16) -> bool {
    let full = missing.len() >= MAX_LACKS;
    match missing.last_mut() {
        Some(last)
            if last.symbols == symbols
                && last.first + u32::from(last.blocks) == block
                && last.blocks < u16::MAX =>
        {
            last.blocks += 1;
        }
        _ if full => return false,
        _ => missing.push(MissingSymbols { first: block, blocks: 1, symbols }),
    }
    true
}
