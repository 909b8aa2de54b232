//! The JSON Schema of the result file, and results of runs of every kind that conform to it.
//!
//! The validator knows the words that the schema uses and no others: those in use would bring forty crates. Fields that the schema
//! does not have are faults here, so that it lacks none; for other programs they are not.

use crate::util::{Scratch, repository};
use serde_json::{Map, Value, json};

fn schema(scratch: &Scratch) -> Value {
    let printed = scratch.succeed("help --schema").stdout;
    serde_json::from_str(&printed).expect("JSON")
}

/// A schema that another one refers to.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    match schema.get("$ref").and_then(Value::as_str) {
        None => schema,
        Some(path) => {
            let path = path.strip_prefix('#').expect("a schema of this file");
            resolved(root, root.pointer(path).unwrap_or_else(|| panic!("no {path}")))
        }
    }
}

/// True if a value is of a type.
fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type: {other}"),
    }
}

/// Adds what is wrong with a value.
fn check(root: &Value, schema: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
    let schema = resolved(root, schema);
    let Some(words) = schema.as_object() else {
        assert_eq!(schema, &json!(true), "{place}");
        return;
    };
    for (word, of) in words {
        match word.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "format" | "required" => {}
            "type" => {
                let names = of.as_array().cloned().unwrap_or_else(|| vec![of.clone()]);
                if !names.iter().any(|name| is_of(value, name.as_str().expect("a type"))) {
                    faults.push(format!("{place}: {value} is not of type {of}"));
                }
            }
            "minimum" => {
                if value.as_f64().is_some_and(|number| number < of.as_f64().expect("a number")) {
                    faults.push(format!("{place}: {value} is less than {of}"));
                }
            }
            "minItems" | "maxItems" => {
                let number = of.as_u64().expect("a number") as usize;
                let length = value.as_array().map_or(number, Vec::len);
                if if word == "minItems" { length < number } else { length > number } {
                    faults.push(format!("{place}: {length} items"));
                }
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, of, item, &format!("{place}[{i}]"), faults);
                }
            }
            "anyOf" => {
                let fits = |one: &Value| {
                    let mut inner = Vec::new();
                    check(root, one, value, place, &mut inner);
                    inner.is_empty()
                };
                if !of.as_array().expect("a list").iter().any(fits) {
                    faults.push(format!("{place}: {value} fits none of {of}"));
                }
            }
            "additionalProperties" | "properties" => {}
            other => panic!("{place}: the validator does not know '{other}'"),
        }
    }
    let has_fields =
        ["properties", "additionalProperties"].iter().any(|of| words.contains_key(*of));
    if let Some(fields) = value.as_object().filter(|_| has_fields) {
        check_fields(root, words, fields, place, faults);
    }
}

fn check_fields(
    root: &Value,
    words: &Map<String, Value>,
    fields: &Map<String, Value>,
    place: &str,
    faults: &mut Vec<String>,
) {
    let known = words.get("properties");
    for (name, value) in fields {
        let of = known.and_then(|known| known.get(name));
        match of.or_else(|| words.get("additionalProperties")) {
            Some(of) => check(root, of, value, &format!("{place}.{name}"), faults),
            None => faults.push(format!("{place}.{name}: the schema lacks it")),
        }
    }
    for name in words.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !fields.contains_key(name.as_str().expect("a name")) {
            faults.push(format!("{place}: {name} is missing"));
        }
    }
}

fn faults(schema: &Value, result: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, result, "result", &mut found);
    found
}

/// Compares a result with the schema.
pub(crate) fn assert_conforms(scratch: &Scratch, result: &Value) {
    let faults = faults(&schema(scratch), result);
    assert!(faults.is_empty(), "{}: {faults:#?}", result["command"]);
}

#[test]
fn results_of_every_kind_of_run_conform_to_the_schema() {
    let scratch = Scratch::new();
    let schema = schema(&scratch);
    assert_eq!(schema["$id"], "urn:mlsearch:result:1");
    let [primates, gappy, tree] = ["primates.phy", "gappy.phy", "gappy.tree"]
        .map(|name| repository(&format!("datasets/{name}")).display().to_string());
    let half = "DNA, a = 1-400\nDNA, b = 401-898\n";
    scratch.write("genes.part", half);
    let data = format!("-s {primates} -m GTR+G");
    scratch.succeed(&format!(
        "--all --bs-trees autoMRE{{20}} --alrt 100 {data} --ancestral --site-rates -n all --quiet"
    ));
    let runs = [
        format!("search -s {primates} -q genes.part -M -m JC --fast"),
        format!("select -s {primates} -q genes.part --merge greedy -m auto"),
        "test -t all.mlsearch.bootstraps -m JC -s ".to_string() + &primates,
        format!(
            "genes -s {primates} -q genes.part -m JC --gcf-tree all.mlsearch.bestTree --scf 20"
        ),
        format!("distance -s {primates} --tree nj"),
        format!("sample {data} --ngen 400 --samplefreq 10"),
        "support --tree all.mlsearch.bestTree --bs-trees all.mlsearch.bootstraps".into(),
        "consensus --tree all.mlsearch.bootstraps".into(),
        "compare all.mlsearch.bootstraps".into(),
        "root --root midpoint --tree all.mlsearch.bestTree".into(),
        format!("terrace --tree all.mlsearch.bestTree -s {primates} -q genes.part"),
        format!(
            "concordance --tree all.mlsearch.bestTree --gcf all.mlsearch.bootstraps --scf 20 -s {primates}"
        ),
        format!("evaluate -s {gappy} -m JC -t {tree}"),
        format!("start {data} -t pars{{2}}"),
        format!("bootstrap {data} --bs-trees 2"),
    ];
    let mut names = vec!["all".to_string()];
    for (number, run) in runs.iter().enumerate() {
        scratch.succeed(&format!("{run} -n run{number} --quiet"));
        names.push(format!("run{number}"));
    }
    for name in &names {
        let text = std::fs::read_to_string(scratch.path().join(format!("{name}.mlsearch.json")));
        let result: Value = serde_json::from_str(&text.expect("a result")).expect("JSON");
        let faults = faults(&schema, &result);
        assert!(faults.is_empty(), "{}: {faults:#?}", result["command"]);
    }
}

#[test]
fn what_is_wrong_with_a_result_is_found() {
    let scratch = Scratch::new();
    let schema = schema(&scratch);
    let primates = repository("datasets/primates.phy").display().to_string();
    scratch.succeed(&format!("search -s {primates} -m JC --fast -n a --quiet"));
    let text = std::fs::read_to_string(scratch.path().join("a.mlsearch.json")).expect("a result");
    let result: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(faults(&schema, &result), [""; 0]);
    let changes: [(&str, Value, &str); 5] = [
        ("seed", json!(-1), "less than 0"),
        ("seed", json!("1"), "not of type"),
        ("model", json!(1), "fits none"),
        ("partitions", json!([{}]), "missing"),
        ("colour", json!("red"), "lacks it"),
    ];
    for (field, value, message) in changes {
        let mut changed = result.clone();
        changed[field] = value;
        let faults = faults(&schema, &changed);
        assert!(faults.iter().any(|fault| fault.contains(message)), "{field}: {faults:?}");
    }
}
