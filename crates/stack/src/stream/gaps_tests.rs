use super::*;

const fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Feeds numbers at one instant; returns the losses of each step. Without a reordering window.
fn feed(reorder: u32, seqs: &[u64]) -> Vec<Vec<(u64, u64)>> {
    let mut gaps = Gaps::new(reorder, false);
    seqs.iter()
        .map(|seq| {
            let mut lost = Vec::new();
            gaps.arrived(*seq, Time::ZERO, |first, packets| lost.push((first, packets)));
            lost
        })
        .collect()
}

/// Feeds numbers with their times in milliseconds; returns what each is, and the losses of all.
fn timed(gaps: &mut Gaps, arrivals: &[(u64, u64)]) -> (Vec<SequenceClass>, Vec<(u64, u64)>) {
    let mut lost = Vec::new();
    let mut take = |&(seq, time)| gaps.arrived(seq, at(time), |first, packets| lost.push((first, packets)));
    let classes = arrivals.iter().map(&mut take).collect();
    (classes, lost)
}

#[test]
fn on_a_fifo_path_a_gap_is_lost_at_once() {
    assert_eq!(feed(1, &[7, 8, 11, 12]), [vec![], vec![], vec![(9, 2)], vec![]]);
}

#[test]
fn three_later_packets_are_waited_for_where_the_scheme_says_so() {
    assert_eq!(feed(3, &[0, 2, 3, 4, 5]), [vec![], vec![], vec![], vec![(1, 1)], vec![]]);
    // the missing packet arrives after two later ones
    assert!(feed(3, &[0, 2, 3, 1, 4, 5, 6]).iter().all(Vec::is_empty));
    // two holes that are lost one after the other
    assert_eq!(feed(3, &[0, 2, 4, 5, 6]), [vec![], vec![], vec![], vec![(1, 1)], vec![(3, 1)]]);
}

#[test]
fn a_late_packet_splits_its_hole() {
    // 1..=4 are missing; 3 arrives late and counts as later than 1 and 2
    assert_eq!(feed(3, &[0, 5, 3, 6, 7]), [vec![], vec![], vec![], vec![(1, 2)], vec![(4, 1)]]);
}

#[test]
fn a_duplicate_is_old_and_a_packet_declared_lost_is_late_once() {
    use SequenceClass::{Late, New, Old};
    let mut gaps = Gaps::new(1, false);
    let (classes, lost) = timed(&mut gaps, &[(0, 0), (1, 0), (1, 0), (3, 0), (2, 0), (2, 0), (0, 0)]);
    assert_eq!(classes, [New, New, Old, New, Late, Old, Old]);
    assert_eq!(lost, [(2, 1)]);
}

/// 5 comes 8 ms after 6 and was lost by then: the window becomes 10 ms. 7 comes 9 ms after 8: it was waited for, the
/// window is 11.25 ms. 10 is missing from 40 ms on, and lost with the first packet that arrives at 51.25 ms or later.
#[test]
fn once_a_packet_was_overtaken_packets_are_waited_for_in_time() {
    use SequenceClass::{Late, New, Reordered};
    let mut gaps = Gaps::new(1, true);
    let (classes, lost) = timed(&mut gaps, &[(4, 0), (6, 10), (5, 18)]);
    assert_eq!((classes, lost), (vec![New, New, Late], vec![(5, 1)]));
    assert_eq!(gaps.window(), ms(10));
    let (classes, lost) = timed(&mut gaps, &[(8, 20), (7, 29), (9, 30)]);
    assert_eq!((classes, lost), (vec![New, Reordered, New], vec![]));
    assert_eq!(gaps.window(), Duration::from_micros(11_250));
    let (_, lost) = timed(&mut gaps, &[(11, 40), (12, 51)]);
    assert_eq!(lost, []);
    let (_, lost) = timed(&mut gaps, &[(13, 52)]);
    assert_eq!(lost, [(10, 1)]);
}

