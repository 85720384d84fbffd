//! The evaluation of assertions.

use std::collections::BTreeMap;
use std::fmt;

use super::{Action, Comparison, Expression, Operator, Statement, Value};
use crate::place::Place;

/// The values of names that a script does not assign.
pub(crate) trait Names {
    fn look_up(&self, name: &str) -> Lookup;
}

/// The value of a name.
pub(crate) enum Lookup {
    Found(Value),
    /// It is known, and this TCP does not have it: the reason.
    Missing(String),
    /// It is unknown: a hint.
    Unknown(String),
}

/// Why statements did not succeed.
pub(crate) enum Failure {
    /// A condition does not hold: in words, with the values.
    False(Place, String),
    /// They cannot be evaluated: the feature.
    Beyond(Place, String),
    /// They are wrong: message and hint.
    Wrong(Place, String, String),
}

/// Executes statements. Returns the number of assertions that hold.
pub(crate) fn run(
    statements: &[Statement],
    variables: &mut BTreeMap<String, Value>,
    names: &dyn Names,
) -> Result<u32, Failure> {
    let mut held = 0;
    for Statement { place, text, action } in statements {
        let scope = Scope { variables, names };
        let failed = |stop: Stop| match stop {
            Stop::Beyond(feature) => Failure::Beyond(*place, feature),
            Stop::Wrong(message, hint) => Failure::Wrong(*place, message, hint),
        };
        match action {
            Action::Nothing => {}
            Action::Beyond(feature) => return Err(Failure::Beyond(*place, feature.clone())),
            Action::Assign(name, operator, value) => {
                let value = scope.evaluate(value).map_err(failed)?;
                let value = match operator {
                    None => value,
                    Some(operator) => {
                        let old = scope.name(name).map_err(failed)?;
                        binary(*operator, old, value).map_err(failed)?
                    }
                };
                variables.insert(name.clone(), value);
            }
            Action::Assert(condition, message) => {
                if !truth(&scope.evaluate(condition).map_err(failed)?) {
                    let text = text.strip_prefix("assert").unwrap_or(text).trim();
                    let shown = text.lines().next().unwrap_or("");
                    let mut report = format!("`{shown}` does not hold{}", scope.values_of(condition));
                    if let Some(Ok(Value::Text(message))) = message.as_ref().map(|x| scope.evaluate(x)) {
                        report.push_str(&format!(" ({message})"));
                    }
                    return Err(Failure::False(*place, report));
                }
                held += 1;
            }
        }
    }
    Ok(held)
}

enum Stop {
    Beyond(String),
    Wrong(String, String),
}

struct Scope<'a> {
    variables: &'a BTreeMap<String, Value>,
    names: &'a dyn Names,
}

impl Scope<'_> {
    fn name(&self, name: &str) -> Result<Value, Stop> {
        if let Some(value) = self.variables.get(name) {
            return Ok(value.clone());
        }
        match self.names.look_up(name) {
            Lookup::Found(value) => Ok(value),
            Lookup::Missing(reason) => Err(Stop::Beyond(format!("`{name}`: {reason}"))),
            Lookup::Unknown(hint) => Err(Stop::Wrong(format!("`{name}` has no value"), hint)),
        }
    }

    fn evaluate(&self, expression: &Expression) -> Result<Value, Stop> {
        match expression {
            Expression::Constant(value) => Ok(value.clone()),
            Expression::Name(name) => self.name(name),
            Expression::Not(of) => Ok(Value::Bool(!truth(&self.evaluate(of)?))),
            Expression::Minus(of) => binary(Operator::Subtract, Value::Int(0), self.evaluate(of)?),
            Expression::Binary(operator, sides) => {
                binary(*operator, self.evaluate(&sides.0)?, self.evaluate(&sides.1)?)
            }
            Expression::Compare(first, others) => {
                let mut left = self.evaluate(first)?;
                for (comparison, right) in others {
                    let right = self.evaluate(right)?;
                    if !compare(*comparison, &left, &right)? {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Ok(Value::Bool(true))
            }
            Expression::All(all) => self.until(all, false),
            Expression::Any(all) => self.until(all, true),
            Expression::Tuple(all) => {
                all.iter().map(|x| self.evaluate(x)).collect::<Result<_, _>>().map(Value::Tuple)
            }
            Expression::Call(name, arguments) => {
                let arguments: Vec<_> =
                    arguments.iter().map(|x| self.evaluate(x)).collect::<Result<_, _>>()?;
                call(name, arguments)
            }
        }
    }

    /// The first value whose truth is `truth_value`, or the last.
    fn until(&self, all: &[Expression], truth_value: bool) -> Result<Value, Stop> {
        let mut value = Value::Bool(!truth_value);
        for expression in all {
            value = self.evaluate(expression)?;
            if truth(&value) == truth_value {
                break;
            }
        }
        Ok(value)
    }

    /// `: x is 3, y is 4` for the names of an expression.
    fn values_of(&self, expression: &Expression) -> String {
        let mut names = Vec::new();
        collect(expression, &mut names);
        let values: Vec<_> = names
            .iter()
            .filter_map(|name| self.name(name).ok().map(|value| format!("{name} is {value}")))
            .collect();
        if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) }
    }
}

