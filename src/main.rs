//! temporary
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let options = recount::audit::Options::default();
    let t = std::time::Instant::now();
    let report = recount::audit::verify(std::path::Path::new(&path), &path, &options, &|_| {});
    println!("{:?}", t.elapsed());
    for check in &report.checks {
        println!("{:?} {:?} {:?} notes {:?}", check.family, check.outcome, check.tally, check.notes);
        for f in check.findings.iter().take(8) {
            println!("   {} {} {:?} expected {} found {}", f.code.name(), f.file, f.place, f.expected, f.found);
        }
    }
    println!("{:?} {:?}", report.facts, report.verdict(false));
}