/// The late offset of netem's `reorder` is the propagation delay: one packet overtakes the 50 before it.
#[test]
fn a_packet_that_overtakes_many_makes_one_window() {
    let mut gaps = Gaps::new(1, true);
    let mut arrivals = vec![(0, 0), (51, 1)];
    arrivals.extend((1..51).map(|seq| (seq, 1 + seq)));
    let (classes, lost) = timed(&mut gaps, &arrivals);
    assert_eq!(lost, [(1, 50)]);
    assert!(classes[2..].iter().all(|class| *class == SequenceClass::Late));
    assert_eq!(gaps.window(), Duration::from_micros(62_500));
    // again: now all of them are waited for
    let mut arrivals = vec![(102, 101)];
    arrivals.extend((52..102).map(|seq| (seq, 50 + seq)));
    let (classes, lost) = timed(&mut gaps, &arrivals);
    assert_eq!(lost, []);
    assert!(classes[1..].iter().all(|class| *class == SequenceClass::Reordered));
}

#[test]
fn the_window_ends_after_sixteen_losses_without_an_overtaken_packet() {
    let mut gaps = Gaps::new(1, true);
    timed(&mut gaps, &[(0, 0), (2, 0), (1, 8)]);
    assert_eq!(gaps.window(), ms(10));
    // every second number is missing
    for loss in 1..=17 {
        assert_eq!(gaps.window(), ms(10), "{loss}");
        timed(&mut gaps, &[(2 + 2 * loss, 20 * loss)]);
    }
    // the sixteenth is lost when the seventeenth is found missing
    assert_eq!(gaps.window(), Duration::ZERO);
}

#[test]
fn what_comes_after_a_second_is_no_reason_to_wait_longer() {
    let mut gaps = Gaps::new(1, true);
    let (classes, _) = timed(&mut gaps, &[(0, 0), (2, 0), (1, 1001)]);
    assert_eq!((classes[2], gaps.window()), (SequenceClass::Old, Duration::ZERO));
    let (classes, _) = timed(&mut gaps, &[(4, 2000), (3, 2900)]);
    assert_eq!((classes[1], gaps.window()), (SequenceClass::Late, Duration::from_secs(1)));
}

/// The window is open, and only every second packet arrives: what is missing is bounded.
#[test]
fn memory_is_bounded() {
    let mut gaps = Gaps::new(1, true);
    timed(&mut gaps, &[(0, 0), (2, 0), (1, 800)]);
    let mut lost = 0;
    for seq in 2..10_000 {
        gaps.arrived(2 * seq, at(800), |_, packets| lost += packets);
        assert!(gaps.holes.len() <= MAX_HOLES && gaps.lost.len() <= MAX_LOST);
    }
    assert_eq!(lost as usize + gaps.holes.len(), 9_998);
}

proptest::proptest! {
    #[test]
    fn every_number_is_new_once_or_lost_once(
        reorder in 1u32..5,
        adapts in proptest::bool::ANY,
        shuffled in proptest::collection::vec((0u64..40, 0u64..6, 0u64..30), 1..120),
    ) {
        // ascending numbers with reordering, losses and duplicates
        let numbers = shuffled.iter().enumerate().map(|(i, (x, y, _))| (i as u64 + x * y / 6) / 2 + 3);
        let seqs: Vec<u64> = numbers.collect();
        let mut gaps = Gaps::new(reorder, adapts);
        let (mut new, mut lost, mut late, mut now) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (seq, (_, _, wait)) in seqs.iter().zip(&shuffled) {
            now += wait;
            let class = gaps.arrived(*seq, at(now), |first, packets| lost.extend(first..first + packets));
            match class {
                SequenceClass::New | SequenceClass::Reordered => new.push(*seq),
                SequenceClass::Late => late.push(*seq),
                SequenceClass::Old => {}
            }
            proptest::prop_assert!(adapts || gaps.holes.len() <= reorder as usize + 1);
            proptest::prop_assert!(gaps.holes.is_sorted_by(|a, b| a.end <= b.first && a.since <= b.since));
        }
        let pending: Vec<u64> = gaps.holes.iter().flat_map(|hole| hole.first..hole.end).collect();
        let mut all: Vec<u64> = new.iter().chain(&lost).chain(&pending).copied().collect();
        all.sort_unstable();
        let first = seqs[0];
        let last = *seqs.iter().max().expect("there are numbers");
        proptest::prop_assert_eq!(all, (first..=last.max(first)).collect::<Vec<_>>());
        // late ones are among the lost, once each
        let count = late.len();
        late.sort_unstable();
        late.dedup();
        proptest::prop_assert_eq!(late.len(), count);
        proptest::prop_assert!(late.iter().all(|seq| lost.contains(seq)));
    }
}
