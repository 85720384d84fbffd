//! scratch
use std::collections::BTreeMap;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let seeds: u64 = args[2].parse().unwrap();
    let mut s = lab::load(&text, &args[1]).unwrap_or_else(|e| panic!("{e}")).without_sweep().unwrap();
    let mut show = Vec::new();
    for a in &args[3..] {
        match a.split_once('=') {
            Some((k, v)) => s = s.with_text(k, v).unwrap_or_else(|e| panic!("{e}")),
            None => show.push(a.clone()),
        }
    }
    let mut sums: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for seed in 1..=seeds {
        let plan = s.plan(Some(seed)).unwrap_or_else(|e| panic!("{e}"));
        let out = lab::run(&plan, &sim::Control::default());
        for (k, v) in out.report.values() {
            if show.iter().any(|w| k.contains(w.as_str())) {
                sums.entry(k.to_owned()).or_default().push(v.unwrap_or(f64::NAN));
            }
        }
        if show.iter().any(|w| w == "FCT") {
            let flows = out.report.table("flows").unwrap();
            let col = |n: &str| match &flows.column(n).unwrap() {
                lab::Cells::Number(x) => x.clone(),
                lab::Cells::Count(x) => x.iter().map(|y| y.map(|z| z as f64)).collect(),
                _ => vec![],
            };
            let mut f: Vec<f64> = col("fct_s").into_iter().flatten().collect();
            f.sort_by(f64::total_cmp);
            let n = f.len();
            let t: f64 = col("timeouts").into_iter().flatten().sum();
            for (k, v) in [
                ("n", n as f64),
                ("mean", f.iter().sum::<f64>() / n as f64),
                ("p50", f[n / 2]),
                ("p95", f[n * 95 / 100]),
                ("p99", f[n * 99 / 100]),
                ("timeouts/flow", t / n as f64),
            ] {
                sums.entry(format!("FCT {k}")).or_default().push(v);
            }
        }
    }
    for (k, v) in sums {
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        println!("{k} {mean:.5}  {:?}", v.iter().map(|x| (x * 1e4).round() / 1e4).collect::<Vec<_>>());
    }
}
