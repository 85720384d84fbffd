//! Impairments of a link: bursty loss, corruption, jitter, reordering, duplication, release in bursts.

use units::Duration;

use crate::schema::bounds::{count, share_of, within};
use crate::schema::read::{Field, Notes, tables};

tables! {
    /// Impairments of a link or of one of its directions. They add to its delay and its independent loss, as those of netem in Linux.
    pub(crate) struct Impair = "impairments" {
        /// Loss in bursts, in addition to `loss`.
        bursts: Bursts,
        /// Probability that a packet arrives twice.
        duplicate: f64 where share_of(0.0, 1.0),
        /// Probability that a packet arrives damaged. The checksum at the end of the link finds it, and the packet is dropped.
        corrupt: f64 where share_of(0.0, 1.0),
        /// Jitter: maximum difference of the propagation delay of a packet from `delay`, in both directions; uniform and independent
        /// per packet. At most `delay`.
        jitter: Duration where within("0 s", "1000000000 s"),
        /// With `jitter`: a packet that would overtake another arrives with it. Otherwise packets are reordered.
        keep_order: bool = false,
        /// Probability that a packet arrives without propagation delay, before those ahead of it.
        reorder: f64 where share_of(0.0, 1.0),
        /// With `reorder`: a packet can be reordered if it is at least this many packets after the last reordered one.
        gap: u32 = 1 where count(1, 1_000_000),
        /// Packets arrive only at multiples of this time, those that were to arrive since the last one together: aggregation, as of
        /// acknowledgements by Wi-Fi. Default: none.
        release_every: Duration where within("0 s", "1000000000 s"),
    }

    /// The loss model of Gilbert and Elliott. The link is in a good or a bad state; the state decides about a packet, then it may change.
    pub(crate) struct Bursts = "loss in bursts" {
        /// Probability of a change from good to bad, per packet (`p` of netem).
        to_bad: f64 where share_of(0.0, 1.0),
        /// Probability of a change from bad to good, per packet (`r`). A burst has 1 / to_good packets on average.
        to_good: f64 where share_of(0.0, 1.0),
        /// Probability of loss in the bad state (`1-h`).
        loss_in_bad: f64 = 1 where share_of(0.0, 1.0),
        /// Probability of loss in the good state (`1-k`).
        loss_in_good: f64 = 0 where share_of(0.0, 1.0),
    }
}

impl Impair {
    /// The impairments with defaults; `None` for none.
    pub(crate) fn to_spec(&self) -> Option<sim::Impair> {
        let (usual, in_bursts) = (Self::defaults(), Bursts::defaults());
        let bursts = self.bursts.present().map(|table| sim::GilbertElliott {
            to_bad: table.to_bad.or(0.0),
            to_good: table.to_good.or(1.0),
            loss_in_bad: table.loss_in_bad.or(*in_bursts.loss_in_bad.resolved()),
            loss_in_good: table.loss_in_good.or(*in_bursts.loss_in_good.resolved()),
        });
        let jitter = self.jitter.present().filter(|at| at.value > Duration::ZERO);
        let reorder = self.reorder.present().filter(|at| at.value > 0.0);
        let spec = sim::Impair {
            bursts,
            duplicate: self.duplicate.or(0.0),
            corrupt: self.corrupt.or(0.0),
            jitter: jitter.map(|at| sim::Jitter {
                by: at.value,
                keeps_order: self.keep_order.or(*usual.keep_order.resolved()),
            }),
            reorder: reorder
                .map(|at| sim::Reorder { probability: at.value, gap: self.gap.or(*usual.gap.resolved()) }),
            release_every: self.release_every.or(Duration::ZERO),
        };
        (spec != sim::Impair::default()).then_some(spec)
    }

    /// The table of impairments, every key of theirs written.
    pub(crate) fn of_spec(spec: &sim::Impair) -> Self {
        let bursts = spec.bursts.map(|model| Bursts {
            to_bad: model.to_bad.into(),
            to_good: model.to_good.into(),
            loss_in_bad: model.loss_in_bad.into(),
            loss_in_good: model.loss_in_good.into(),
            ..Bursts::default()
        });
        Self {
            bursts: bursts.into(),
            duplicate: Field::of(spec.duplicate).filter(|share| *share > 0.0),
            corrupt: Field::of(spec.corrupt).filter(|share| *share > 0.0),
            jitter: spec.jitter.map(|jitter| jitter.by).into(),
            keep_order: spec.jitter.map(|jitter| jitter.keeps_order).into(),
            reorder: spec.reorder.map(|reorder| reorder.probability).into(),
            gap: spec.reorder.map(|reorder| reorder.gap).into(),
            release_every: Field::of(spec.release_every).filter(|every| *every > Duration::ZERO),
            ..Self::default()
        }
    }

    /// Reports keys without those that they belong to, and a jitter that is above the delay of the link.
    pub(crate) fn check(&self, delay: Duration, notes: &mut Notes) {
        let pairs = [
            (
                "keep_order",
                self.keep_order.present().map(|at| at.location),
                "jitter",
                self.jitter.is_missing(),
            ),
            ("gap", self.gap.present().map(|at| at.location), "reorder", self.reorder.is_missing()),
        ];
        for (key, location, of, missing) in pairs {
            if let (Some(location), true) = (location, missing) {
                notes
                    .wrong(location, format!("`{key}` goes with `{of}`"))
                    .hint(format!("add `{of}`, or leave it out"));
            }
        }
        if let Some(jitter) = self.jitter.present().filter(|at| at.value > delay) {
            notes
                .wrong(jitter.location, format!("a jitter of {} is above the delay of {delay}", jitter.value))
                .hint("raise `delay` or lower `jitter`: a packet cannot arrive before it was sent");
        }
        if let Some(bursts) = self.bursts.present() {
            bursts.to_bad.required("to_bad", "loss in bursts", bursts.location, notes);
            bursts.to_good.required("to_good", "loss in bursts", bursts.location, notes);
        }
    }
}
