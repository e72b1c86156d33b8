//! An entry of `claims.json`: what is claimed, as printed, and of which quantity.

use super::decimal::Decimal;
use super::quantities::{ARGUMENTS, Arguments, Kind, Refusal, kind};
use crate::package::json::Json;

/// The quantity of claims that need more than the medians.
pub(super) const NOT_DERIVABLE: &str = "not-derivable";

/// Members of every claim.
const COMMON: [&str; 5] = ["id", "says", "quantity", "printed", "unit"];

/// A claim that could be read.
#[derive(Debug)]
pub(super) enum Claim<'d> {
    /// One that is recomputed.
    Checked(Checked<'d>),
    /// One that cannot be; its id.
    NotDerivable(&'d str),
}

impl<'d> Claim<'d> {
    /// Its id.
    pub(super) fn id(&self) -> &'d str {
        match self {
            Claim::Checked(claim) => claim.id,
            Claim::NotDerivable(id) => id,
        }
    }
}

/// A claim that is recomputed.
#[derive(Debug)]
pub(super) struct Checked<'d> {
    /// Its id.
    pub(super) id: &'d str,
    /// Where the number stands.
    pub(super) at: &'d Json,
    /// The number's text.
    pub(super) text: &'d str,
    /// The number.
    pub(super) printed: Decimal,
    /// Whether all of its digits are printed, so that it stands for itself alone.
    pub(super) exact: bool,
    /// What is claimed.
    pub(super) kind: &'static Kind,
    /// Of what.
    pub(super) arguments: Arguments,
}

/// Why an entry cannot be read.
#[derive(Debug)]
pub(super) struct Malformed<'d> {
    pub(super) at: &'d Json,
    pub(super) expected: String,
    pub(super) found: String,
}

impl<'d> Malformed<'d> {
    pub(super) fn new(at: &'d Json, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { at, expected: expected.into(), found: found.into() }
    }

    /// A refused argument of `entry`; at the entry itself where it has no such member.
    pub(super) fn of(entry: &'d Json, refusal: Refusal) -> Self {
        let Refusal { argument, expected, found } = refusal;
        match entry.get(argument) {
            Some(at) => Self::new(at, expected, found),
            None => Self::new(entry, format!("the member {argument}: {expected}"), found),
        }
    }
}

impl<'d> Claim<'d> {
    /// Reads an entry. A member that its quantity does not use is refused: it would look as if it had been checked.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub(super) fn read(entry: &'d Json) -> Result<Self, Malformed<'d>> {
        let Some(members) = entry.as_object() else {
            return Err(Malformed::new(entry, "an object", entry.kind()));
        };
        let id = text(entry, "id")?;
        text(entry, "says")?;
        let name = text(entry, "quantity")?;
        let printed = text(entry, "printed")?;
        let unit = text(entry, "unit")?;
        let own = |member: &str| COMMON.contains(&member);
        if name == NOT_DERIVABLE {
            text(entry, "why")?;
            refuse_others(members, |member| own(member) || member == "why")?;
            return Ok(Claim::NotDerivable(id));
        }
        let kind = kind(name).ok_or_else(|| Malformed::new(member(entry, "quantity"), "a known quantity", name))?;
        if unit != kind.unit {
            return Err(Malformed::new(member(entry, "unit"), format!("{}, the unit of {name}", kind.unit), unit));
        }
        refuse_others(members, |member| own(member) || member == "exact" || kind.takes(member))?;
        let at = member(entry, "printed");
        let number = Decimal::parse(printed)
            .filter(|number| !kind.is_count() || number.decimals == 0)
            .ok_or_else(|| Malformed::new(at, if kind.is_count() { "an integer" } else { "a decimal" }, printed))?;
        let exact = match entry.get("exact") {
            None => kind.is_count(),
            Some(flag) => flag.as_bool().ok_or_else(|| Malformed::new(flag, "a flag", flag.kind()))?,
        };
        let arguments = Arguments::read(entry, kind)?;
        Ok(Claim::Checked(Checked {
            id,
            at,
            text: printed,
            printed: number,
            exact: exact || kind.is_count(),
            kind,
            arguments,
        }))
    }
}

/// A member that is a text and not empty.
pub(super) fn text<'d>(entry: &'d Json, name: &str) -> Result<&'d str, Malformed<'d>> {
    let Some(value) = entry.get(name) else {
        return Err(Malformed::new(entry, format!("the member {name}"), "nothing"));
    };
    let text = value.as_str().filter(|text| !text.is_empty());
    text.ok_or_else(|| Malformed::new(value, "a text that is not empty", value.kind()))
}

/// The member, or where it would be.
fn member<'d>(entry: &'d Json, name: &str) -> &'d Json {
    entry.get(name).unwrap_or(entry)
}

fn refuse_others<'d>(members: &'d [(String, Json)], known: impl Fn(&str) -> bool) -> Result<(), Malformed<'d>> {
    match members.iter().find(|(name, _)| !known(name)) {
        None => Ok(()),
        Some((name, value)) => {
            let of_another = ARGUMENTS.contains(&name.as_str());
            let expected = if of_another { "no such argument for this quantity" } else { "no such member" };
            Err(Malformed::new(value, expected, name.as_str()))
        }
    }
}