/// The names in an expression that are not constants, each once.
fn collect(expression: &Expression, names: &mut Vec<String>) {
    match expression {
        Expression::Constant(_) => {}
        Expression::Name(name) => {
            let constant = name.chars().all(|c| !c.is_ascii_lowercase()) || name.starts_with("TCP_CA_");
            if !constant && !names.contains(name) {
                names.push(name.clone());
            }
        }
        Expression::Not(of) | Expression::Minus(of) => collect(of, names),
        Expression::Binary(_, sides) => {
            collect(&sides.0, names);
            collect(&sides.1, names);
        }
        Expression::Compare(first, others) => {
            collect(first, names);
            others.iter().for_each(|other| collect(&other.1, names));
        }
        Expression::All(all) | Expression::Any(all) | Expression::Tuple(all) | Expression::Call(_, all) => {
            all.iter().for_each(|each| collect(each, names));
        }
    }
}

fn truth(value: &Value) -> bool {
    match value {
        Value::Int(x) => *x != 0,
        Value::Float(x) => *x != 0.0,
        Value::Bool(x) => *x,
        Value::Text(x) => !x.is_empty(),
        Value::Tuple(x) => !x.is_empty(),
    }
}

/// A number: whole numbers and truths as whole numbers.
fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(x) => Some(*x),
        Value::Bool(x) => Some(i128::from(*x)),
        _ => None,
    }
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Float(x) => Some(*x),
        other => whole(other).map(|x| x as f64),
    }
}

fn binary(operator: Operator, left: Value, right: Value) -> Result<Value, Stop> {
    let zero = || Stop::Wrong("a division by zero".to_owned(), String::new());
    if let (Some(x), Some(y)) = (whole(&left), whole(&right)) {
        let value = match operator {
            Operator::Add => x.checked_add(y),
            Operator::Subtract => x.checked_sub(y),
            Operator::Multiply => x.checked_mul(y),
            Operator::Divide if y == 0 => return Err(zero()),
            Operator::Divide => return Ok(Value::Float(x as f64 / y as f64)),
            Operator::FloorDivide | Operator::Remainder if y == 0 => return Err(zero()),
            Operator::FloorDivide => floor_divide(x, y),
            Operator::Remainder => {
                floor_divide(x, y).and_then(|q| q.checked_mul(y)).and_then(|z| x.checked_sub(z))
            }
            Operator::BitAnd => Some(x & y),
            Operator::BitOr => Some(x | y),
        };
        return value
            .map(Value::Int)
            .ok_or_else(|| Stop::Wrong("a number that is too large".to_owned(), "at most 2^127".to_owned()));
    }
    if let (Some(x), Some(y)) = (real(&left), real(&right)) {
        return match operator {
            Operator::Add => Ok(Value::Float(x + y)),
            Operator::Subtract => Ok(Value::Float(x - y)),
            Operator::Multiply => Ok(Value::Float(x * y)),
            Operator::Divide | Operator::FloorDivide | Operator::Remainder if y == 0.0 => Err(zero()),
            Operator::Divide => Ok(Value::Float(x / y)),
            Operator::FloorDivide => Ok(Value::Float((x / y).floor())),
            Operator::Remainder => Ok(Value::Float(x - (x / y).floor() * y)),
            Operator::BitAnd | Operator::BitOr => Err(Stop::Beyond("`&` and `|` of fractions".to_owned())),
        };
    }
    match (operator, left, right) {
        (Operator::Add, Value::Text(x), Value::Text(y)) => Ok(Value::Text(x + &y)),
        (Operator::Remainder, Value::Text(format), values) => Ok(Value::Text(fill(&format, values))),
        (_, left, right) => Err(Stop::Beyond(format!("arithmetic of {left} and {right}"))),
    }
}

