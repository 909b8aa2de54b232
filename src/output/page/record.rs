//! [`Field`]: reading from a JSON result, in which anything may be missing.

use serde_json::Value;

/// A value of a result. Its fields are named by their paths: `alignment.taxa`.
pub(super) trait Field {
    /// The value at a path, unless it is absent or null.
    fn at(&self, path: &str) -> Option<&Value>;

    /// A number.
    fn number(&self, path: &str) -> Option<f64> {
        self.at(path)?.as_f64()
    }

    /// A text.
    fn text(&self, path: &str) -> Option<&str> {
        self.at(path)?.as_str()
    }

    /// True only if it says so.
    fn is(&self, path: &str) -> bool {
        self.at(path).and_then(Value::as_bool) == Some(true)
    }

    /// The elements of a list; none if there is no list.
    fn list(&self, path: &str) -> &[Value] {
        self.at(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The texts of a list.
    fn texts(&self, path: &str) -> Vec<&str> {
        self.list(path).iter().filter_map(Value::as_str).collect()
    }

    /// The numbers of a list.
    fn numbers(&self, path: &str) -> Vec<f64> {
        self.list(path).iter().filter_map(Value::as_f64).collect()
    }
}

impl Field for Value {
    fn at(&self, path: &str) -> Option<&Value> {
        let found = path.split('.').try_fold(self, |value, name| value.get(name));
        found.filter(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_none() {
        let value: Value =
            serde_json::from_str(r#"{"a": {"b": 1.5, "c": null}, "l": ["x", 2]}"#).unwrap();
        assert_eq!(value.number("a.b"), Some(1.5));
        assert_eq!(
            (value.number("a.c"), value.number("a.d.e"), value.text("a.b")),
            (None, None, None)
        );
        assert_eq!(
            (value.texts("l"), value.numbers("l"), value.list("a").len()),
            (vec!["x"], vec![2.0], 0)
        );
    }
}
