fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let plan = lab::load(&text, &path).unwrap_or_else(|e| panic!("{e}")).plan(None).unwrap();
    let control = sim::Control::default();
    let s = lab::run(&plan, &control).report;
    let set = emulate::Settings { urgent: std::env::args().any(|a| a == "urgent"), ..Default::default() };
    let o = emulate::run(&plan.blueprint, &set, &control, None).unwrap_or_else(|e| panic!("{e}"));
    let r = lab::report(&plan, &o.trace);
    for (k, v) in r.values() {
        if k.contains("goodput")
            || k.contains("queue")
            || k.contains("fairness")
            || k.contains("retrans")
            || k.contains("rtt")
            || k.contains("utilis")
            || k.contains("drops")
        {
            if let (Some(a), Some(b)) = (s.value(k), v) {
                if a != 0.0 || b != 0.0 {
                    println!("{k:45} {a:14.5} {b:14.5}");
                }
            }
        }
    }
    let a = &o.accuracy;
    for (n, v) in a.rows() {
        println!("{n:12} p50 {} p99 {} p99.9 {} max {}", v[0], v[1], v[2], v[3]);
    }
    println!(
        "in {} out {} strays {} overruns {} pps {:.0} cpu loop {} all {} faults {:?} notes {:?}",
        a.packets_in,
        a.packets_out,
        a.strays,
        a.overruns,
        a.packets_per_second(),
        a.cpu_loop,
        a.cpu,
        a.faults(),
        a.notes
    );
}
