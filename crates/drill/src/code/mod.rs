//! The language of assertions: the part of Python that scripts use between `%{` and `}%`.
//!
//! Assignments, `assert` with a message, comparisons, `and`, `or`, `not`, arithmetic, texts with `%`, and the functions
//! `abs`, `min`, `max` and `int`. `print` is read and ignored. Anything else is [`Statement::Beyond`].

mod evaluate;
mod parse;
mod tokens;

pub(crate) use self::evaluate::{Failure, Lookup, Names, run};
pub(crate) use self::parse::parse;
use crate::place::Place;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its place in the script.
    pub place: Place,
    /// Its text.
    pub text: String,
    /// What it does.
    pub action: Action,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `assert condition, message`
    Assert(Expression, Option<Expression>),
    /// `name = value`; with an operator `name += value`.
    Assign(String, Option<Operator>, Expression),
    /// Nothing: `print`, `pass`.
    Nothing,
    /// What cannot be expressed: the feature.
    Beyond(String),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Constant(Value),
    /// The value of a name.
    Name(String),
    /// `not x`
    Not(Box<Expression>),
    /// `-x`
    Minus(Box<Expression>),
    /// `x + y`
    Binary(Operator, Box<(Expression, Expression)>),
    /// `a < b <= c`: the first, and each comparison with what follows.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    /// `a and b`
    All(Vec<Expression>),
    /// `a or b`
    Any(Vec<Expression>),
    /// `(a, b)`
    Tuple(Vec<Expression>),
    /// `abs(x)`
    Call(String, Vec<Expression>),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i128),
    /// Another number.
    Float(f64),
    /// `True` or `False`.
    Bool(bool),
    /// A text.
    Text(String),
    /// Several values.
    Tuple(Vec<Value>),
}

/// An operator of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `//`
    FloorDivide,
    /// `%`
    Remainder,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Cwnd;

    impl Names for Cwnd {
        fn look_up(&self, name: &str) -> Lookup {
            match name {
                "cwnd" => Lookup::Found(Value::Int(10)),
                "options" => Lookup::Missing("it is not kept".to_owned()),
                _ => Lookup::Unknown("write `cwnd`".to_owned()),
            }
        }
    }

    /// The number of assertions that hold, or why one does not.
    fn hold(text: &str) -> Result<u32, String> {
        let statements = parse(text, Place { line: 1, column: 1 }).map_err(|problem| problem.to_string())?;
        run(&statements, &mut BTreeMap::new(), &Cwnd).map_err(|failure| match failure {
            Failure::False(place, message) => format!("line {}: {message}", place.line),
            Failure::Beyond(_, feature) => format!("beyond: {feature}"),
            Failure::Wrong(_, message, hint) => format!("wrong: {message} ({hint})"),
        })
    }

    #[test]
    fn values_are_those_of_python() {
        let all = "assert 7 // 2 == 3 and -7 // 2 == -4 and -7 % 3 == 2 and 7 / 2 == 3.5\n\
                   assert 2 + 3 * 4 == 14 and (2 + 3) * 4 == 20 and 0x7f == 127 and 1 < 2 <= 2 != 3\n\
                   assert not (1 == 2) and not 0 and True and abs(-3) == 3 and max(1, 4, 2) == 4 and int(3.9) == 3\n\
                   assert 'a%d' % 3 == 'a3', 'never %s' % ('shown',)  # a comment\n\
                   x = 4; x += 2; print(x)\n\
                   assert x == 6 and 6 & 3 == 2, x\n";
        assert_eq!(hold(all), Ok(5));
    }

    #[test]
    fn what_does_not_hold_is_said_with_its_values() {
        let observed = hold("y = 3\nassert cwnd == 9 and y < 4, 'cwnd=%d' % cwnd");
        let expected =
            "line 2: `cwnd == 9 and y < 4, 'cwnd=%d' % cwnd` does not hold: cwnd is 10, y is 3 (cwnd=10)";
        assert_eq!(observed, Err(expected.to_owned()));
    }

    #[test]
    fn what_is_no_part_of_the_language_is_beyond_it() {
        for text in [
            "if cwnd: pass",
            "import os",
            "os.system('x')",
            "assert [1] == [1]",
            "assert f(1)",
            "x ** 2",
            "cwnd",
        ] {
            let observed = hold(text);
            assert!(
                observed.as_ref().is_err_and(|observed| observed.starts_with("beyond: ")),
                "{text}: {observed:?}"
            );
        }
        assert_eq!(hold("assert options == 0"), Err("beyond: `options`: it is not kept".to_owned()));
        assert_eq!(hold("assert cwn == 0"), Err("wrong: `cwn` has no value (write `cwnd`)".to_owned()));
        assert_eq!(hold("assert 1 / 0"), Err("wrong: a division by zero ()".to_owned()));
    }
}
