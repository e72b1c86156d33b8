//! What holds for all trials and tensors.

use std::path::Path;

use proptest::prelude::*;
use recount::audit::{Options, Severity, Subject, SubjectReport, verify_subject};
use recount::divergence::{EqualPairs, Printed, all_pairs, counts_of_rate, off_lattice, pair_count, summarize};
use recount::package::divergence::{Engine, RawResults, Source, files, receipt_text};

use super::support::{Gradients, Package, Recipe, receipt_file};

fn verified(subject: &Subject) -> (SubjectReport, recount::audit::Evidence) {
    verify_subject(subject, "subject", &Options::default(), &|_| {})
}

fn found(report: &SubjectReport) -> Vec<String> {
    report.findings().map(|finding| format!("{}: {}", finding.code.name(), finding.found)).collect()
}

/// The receipt made of a package's results.
fn receipt_of(package: &Package) -> (SubjectReport, String) {
    let (report, evidence) = verified(&Subject::Package(package.path().to_owned()));
    let results: Vec<_> = evidence
        .documents
        .iter()
        .filter(|(name, _)| files::engine_of(name).is_some())
        .map(|(_, document)| RawResults::read(document.as_ref().unwrap()))
        .collect();
    let sources: Vec<_> = results.iter().map(|results| Source { label: String::new(), results }).collect();
    let receipt = recount::package::divergence::summarize(&sources, None, "a test").unwrap();
    (report, receipt_text(&receipt))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn equal_pairs_of_labelled_trials_are_possible(labels in prop::collection::vec(0_u8..6, 0..60)) {
        let values: Vec<[f32; 1]> = labels.iter().map(|&label| [f32::from(label)]).collect();
        let trials: Vec<&[f32]> = values.iter().map(|value| value.as_slice()).collect();
        let summary = summarize(&all_pairs(&trials));
        let counts = EqualPairs::of(trials.len() as u64).unwrap();
        prop_assert!(counts.contains(summary.equal_pairs));
        // The printed rate stands for the count, among others.
        let printed: f64 = format!("{:.1}", summary.match_rate()).parse().unwrap();
        let range = counts_of_rate(Printed::decimals(printed, 1).unwrap(), pair_count(trials.len() as u64));
        prop_assert!(trials.len() < 2 || range.contains(&summary.equal_pairs), "{range:?}");
        prop_assert!(counts_of_rate(Printed::decimals(summary.match_rate(), 1).unwrap(), summary.pairs).contains(&summary.equal_pairs));
    }

    #[test]
    fn differences_of_near_gradients_are_never_accused(bits in 0x0080_0000_u32..0x7f00_0000, steps in 1_u32..4096) {
        let (left, right) = (f32::from_bits(bits), f32::from_bits(bits + steps / 2));
        let divergence = f64::from((right - left).abs());
        prop_assume!(divergence > 0.0);
        for digits in 4..9 {
            let printed: f64 = format!("{divergence:.digits$e}").parse().unwrap();
            prop_assert_eq!(off_lattice(Printed::significant(printed, 5).unwrap()), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn summaries_of_sums_in_any_order_verify(
        seed in 0_u64..1 << 40,
        trials in 2_u64..12,
        shape in [1_u64..3, 1_u64..4, 1_u64..6, 1_u64..6],
        kept in any::<bool>(),
    ) {
        let recipe = Recipe {
            seed,
            trials,
            shape,
            kept: if kept { vec![2, 5] } else { Vec::new() },
            engines: Engine::ALL[..3].to_vec(),
            gradients: Gradients::Sums,
            ..Recipe::default()
        };
        let (report, receipt) = receipt_of(&recipe.build());
        let loud: Vec<_> = report.findings().filter(|finding| finding.severity != Severity::Warning).collect();
        prop_assert!(loud.is_empty(), "{:?}", found(&report));
        let (_folder, path) = receipt_file(&receipt);
        let (report, _) = verified(&Subject::Receipt(path));
        prop_assert!(found(&report).is_empty(), "{:?}\n{receipt}", found(&report));
    }

    #[test]
    fn any_bits_are_judged_by_what_they_are(seed in 0_u64..1 << 40) {
        let recipe = Recipe { seed, gradients: Gradients::Bits, engines: vec![Engine::Cuda], ..Recipe::default() };
        let package = recipe.build();
        let (report, _) = verified(&Subject::Package(Path::new(package.path()).to_owned()));
        // Random bits hold NaN now and then: such a divergence cannot be published, and nothing else is wrong.
        prop_assert!(report.findings().all(|finding| finding.code.name() == "figure-range"), "{:?}", found(&report));
    }
}
