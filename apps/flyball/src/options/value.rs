//! Typed values: how each kind of flag is read from text, and how it is shown again.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::json;

use super::csv;
use super::duration::GoDuration;

/// The type of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`; on the command line the bare flag means true.
    Bool,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int,
    /// A number of single precision.
    Float32,
    /// A number of double precision.
    Float,
    /// Any text.
    Text,
    /// Texts separated by commas; later occurrences append.
    TextList,
    /// Integers separated by commas; later occurrences append.
    Int32List,
    /// Go's notation of durations.
    Duration,
    /// An IP address.
    Ip,
    /// `key=value` pairs separated by commas; later occurrences add to them.
    TextMap,
    /// `Gate=true` pairs separated by commas, each optionally prefixed `kube:`.
    FeatureGates,
    /// A number of bytes with an optional unit.
    Quantity,
    /// A log verbosity.
    Level,
    /// `pattern=N` pairs separated by commas.
    ModuleLevels,
    /// `cert,key` or `cert,key:name,name`; one per occurrence.
    CertificateKeys,
}

impl Kind {
    /// The word for this type in help texts; upstream's.
    pub fn type_name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Int32 => "int32",
            Kind::Int => "int",
            Kind::Float32 => "float32",
            Kind::Float => "float",
            Kind::Text => "string",
            Kind::TextList => "strings",
            Kind::Int32List => "int32Slice",
            Kind::Duration => "duration",
            Kind::Ip => "ip",
            Kind::TextMap => "stringToString",
            Kind::FeatureGates => "colonSeparatedMultimapStringString",
            Kind::Quantity => "quantity",
            Kind::Level => "Level",
            Kind::ModuleLevels => "pattern=N,...",
            Kind::CertificateKeys => "namedCertKey",
        }
    }

    /// Reads one occurrence of the flag. The error says what is wrong without repeating the text.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        match self {
            Kind::Bool => parse_bool(text).map(Value::Bool),
            Kind::Int32 => {
                parse_int(text, i64::from(i32::MIN), i64::from(i32::MAX)).map(Value::Int)
            }
            Kind::Int => parse_int(text, i64::MIN, i64::MAX).map(Value::Int),
            Kind::Level => parse_int(text, 0, i64::from(u32::MAX)).map(Value::Int),
            Kind::Float32 => parse_float(text, f64::from(f32::MAX)).map(Value::Float),
            Kind::Float => parse_float(text, f64::MAX).map(Value::Float),
            Kind::Text => Ok(Value::Text(text.to_owned())),
            Kind::TextList => csv::read_record(text).map(Value::List),
            Kind::Int32List => {
                let words = csv::read_record(text)?;
                for word in &words {
                    parse_int(word, i64::from(i32::MIN), i64::from(i32::MAX))?;
                }
                Ok(Value::List(words))
            }
            Kind::Duration => GoDuration::parse(text).map(Value::Duration),
            Kind::Ip => match text.parse::<IpAddr>() {
                Ok(ip) => Ok(Value::Text(ip.to_string())),
                Err(_) => Err("not an IP address".to_owned()),
            },
            Kind::TextMap => parse_pairs(text).map(Value::Map),
            Kind::FeatureGates => parse_gates(text).map(Value::Map),
            Kind::Quantity => check_quantity(text).map(|()| Value::Text(text.to_owned())),
            Kind::ModuleLevels => check_module_levels(text).map(|()| Value::Text(text.to_owned())),
            Kind::CertificateKeys => {
                let files = text.rsplit_once(':').map_or(text, |(files, _)| files);
                match files.split(',').collect::<Vec<_>>()[..] {
                    [cert, key] if !cert.trim().is_empty() && !key.trim().is_empty() => {
                        Ok(Value::List(vec![text.to_owned()]))
                    }
                    _ => {
                        Err("expected a certificate and a key file separated by a comma".to_owned())
                    }
                }
            }
        }
    }

    /// The value of a flag whose text is its default. An empty text is an empty list, map or text.
    pub(super) fn default_value(self, text: &str) -> Value {
        match self {
            Kind::TextList | Kind::Int32List | Kind::CertificateKeys if text.is_empty() => {
                Value::List(Vec::new())
            }
            // A default that does not parse would be a mistake in the table; a test parses them
            // all.
            kind => kind.parse(text).unwrap_or(Value::Text(String::new())),
        }
    }
}

/// A value of one of the kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of the integer kinds.
    Int(i64),
    /// Of the float kinds.
    Float(f64),
    /// Of the kinds that are kept as text.
    Text(String),
    /// Of the list kinds.
    List(Vec<String>),
    /// Of [`Kind::Duration`].
    Duration(GoDuration),
    /// Of the map kinds.
    Map(BTreeMap<String, String>),
}

