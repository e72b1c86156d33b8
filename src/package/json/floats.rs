//! Arrays of nothing but floats, in less memory than one [`Json`] each would take, and still to the last bit.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::Json;

/// Ticks in a unit that times are often whole numbers of: of 100 ns and of 1 ns in a millisecond.
const TICKS_PER_UNIT: [f64; 2] = [1e4, 1e6];

/// The floats of one array. A clone shares them.
#[derive(Debug, Clone)]
pub struct Floats(Arc<Packed>);

#[derive(Debug)]
enum Packed {
    /// As they are.
    Wide(Box<[f64]>),
    /// All of them binary32 numbers.
    Narrow(Box<[f32]>),
    /// All of them whole numbers over one divisor.
    Ticks { counts: Box<[u32]>, per_unit: f64 },
    /// All of them the others' times a factor over a divisor.
    Scaled { of: Floats, factor: f64, divisor: f64 },
}

impl Floats {
    /// Packs floats into the smallest form that gives back every bit.
    pub fn pack(values: Vec<f64>) -> Self {
        let same = |unpacked: f64, value: f64| unpacked.to_bits() == value.to_bits();
        if values.iter().all(|&value| same(f64::from(value as f32), value)) {
            return Self(Arc::new(Packed::Narrow(values.iter().map(|&value| value as f32).collect())));
        }
        for per_unit in TICKS_PER_UNIT {
            // The cast saturates; what does not fit then does not come back.
            let count = |value: f64| (value * per_unit).round() as u32;
            if values.iter().all(|&value| same(f64::from(count(value)) / per_unit, value)) {
                let counts = values.iter().map(|&value| count(value)).collect();
                return Self(Arc::new(Packed::Ticks { counts, per_unit }));
            }
        }
        Self(Arc::new(Packed::Wide(values.into_boxed_slice())))
    }

    /// `of * factor / divisor`, rounded after each operation, where that gives these very floats.
    pub fn as_scaled(&self, of: &Floats, factor: f64, divisor: f64) -> Option<Self> {
        let scaled = Self(Arc::new(Packed::Scaled { of: of.clone(), factor, divisor }));
        (*self == scaled).then_some(scaled)
    }

    /// Number of floats.
    pub fn len(&self) -> usize {
        match &*self.0 {
            Packed::Wide(values) => values.len(),
            Packed::Narrow(values) => values.len(),
            Packed::Ticks { counts, .. } => counts.len(),
            Packed::Scaled { of, .. } => of.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One float; `None` past the end.
    pub fn get(&self, index: usize) -> Option<f64> {
        match &*self.0 {
            Packed::Wide(values) => values.get(index).copied(),
            Packed::Narrow(values) => values.get(index).copied().map(f64::from),
            Packed::Ticks { counts, per_unit } => counts.get(index).map(|&count| f64::from(count) / per_unit),
            Packed::Scaled { of, factor, divisor } => of.get(index).map(|value| value * factor / divisor),
        }
    }

    /// All floats in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        (0..self.len()).map(|index| self.get(index).unwrap_or(f64::NAN))
    }

    /// As an array of values, for what looks at each.
    pub fn to_values(&self) -> Vec<Json> {
        self.iter().map(Json::Float).collect()
    }
}

impl PartialEq for Floats {
    /// Equality of all bits, however they are kept.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.len() == other.len()
                && self.iter().zip(other.iter()).all(|(left, right)| left.to_bits() == right.to_bits()))
    }
}

/// Floats that were read before. Files of one package repeat each other's lists; each is kept once.
#[derive(Debug, Default)]
pub struct KnownFloats(HashMap<u64, Vec<Floats>>);

impl KnownFloats {
    /// Adds all lists below a value.
    pub fn add_all(&mut self, value: &Json) {
        match value {
            Json::Floats(floats) => self.0.entry(hash(floats)).or_default().push(floats.clone()),
            Json::Array(items) => items.iter().for_each(|item| self.add_all(item)),
            Json::Object(members) => members.iter().for_each(|(_, member)| self.add_all(member)),
            _ => {}
        }
    }

    /// The list that was read before, if it is equal, else the given one.
    pub(super) fn shared(&self, floats: Floats) -> Floats {
        if self.0.is_empty() {
            return floats;
        }
        let known = self.0.get(&hash(&floats)).into_iter().flatten().find(|known| **known == floats);
        known.cloned().unwrap_or(floats)
    }
}

fn hash(floats: &Floats) -> u64 {
    let mut hasher = DefaultHasher::new();
    floats.iter().for_each(|value| value.to_bits().hash(&mut hasher));
    hasher.finish()
}
