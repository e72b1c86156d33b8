//! Tables made up from medians with all their digits, and what is true of those.

use std::collections::BTreeMap;

use proptest::prelude::*;
use recount::fit::folds::leave_one_group_out;
use recount::fit::metrics::{Metrics, PolicyOutcome};
use recount::fit::nnls::{self, Row, predict};
use recount::fit::policy::{Decision, decide};
use recount::fit::{Facts, Geometry, Schedule};
use serde_json::{Value, json};

use super::package::Package;

const PROCESSORS: u64 = 24;
const FRACTION: f64 = 0.05;

/// Shapes with one and with several batches, with and without a tail.
const SHAPES: [[u64; 3]; 8] = [
    [17, 1024, 4],
    [65, 2048, 8],
    [128, 2048, 8],
    [65, 512, 8],
    [1024, 512, 4],
    [37, 257, 4],
    [3, 8191, 4],
    [24, 16, 2],
];

#[derive(Debug, Clone)]
pub(crate) struct Truth {
    /// Shape, operation and true medians: the three schedules, recheck, Torch.
    cases: Vec<([u64; 3], &'static str, [f64; 5])>,
    /// Printed decimals of the medians.
    decimals: usize,
    /// Printed decimals of claims.
    claim_decimals: usize,
}

/// Tables of two or more geometries with one or two cases each. Medians follow a model more or less, so that subsets and
/// decisions are of every kind, and near their boundaries.
pub(crate) fn tables() -> impl Strategy<Value = Truth> {
    let shapes = proptest::sample::subsequence(SHAPES.to_vec(), 2..=6);
    let model = (0.0..2.0_f64, prop_oneof![Just(0.0), 0.0..0.02_f64], prop_oneof![Just(0.0), 0.0..3e-4_f64]);
    (shapes, model, 0.0..0.6_f64, 1..=4_usize, 0..=6_usize).prop_flat_map(
        |(shapes, (constant, programs, demand), spread, decimals, claim_decimals)| {
            let factors = proptest::collection::vec(proptest::array::uniform5(-1.0..1.0_f64), 2 * shapes.len());
            let both = proptest::collection::vec(any::<bool>(), shapes.len());
            (Just(shapes), factors, both).prop_map(move |(shapes, factors, both)| {
                let mut cases = Vec::new();
                for (at, shape) in shapes.iter().enumerate() {
                    for (operation, factors) in ["reduce_sum", "reduce_max"].into_iter().zip(&factors[2 * at..]) {
                        if operation == "reduce_max" && !both[at] {
                            continue;
                        }
                        let [default, rows1, rows2] =
                            features(*shape).map(|[_, p, d]| 0.3 + constant + programs * p + demand * d);
                        let medians = [default, rows1, rows2, default, default];
                        let medians = std::array::from_fn(|at| medians[at] * (1.0 + spread * factors[at]));
                        cases.push((*shape, operation, medians));
                    }
                }
                Truth { cases, decimals, claim_decimals }
            })
        },
    )
}

fn geometry([rows, columns, block]: [u64; 3]) -> Geometry {
    Geometry { rows, columns, block, width: columns.next_power_of_two() }
}

fn features(shape: [u64; 3]) -> [[f64; 3]; 3] {
    Schedule::ALL.map(|schedule| Facts::of(geometry(shape), schedule, 2, PROCESSORS).expect("facts").features())
}

impl Truth {
    /// The medians rounded, with claims about the medians that are not.
    pub(crate) fn package(&self) -> Package {
        let groups: Vec<[u64; 3]> = {
            let mut groups: Vec<_> = self.cases.iter().map(|(shape, ..)| *shape).collect();
            groups.dedup();
            groups
        };
        let group = |shape: &[u64; 3]| groups.iter().position(|other| other == shape).expect("its group");
        let rows: Vec<Row> = self
            .cases
            .iter()
            .flat_map(|(shape, _, medians)| {
                let observed = features(*shape).into_iter().zip(medians);
                observed.map(|(features, &observed)| Row { group: group(shape), features: features.to_vec(), observed })
            })
            .collect();
        let full = nnls::fit(&rows).expect("a fit");
        let folds = leave_one_group_out(&rows, &(0..groups.len()).collect::<Vec<_>>()).expect("folds");
        let mut held = vec![Vec::new(); self.cases.len()];
        for fold in &folds {
            for &row in &fold.held_rows {
                held[row / 3].push(predict(&fold.fit.coefficients, &rows[row].features));
            }
        }
        let decided = |scores: [f64; 3]| decide(scores, FRACTION).expect("a decision");
        let scores = |case: usize| [0, 1, 2].map(|at| predict(&full.coefficients, &rows[3 * case + at].features));
        let by_full: Vec<Decision> = (0..self.cases.len()).map(|case| decided(scores(case))).collect();
        let by_folds: Vec<Decision> = held.iter().map(|held| decided([held[0], held[1], held[2]])).collect();

        let mut claims = Claims { claims: Vec::new(), decimals: self.claim_decimals };
        for (feature, name) in ["a0", "aP", "aD"].into_iter().enumerate() {
            let more = self.claim_decimals + [0, 2, 4][feature];
            claims.rounded("coefficient", "us", full.coefficients[feature], more, json!({ "coefficient": name }));
        }
        for (policy, decisions) in [("full-fit", &by_full), ("leave-one-geometry-out", &by_folds)] {
            self.claim_policy(&mut claims, policy, decisions);
        }
        self.claim_residuals(&mut claims, &rows, &held);
        let changes: Vec<f64> =
            self.cases.iter().map(|(_, _, medians)| 100.0 * (medians[3] / medians[0] - 1.0)).collect();
        for (over, extreme) in [("smallest", f64::min as fn(f64, f64) -> f64), ("largest", f64::max)] {
            let value = changes.iter().copied().reduce(extreme).expect("a case");
            let arguments = json!({ "cohort": "recheck", "reference": "default", "over": over });
            claims.add("change", "%", value, arguments);
        }
        let slower = self.cases.iter().filter(|(_, _, medians)| medians[1] > medians[4]).count();
        claims.count("slower", slower, json!({ "cohort": "rows1", "reference": "torch" }));

        let mut table = "case,default,rows1,rows2,recheck,torch,selection\n".to_owned();
        for (at, (_, _, medians)) in self.cases.iter().enumerate() {
            let cells: Vec<_> = medians.iter().map(|median| format!("{median:.*}", self.decimals)).collect();
            table += &format!("{},{},{}\n", self.label(at), cells.join(","), by_folds[at].selected);
        }
        let root = json!({
            "schema": "recount-claims-v1",
            "medians": "medians.csv",
            "unit": "us",
            "processors": PROCESSORS,
            "improvement_fraction": FRACTION,
            "claims": claims.claims,
        });
        Package { root, table, has_table: true }
    }

