//! The compiler's own description of a kernel, a text of facts.

use std::collections::HashMap;

/// The `name=value` pairs of a realization text, which are separated by `;` or `,`; a pair may follow a label and a colon.
pub fn realization_facts(text: &str) -> HashMap<&str, &str> {
    text.split([';', ','])
        .filter_map(|part| {
            let (name, value) = part.split_once('=')?;
            let name = name.rsplit(": ").next().unwrap_or(name);
            Some((name.trim(), value.trim()))
        })
        .collect()
}
