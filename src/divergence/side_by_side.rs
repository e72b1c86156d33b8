//! Two summaries side by side: what differs, and which of it matters.
//!
//! Drift and match rate vary from run to run, and so does the size of a divergence; that is what they are about. Whether
//! there is any divergence at all does not: zero on one side and not on the other is a difference that matters.

/// How a device adds up, which decides what it can be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// On a GPU, in whatever order its threads arrive.
    Unordered,
    /// On a GPU, with a result that does not depend on the order.
    Ordered,
    /// On the host.
    Host,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 3] = [Class::Unordered, Class::Ordered, Class::Host];
}

/// One receipt or package.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// What it is called.
    pub label: String,
    /// What was measured: name and value of each member of the protocol that defines it.
    pub protocol: Vec<(String, String)>,
    /// What the deterministic mode led to: where, under which PyTorch release, and the outcome.
    pub probes: Vec<ProbeOutcome>,
    /// The devices.
    pub devices: Vec<DeviceFigures>,
}

/// An outcome of the deterministic-mode probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeOutcome {
    /// `cuda` or `cpu`.
    pub place: &'static str,
    /// PyTorch release, where one is known.
    pub release: Option<String>,
    /// The text.
    pub outcome: String,
}

/// One device.
#[derive(Debug, Clone)]
pub struct DeviceFigures {
    /// Its key.
    pub key: String,
    /// How it adds up.
    pub class: Class,
    /// Name and value of what is known of device and software.
    pub environment: Vec<(&'static str, String)>,
    /// Its figures.
    pub cells: Vec<Cell>,
}

/// The figures of one arm at one resolution.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The arm's name.
    pub arm: &'static str,
    /// Height and width of the output.
    pub resolution: u64,
    /// Largest drift.
    pub drift: f64,
    /// Largest divergence.
    pub divergence: f64,
    /// Equal pairs in percent.
    pub rate: f64,
}

impl Cell {
    /// Whether no pair differs.
    pub fn is_zero(&self) -> bool {
        self.drift == 0.0
    }
}

/// Something that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What.
    pub what: String,
    /// On the left.
    pub left: String,
    /// On the right.
    pub right: String,
    /// Whether it matters.
    pub matters: bool,
    /// Why it does, or does not.
    pub why: &'static str,
}

/// The figures of two devices at one arm and resolution.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Key on the left.
    pub left_key: String,
    /// Key on the right.
    pub right_key: String,
    /// Figures on the left.
    pub left: Cell,
    /// Figures on the right.
    pub right: Cell,
    /// Whether they differ in what matters.
    pub matters: bool,
}

/// The comparison.
#[derive(Debug, Clone, Default)]
pub struct SideBySide {
    /// Protocol, environment and probe, in this order.
    pub differences: Vec<Difference>,
    /// All figures that can be compared.
    pub rows: Vec<Row>,
    /// Devices of the left that nothing on the right is like.
    pub only_left: Vec<String>,
    /// The same of the right.
    pub only_right: Vec<String>,
}

impl SideBySide {
    /// How many differences matter.
    pub fn mattering(&self) -> usize {
        let rows = self.rows.iter().filter(|row| row.matters).count();
        rows + self.differences.iter().filter(|difference| difference.matters).count()
    }

    /// Whether something was compared and nothing that matters differs.
    pub fn agrees(&self) -> bool {
        !self.rows.is_empty() && self.mattering() == 0
    }
}

