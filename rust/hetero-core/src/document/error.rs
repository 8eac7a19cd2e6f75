//! What serde says of a fleet document, as a person needs it: the place, and the key that was probably meant.

use std::borrow::Cow;

use crate::error::Error;

/// What is wrong with the text itself.
pub(crate) fn syntax(error: &serde_json::Error) -> Error {
    Error::InvalidDocument {
        message: format!("not valid JSON: {error}"),
        path: String::new(),
        line: Some(error.line()),
    }
}

/// What is wrong with a value, and where it stands.
pub(crate) fn explain_serde(error: &serde_path_to_error::Error<serde_json::Error>) -> Error {
    let inner = error.inner();
    if !inner.is_data() {
        return syntax(inner);
    }
    let text = inner.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let path = error.path().to_string();
    Error::InvalidDocument {
        message: with_suggestion(message).into_owned(),
        path: if path == "." { String::new() } else { path },
        line: Some(inner.line()),
    }
}

/// Turns serde's list of all known keys into the one that was probably meant.
fn with_suggestion(message: &str) -> Cow<'_, str> {
    let Some((unknown, known)) = message.strip_prefix("unknown field ").and_then(|rest| rest.split_once(", expected "))
    else {
        return Cow::Borrowed(message);
    };
    let written = unknown.trim_matches('`');
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let near = known.iter().map(|key| (strsim::damerau_levenshtein(written, key), key)).min();
    Cow::Owned(match near {
        Some((distance, key)) if distance <= 3 => {
            format!("unknown key {unknown}; did you mean `{key}`?")
        }
        _ => format!("unknown key {unknown}; known here: {}", known.join(", ")),
    })
}