/// Towards negative infinity, as in Python.
fn floor_divide(x: i128, y: i128) -> Option<i128> {
    let quotient = x.checked_div(y)?;
    let inexact = quotient.checked_mul(y)? != x;
    if inexact && (x < 0) != (y < 0) { quotient.checked_sub(1) } else { Some(quotient) }
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> Result<bool, Stop> {
    use std::cmp::Ordering;
    let order = match (whole(left), whole(right)) {
        (Some(x), Some(y)) => Some(x.cmp(&y)),
        _ => match (real(left), real(right)) {
            (Some(x), Some(y)) => x.partial_cmp(&y),
            _ if left == right => Some(Ordering::Equal),
            _ => match (left, right) {
                (Value::Text(x), Value::Text(y)) => Some(x.cmp(y)),
                _ => None,
            },
        },
    };
    match (comparison, order) {
        (Comparison::Equal, order) => Ok(order == Some(Ordering::Equal)),
        (Comparison::Unequal, order) => Ok(order != Some(Ordering::Equal)),
        (Comparison::Less, Some(order)) => Ok(order == Ordering::Less),
        (Comparison::LessOrEqual, Some(order)) => Ok(order != Ordering::Greater),
        (Comparison::Greater, Some(order)) => Ok(order == Ordering::Greater),
        (Comparison::GreaterOrEqual, Some(order)) => Ok(order != Ordering::Less),
        _ => Err(Stop::Beyond(format!("the order of {left} and {right}"))),
    }
}

fn call(name: &str, arguments: Vec<Value>) -> Result<Value, Stop> {
    let best = |comparison| {
        let mut best: Option<Value> = None;
        for value in arguments.clone() {
            let better = match &best {
                None => true,
                Some(best) => compare(comparison, &value, best)?,
            };
            if better {
                best = Some(value);
            }
        }
        best.ok_or_else(|| Stop::Wrong(format!("`{name}` of nothing"), "write its arguments".to_owned()))
    };
    match (name, arguments.as_slice()) {
        ("min", [_, ..]) => best(Comparison::Less),
        ("max", [_, ..]) => best(Comparison::Greater),
        ("abs", [value]) if real(value).is_some() => {
            let negative = compare(Comparison::Less, value, &Value::Int(0))?;
            if negative {
                binary(Operator::Subtract, Value::Int(0), value.clone())
            } else {
                Ok(value.clone())
            }
        }
        ("int", [value]) => match (whole(value), real(value)) {
            (Some(x), _) => Ok(Value::Int(x)),
            (None, Some(x)) if x.abs() < 1e30 => Ok(Value::Int(x as i128)),
            _ => Err(Stop::Beyond(format!("`int` of {value}"))),
        },
        ("float", [value]) if real(value).is_some() => Ok(Value::Float(real(value).unwrap_or(0.0))),
        _ => Err(Stop::Beyond(format!("the function `{name}`"))),
    }
}

/// A text with `%d` and the like replaced by values.
fn fill(format: &str, values: Value) -> String {
    let mut values = match values {
        Value::Tuple(values) => values,
        one => vec![one],
    }
    .into_iter();
    let mut text = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        while rest.peek().is_some_and(|c| c.is_ascii_digit() || *c == '.' || *c == '-') {
            rest.next();
        }
        match rest.next() {
            Some('%') | None => text.push('%'),
            Some(_) => text.push_str(&values.next().map_or_else(String::new, |value| value.to_string())),
        }
    }
    text
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(x) => write!(f, "{x}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Text(x) => f.write_str(x),
            Self::Tuple(all) => {
                let texts: Vec<_> = all.iter().map(Self::to_string).collect();
                write!(f, "({})", texts.join(", "))
            }
        }
    }
}
