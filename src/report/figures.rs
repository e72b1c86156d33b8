//! Plain numbers behind the pictures of a report; whoever draws them needs nothing else.

/// What can be drawn of one package or receipt.
#[derive(Debug, Clone, Default)]
pub enum Figures {
    /// Nothing: of this kind of evidence there are no pictures.
    #[default]
    None,
    /// A partition package.
    Partition(PartitionFigures),
    /// A divergence package or receipt.
    Divergence(DivergenceFigures),
}

/// Times of a partition package, and its model.
#[derive(Debug, Clone, Default)]
pub struct PartitionFigures {
    /// The cases in order; at most [`MAX_CASES`].
    pub cases: Vec<CaseTimes>,
    /// Cases beyond that, which are not drawn.
    pub left_out: usize,
    /// The model, or why there is none.
    pub model: Option<Result<ModelFigures, String>>,
}

/// Most cases that are drawn.
pub const MAX_CASES: usize = 256;

/// The times of one case.
#[derive(Debug, Clone, Default)]
pub struct CaseTimes {
    /// Short name, such as `SUM 17x1024 fp16 B4`.
    pub label: String,
    /// One for each cohort that has times, then Torch.
    pub series: Vec<Times>,
    /// Runs of the case that failed, by cohort.
    pub failed: Vec<String>,
}

/// Name of the Torch baseline among the series.
pub const TORCH: &str = "torch";

/// The times of one cohort, microseconds per operation.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// Name of the cohort, or [`TORCH`].
    pub name: String,
    /// The median.
    pub median: f64,
    /// The samples.
    pub samples: Vec<f64>,
}

impl CaseTimes {
    /// The median of one series.
    pub fn median(&self, name: &str) -> Option<f64> {
        self.series.iter().find(|times| times.name == name).map(|times| times.median)
    }
}

/// A model, fitted again.
#[derive(Debug, Clone, Default)]
pub struct ModelFigures {
    /// The coefficients of the full fit.
    pub coefficients: Vec<f64>,
    /// One for each observation.
    pub points: Vec<Predicted>,
    /// One for each case that was decided.
    pub decisions: Vec<Decided>,
    /// Selected over default, geometric mean in which each geometry counts once, over the folds.
    pub geometric_mean: f64,
    /// Cases for which the folds select another schedule than the default, and those among them that ran slower.
    pub selected: (u64, u64),
}

/// One observation, predicted.
#[derive(Debug, Clone, Default)]
pub struct Predicted {
    /// Key of the geometry.
    pub geometry: String,
    /// Which schedule: 0 is the default, then rows1 and rows2.
    pub schedule: usize,
    /// The measured median in microseconds.
    pub observed: f64,
    /// What the fit over all observations predicts.
    pub full: f64,
    /// What the fold predicts that never saw the geometry.
    pub held: Option<f64>,
}

/// The decision of one case, made by the fold that never saw its geometry.
#[derive(Debug, Clone, Default)]
pub struct Decided {
    /// Short name of the case.
    pub label: String,
    /// Observed medians over that of the default, in the order of the schedules.
    pub ratios: [f64; 3],
    /// The schedule that was selected.
    pub selected: usize,
}

/// Names of the schedules.
pub const SCHEDULES: [&str; 3] = ["default", "rows1", "rows2"];

/// Drift and divergence of several devices.
#[derive(Debug, Clone, Default)]
pub struct DivergenceFigures {
    /// The devices, or the engines of one device; at most [`MAX_DEVICES`].
    pub devices: Vec<DeviceCurves>,
    /// Devices beyond that, which are not drawn.
    pub left_out: usize,
}

/// Most devices that are drawn.
pub const MAX_DEVICES: usize = 24;

/// The figures of one device.
#[derive(Debug, Clone, Default)]
pub struct DeviceCurves {
    /// Its key.
    pub key: String,
    /// Its points, idle first.
    pub points: Vec<CurvePoint>,
}

/// One arm at one output resolution.
#[derive(Debug, Clone, Default)]
pub struct CurvePoint {
    /// Whether matrices were multiplied beside it.
    pub background: bool,
    /// Height and width of the output.
    pub resolution: f64,
    /// Largest number of coordinates that differ in a pair.
    pub drift: f64,
    /// Largest absolute difference in a pair.
    pub divergence: f64,
}