/// Compares two sides. Devices of one key are compared with each other; the others with those of their class on the other
/// side, since a fresh run is mostly one on another device.
pub fn side_by_side(left: &Side, right: &Side) -> SideBySide {
    let mut found = SideBySide::default();
    differing_protocol(left, right, &mut found.differences);
    for one in &left.devices {
        if let Some(other) = right.devices.iter().find(|other| other.key == one.key) {
            differing_environment(one, other, &mut found.differences);
            let differ = |left: &Cell, right: &Cell| left.is_zero() != right.is_zero();
            pair_up(&[one], &[other], &differ, &mut found.rows);
        }
    }
    differing_probe(left, right, &mut found.differences);
    for class in Class::ALL {
        let alone = |side: &'_ Side, other: &Side| -> Vec<usize> {
            let without = |device: &DeviceFigures| other.devices.iter().all(|other| other.key != device.key);
            let of_class = |(_, device): &(usize, &DeviceFigures)| device.class == class && without(device);
            side.devices.iter().enumerate().filter(of_class).map(|(at, _)| at).collect()
        };
        let lefts: Vec<_> = alone(left, right).into_iter().map(|at| &left.devices[at]).collect();
        let rights: Vec<_> = alone(right, left).into_iter().map(|at| &right.devices[at]).collect();
        // Devices of one side may differ among themselves; it matters where no device of the one side is like any of the
        // other.
        let seen = |devices: &[&DeviceFigures], cell: &Cell, zero: bool| {
            let cells = devices.iter().flat_map(|device| &device.cells);
            cells.filter(|other| same_place(cell, other)).any(|other| other.is_zero() == zero)
        };
        let apart = |cell: &Cell, _: &Cell| {
            ![true, false].into_iter().any(|zero| seen(&lefts, cell, zero) && seen(&rights, cell, zero))
        };
        pair_up(&lefts, &rights, &apart, &mut found.rows);
        if rights.is_empty() {
            found.only_left.extend(lefts.iter().map(|device| device.key.clone()));
        }
        if lefts.is_empty() {
            found.only_right.extend(rights.iter().map(|device| device.key.clone()));
        }
    }
    found
}

fn same_place(left: &Cell, right: &Cell) -> bool {
    left.arm == right.arm && left.resolution == right.resolution
}

fn pair_up(
    lefts: &[&DeviceFigures],
    rights: &[&DeviceFigures],
    matters: &dyn Fn(&Cell, &Cell) -> bool,
    rows: &mut Vec<Row>,
) {
    for (one, other) in lefts.iter().flat_map(|one| rights.iter().map(move |other| (one, other))) {
        for left in &one.cells {
            let Some(right) = other.cells.iter().find(|right| same_place(left, right)) else { continue };
            rows.push(Row {
                left_key: one.key.clone(),
                right_key: other.key.clone(),
                left: left.clone(),
                right: right.clone(),
                matters: matters(left, right),
            });
        }
    }
}

fn differing_protocol(left: &Side, right: &Side, differences: &mut Vec<Difference>) {
    for (name, value) in &left.protocol {
        let other = right.protocol.iter().find(|(other, _)| other == name).map_or("nothing", |(_, value)| value);
        if value != other {
            differences.push(Difference {
                what: format!("protocol: {name}"),
                left: value.clone(),
                right: other.to_owned(),
                matters: true,
                why: "figures of different protocols are not about the same thing",
            });
        }
    }
}

fn differing_environment(left: &DeviceFigures, right: &DeviceFigures, differences: &mut Vec<Difference>) {
    for (name, value) in &left.environment {
        let other = right.environment.iter().find(|(other, _)| other == name).map_or("nothing", |(_, value)| value);
        if value != other {
            differences.push(Difference {
                what: format!("{}: {name}", left.key),
                left: value.clone(),
                right: other.to_owned(),
                matters: false,
                why: "another environment is what a second run is for",
            });
        }
    }
}

