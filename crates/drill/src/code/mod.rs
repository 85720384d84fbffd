//! The language of assertions: the part of Python that scripts use between `%{` and `}%`.
//!
//! Assignments, `assert` with a message, comparisons, `and`, `or`, `not`, arithmetic, texts with `%`, and the functions `abs`, `min`, `max` and
//! `int`. `print` is read and ignored. Anything else is [`Statement::Beyond`].

mod evaluate;
mod parse;
mod tokens;

pub(crate) use self::evaluate::{Failure, Lookup, Names, run};
pub(crate) use self::parse::parse;
use crate::script::Place;

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
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}