impl Value {
    /// Adds a later occurrence of the same flag: lists and maps grow, anything else is replaced.
    pub fn absorb(&mut self, later: Value) {
        match (self, later) {
            (Value::List(all), Value::List(more)) => all.extend(more),
            (Value::Map(all), Value::Map(more)) => all.extend(more),
            (this, later) => *this = later,
        }
    }

    /// As `/configz` shows it.
    pub fn to_json(&self, kind: Kind) -> serde_json::Value {
        match self {
            Value::Bool(value) => json!(value),
            Value::Int(value) => json!(value),
            // Whole numbers are printed without a fraction, as Go does.
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 1e15 => {
                json!(*value as i64)
            }
            Value::Float(value) => json!(value),
            Value::Text(value) => json!(value),
            Value::List(words) if kind == Kind::Int32List => words
                .iter()
                .filter_map(|word| word.parse::<i64>().ok())
                .collect(),
            Value::List(words) => json!(words),
            Value::Duration(value) => json!(value.to_string()),
            Value::Map(pairs) if kind == Kind::FeatureGates => pairs
                .iter()
                .map(|(gate, on)| {
                    (
                        gate.clone(),
                        parse_bool(on).map_or(json!(on), |on| json!(on)),
                    )
                })
                .collect(),
            Value::Map(pairs) => json!(pairs),
        }
    }

    /// As `/flagz` and the start-up log show it; upstream's notation.
    pub fn to_text(&self) -> String {
        match self {
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => value.to_string(),
            Value::Text(value) => value.clone(),
            Value::List(words) => format!("[{}]", words.join(",")),
            Value::Duration(value) => value.to_string(),
            Value::Map(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}={v}")).collect();
                format!("[{}]", pairs.join(","))
            }
        }
    }
}

/// Reads a truth value in any of the spellings Go accepts.
pub(super) fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("neither true nor false".to_owned()),
    }
}

fn parse_int(text: &str, min: i64, max: i64) -> Result<i64, String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        // As in Go, a leading zero means octal.
        _ if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err("not an integer".to_owned());
    }
    i64::from_str_radix(digits, radix)
        .ok()
        .map(|magnitude| sign * magnitude)
        .filter(|value| (min..=max).contains(value))
        .ok_or_else(|| format!("out of range, must lie between {min} and {max}"))
}

fn parse_float(text: &str, magnitude_max: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value.abs() <= magnitude_max => Ok(value),
        Ok(_) => Err("out of range, must be a finite number".to_owned()),
        Err(_) => Err("not a number".to_owned()),
    }
}

fn parse_pairs(text: &str) -> Result<BTreeMap<String, String>, String> {
    // With a single '=' the commas belong to the key or the value, as in `metric,label=a,b`.
    let words = match text.matches('=').count() {
        0 if text.is_empty() => Vec::new(),
        0 | 1 => vec![text.trim_matches('"').to_owned()],
        _ => csv::read_record(text)?,
    };
    words.iter().map(|word| pair(word)).collect()
}

fn pair(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(format!("{word:?} lacks a value (write key=value)")),
    }
}

/// `Gate=true` pairs. Gates of the component `kube` are ours; any other component is unknown here.
fn parse_gates(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut gates = BTreeMap::new();
    for word in text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
    {
        let gate = match word.split_once(':') {
            None => word,
            Some(("kube", gate)) => gate,
            Some((component, _)) => return Err(format!("component not registered: {component}")),
        };
        let Some((name, on)) = gate.split_once('=') else {
            return Err(format!("missing bool value for {gate}"));
        };
        let (name, on) = (name.trim(), on.trim());
        if parse_bool(on).is_err() {
            return Err(format!(
                "invalid value of {name}={on}: neither true nor false"
            ));
        }
        gates.insert(name.to_owned(), on.to_owned());
    }
    Ok(gates)
}

fn check_quantity(text: &str) -> Result<(), String> {
    let number_len = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(number_len);
    let units = [
        "", "K", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
    ];
    if number.parse::<f64>().is_ok() && units.contains(&unit) {
        Ok(())
    } else {
        Err("not a quantity (write for example 512, 2Ki or 3M)".to_owned())
    }
}

fn check_module_levels(text: &str) -> Result<(), String> {
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match word.split_once('=') {
            Some((pattern, level)) if !pattern.is_empty() && level.parse::<u32>().is_ok() => {}
            _ => return Err(format!("{word:?} does not have the form pattern=N")),
        }
    }
    Ok(())
}