fn differing_probe(left: &Side, right: &Side, differences: &mut Vec<Difference>) {
    for one in &left.probes {
        let Some(other) = right.probes.iter().find(|other| other.place == one.place) else { continue };
        if one.outcome == other.outcome {
            continue;
        }
        let refused = |probe: &ProbeOutcome| {
            probe.outcome.contains("Error") || probe.outcome.contains("deterministic implementation")
        };
        let (matters, why) = if refused(one) == refused(other) {
            (false, "the same outcome in other words")
        } else if one.release.is_some() && one.release == other.release {
            (true, "one PyTorch release has one outcome")
        } else {
            (false, "changed: an outcome belongs to its PyTorch release")
        };
        let shown = |probe: &ProbeOutcome| match &probe.release {
            Some(release) => format!("{} (PyTorch {release})", probe.outcome),
            None => probe.outcome.clone(),
        };
        differences.push(Difference {
            what: format!("deterministic mode on {}", one.place),
            left: shown(one),
            right: shown(other),
            matters,
            why,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(key: &str, class: Class, drifts: &[f64]) -> DeviceFigures {
        let cell = |(at, &drift): (usize, &f64)| Cell {
            arm: "idle",
            resolution: 16 << at,
            drift,
            divergence: drift * 1e-7,
            rate: if drift == 0.0 { 100.0 } else { 0.0 },
        };
        DeviceFigures {
            key: key.to_owned(),
            class,
            environment: vec![("PyTorch", key.len().to_string())],
            cells: drifts.iter().enumerate().map(cell).collect(),
        }
    }

    fn side(devices: Vec<DeviceFigures>) -> Side {
        Side { devices, ..Side::default() }
    }

    #[test]
    fn sizes_vary_but_zero_is_zero() {
        let left = side(vec![device("t4", Class::Unordered, &[20.0, 500.0])]);
        let right = side(vec![device("t4", Class::Unordered, &[23.0, 480.0])]);
        assert!(side_by_side(&left, &right).agrees());
        let zero = side(vec![device("t4", Class::Unordered, &[0.0, 480.0])]);
        let found = side_by_side(&left, &zero);
        assert_eq!((found.mattering(), found.rows[0].matters, found.rows[1].matters), (1, true, false));
    }

    #[test]
    fn devices_without_a_namesake_are_compared_with_their_class() {
        let left = side(vec![
            device("t4", Class::Unordered, &[20.0]),
            device("l4", Class::Unordered, &[0.0]),
            device("cpu", Class::Host, &[0.0]),
        ]);
        let right =
            side(vec![device("h200", Class::Unordered, &[17.0]), device("h200_deterministic", Class::Ordered, &[0.0])]);
        let found = side_by_side(&left, &right);
        assert!(found.agrees(), "one of the left drifts, too: {found:?}");
        assert_eq!(found.rows.len(), 2);
        assert_eq!(
            (found.only_left, found.only_right),
            (vec!["cpu".to_owned()], vec!["h200_deterministic".to_owned()])
        );
        let apart = side_by_side(
            &side(vec![device("t4", Class::Unordered, &[20.0])]),
            &side(vec![device("x", Class::Unordered, &[0.0])]),
        );
        assert_eq!(apart.mattering(), 1);
    }

    #[test]
    fn nothing_to_compare_is_no_agreement() {
        let left = side(vec![device("cpu", Class::Host, &[0.0])]);
        let found = side_by_side(&left, &side(Vec::new()));
        assert!(!found.agrees() && found.mattering() == 0);
    }

    #[test]
    fn a_probe_belongs_to_its_release() {
        let probe = |release: &str, outcome: &str| Side {
            probes: vec![ProbeOutcome {
                place: "cuda",
                release: Some(release.to_owned()),
                outcome: outcome.to_owned(),
            }],
            ..Side::default()
        };
        let matters = |left: &Side, right: &Side| {
            side_by_side(left, right).differences.iter().map(|one| one.matters).collect::<Vec<_>>()
        };
        let raised = probe("2.11.0", "RuntimeError: no deterministic implementation");
        assert_eq!(matters(&raised, &probe("2.11.0", "backward completed")), [true]);
        assert_eq!(matters(&raised, &probe("2.13.0", "backward completed")), [false]);
        assert_eq!(matters(&raised, &probe("2.11.0", "Error: other words")), [false]);
        assert_eq!(matters(&raised, &raised), [false; 0]);
    }
}