    fn label(&self, case: usize) -> String {
        let ([rows, columns, block], operation, _) = self.cases[case];
        format!("{operation} {rows}x{columns} fp16 B{block}")
    }

    fn claim_policy(&self, claims: &mut Claims, policy: &str, decisions: &[Decision]) {
        let outcomes: Vec<_> = self
            .cases
            .iter()
            .zip(decisions)
            .map(|((shape, _, medians), decision)| PolicyOutcome {
                group: geometry(*shape).key(),
                selected: decision.selected,
                ratio: medians[decision.selected as usize] / medians[0],
            })
            .collect();
        let metrics = Metrics::of(&outcomes).expect("metrics");
        let mean = metrics.geometry_equal_weight_policy_geomean;
        claims.add("policy-geomean", "ratio", mean, json!({ "policy": policy }));
        let regressions = usize::try_from(metrics.selected_regressions).expect("few");
        claims.count("selected-regressions", regressions, json!({ "policy": policy }));
        let mut counts = BTreeMap::from(Schedule::ALL.map(|schedule| (schedule, 0)));
        for decision in decisions {
            *counts.entry(decision.selected).or_default() += 1;
        }
        for (schedule, number) in counts {
            claims.count("selections", number, json!({ "schedule": schedule.name(), "policy": policy }));
        }
        let selected =
            self.cases.iter().zip(decisions).map(|((.., medians), decision)| medians[decision.selected as usize]);
        let largest = selected.fold(0.0, f64::max);
        claims.add("median", "us", largest, json!({ "cohort": "selected", "policy": policy, "over": "largest" }));
    }

    fn claim_residuals(&self, claims: &mut Claims, rows: &[Row], held: &[Vec<f64>]) {
        let mut largest = (f64::NEG_INFINITY, 0);
        let mut largest_absolute = 0.0_f64;
        for (at, (row, predicted)) in rows.iter().zip(held.iter().flatten()).enumerate() {
            let relative = 100.0 * (predicted / row.observed - 1.0);
            if relative > largest.0 {
                largest = (relative, at);
            }
            largest_absolute = largest_absolute.max((predicted - row.observed).abs());
        }
        let (value, at) = largest;
        let schedule = Schedule::ALL[at % 3].name();
        let arguments = json!({ "over": "largest", "case": self.label(at / 3), "schedule": schedule });
        claims.add("fold-relative-residual", "%", value, arguments);
        claims.add("fold-absolute-residual", "us", largest_absolute, json!({ "over": "largest" }));
    }
}

struct Claims {
    claims: Vec<Value>,
    decimals: usize,
}

impl Claims {
    fn add(&mut self, quantity: &str, unit: &str, value: f64, arguments: Value) {
        self.rounded(quantity, unit, value, self.decimals, arguments);
    }

    fn count(&mut self, quantity: &str, number: usize, arguments: Value) {
        self.rounded(quantity, "count", number as f64, 0, arguments);
    }

    fn rounded(&mut self, quantity: &str, unit: &str, value: f64, decimals: usize, mut claim: Value) {
        let id = format!("{}", self.claims.len());
        let printed = format!("{value:.decimals$}");
        for (name, text) in
            [("id", id.as_str()), ("says", "true"), ("quantity", quantity), ("unit", unit), ("printed", &printed)]
        {
            claim[name] = json!(text);
        }
        self.claims.push(claim);
    }
}
