//! The parser of assertions.

use super::tokens::{Kind, Token, tokens};
use super::{Action, Comparison, Expression, Operator, Statement, Value};
use crate::place::Place;
use crate::problem::Problem;

/// Parentheses and signs that an expression may nest.
const DEPTH: usize = 40;
/// Words of a statement.
const LENGTH: usize = 400;

/// Words of Python that begin what cannot be expressed.
const STATEMENTS: [&str; 13] = [
    "if", "for", "while", "def", "import", "from", "class", "try", "with", "return", "global", "del", "raise",
];

/// The statements of a text that begins at `place`.
pub(crate) fn parse(text: &str, place: Place) -> Result<Vec<Statement>, Problem> {
    let tokens = tokens(text, place)?;
    let statements = tokens.split(|token| token.kind == Kind::End).filter(|line| !line.is_empty());
    statements.map(|line| statement(text, line)).collect()
}

fn statement(text: &str, line: &[Token]) -> Result<Statement, Problem> {
    let (first, last) = (&line[0], &line[line.len() - 1]);
    if line.len() > LENGTH {
        return Err(Problem::new(
            first.place,
            "this statement is too long",
            format!("at most {LENGTH} words"),
        ));
    }
    let text = text[first.start..last.end].to_owned();
    let mut parser = Parser { line, at: 0, depth: 0 };
    let action = match &first.kind {
        Kind::Name(name) if name == "print" || name == "pass" => Action::Nothing,
        Kind::Name(name) if STATEMENTS.contains(&name.as_str()) => {
            Action::Beyond(format!("`{name}` in assertions"))
        }
        Kind::Name(name) if name == "assert" => {
            parser.at = 1;
            parser.assertion()
        }
        Kind::Name(name) => {
            let operator = match line.get(1).map(|token| &token.kind) {
                Some(Kind::Sign("=")) => Some(None),
                Some(Kind::Sign("+=")) => Some(Some(Operator::Add)),
                Some(Kind::Sign("-=")) => Some(Some(Operator::Subtract)),
                Some(Kind::Sign("*=")) => Some(Some(Operator::Multiply)),
                Some(Kind::Sign("/=")) => Some(Some(Operator::Divide)),
                Some(Kind::Sign("//=")) => Some(Some(Operator::FloorDivide)),
                _ => None,
            };
            match operator {
                Some(operator) => {
                    parser.at = 2;
                    match parser.whole() {
                        Ok(value) => Action::Assign(name.clone(), operator, value),
                        Err(problem) => Action::Beyond(format!("this value: {}", problem.message)),
                    }
                }
                None => Action::Beyond(format!("the statement `{text}`")),
            }
        }
        _ => Action::Beyond(format!("the statement `{text}`")),
    };
    Ok(Statement { place: first.place, text, action })
}

struct Parser<'a> {
    line: &'a [Token],
    at: usize,
    depth: usize,
}

/// An expression, or what is wrong with it.
type Read = Result<Expression, Problem>;

impl Parser<'_> {
    fn peek(&self) -> Option<&Kind> {
        self.line.get(self.at).map(|token| &token.kind)
    }

    fn place(&self) -> Place {
        self.line.get(self.at).or(self.line.last()).map_or(Place::default(), |token| token.place)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Kind::Sign(next)) if *next == sign);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Kind::Name(next)) if next == word);
        self.at += usize::from(found);
        found
    }

    fn wrong(&self, message: &str) -> Problem {
        Problem::new(self.place(), message, "such as `assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd`")
    }

    /// The rest of a statement, which is one expression.
    fn whole(&mut self) -> Read {
        let value = self.expression()?;
        if self.at < self.line.len() { Err(self.wrong("this word is not expected here")) } else { Ok(value) }
    }

    /// A condition and a message. What is wrong in the message is no error: it is only shown.
    fn assertion(&mut self) -> Action {
        let condition = match self.expression() {
            Ok(condition) => condition,
            Err(problem) => return Action::Beyond(format!("this condition: {}", problem.message)),
        };
        if self.at == self.line.len() {
            return Action::Assert(condition, None);
        }
        if !self.eat(",") {
            return Action::Beyond("what follows this condition".to_owned());
        }
        Action::Assert(condition, self.whole().ok())
    }

    fn expression(&mut self) -> Read {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.wrong("this expression is nested too deeply"));
        }
        let mut all = vec![self.conjunction()?];
        while self.eat_word("or") {
            all.push(self.conjunction()?);
        }
        self.depth -= 1;
        Ok(single_or(all, Expression::Any))
    }

    fn conjunction(&mut self) -> Read {
        let mut all = vec![self.negation()?];
        while self.eat_word("and") {
            all.push(self.negation()?);
        }
        Ok(single_or(all, Expression::All))
    }

    fn negation(&mut self) -> Read {
        let mut negated = 0;
        while self.eat_word("not") {
            negated += 1;
        }
        let value = self.comparison()?;
        match negated {
            0 => Ok(value),
            n if n % 2 == 1 => Ok(Expression::Not(Box::new(value))),
            _ => Ok(Expression::Not(Box::new(Expression::Not(Box::new(value))))),
        }
    }

    fn comparison(&mut self) -> Read {
        let first = self.bits()?;
        let mut others = Vec::new();
        while let Some(Kind::Sign(sign)) = self.peek() {
            let comparison = match *sign {
                "==" => Comparison::Equal,
                "!=" => Comparison::Unequal,
                "<" => Comparison::Less,
                "<=" => Comparison::LessOrEqual,
                ">" => Comparison::Greater,
                ">=" => Comparison::GreaterOrEqual,
                _ => break,
            };
            self.at += 1;
            others.push((comparison, self.bits()?));
        }
        Ok(if others.is_empty() { first } else { Expression::Compare(Box::new(first), others) })
    }

    fn bits(&mut self) -> Read {
        self.left(Self::sum, &[("&", Operator::BitAnd), ("|", Operator::BitOr)])
    }

    fn sum(&mut self) -> Read {
        self.left(Self::product, &[("+", Operator::Add), ("-", Operator::Subtract)])
    }

    fn product(&mut self) -> Read {
        let operators = [
            ("*", Operator::Multiply),
            ("/", Operator::Divide),
            ("//", Operator::FloorDivide),
            ("%", Operator::Remainder),
        ];
        self.left(Self::sign, &operators)
    }

    /// Operators of one rank, from left to right.
    fn left(&mut self, operand: impl Fn(&mut Self) -> Read, operators: &[(&str, Operator)]) -> Read {
        let mut value = operand(self)?;
        loop {
            let Some((_, operator)) = operators.iter().find(|(sign, _)| self.eat(sign)) else {
                return Ok(value);
            };
            value = Expression::Binary(*operator, Box::new((value, operand(self)?)));
        }
    }

    fn sign(&mut self) -> Read {
        let mut negative = false;
        loop {
            match () {
                () if self.eat("-") => negative = !negative,
                () if self.eat("+") => {}
                () => break,
            }
        }
        let value = self.atom()?;
        Ok(if negative { Expression::Minus(Box::new(value)) } else { value })
    }

    fn atom(&mut self) -> Read {
        let next = self.peek().cloned();
        match next {
            Some(Kind::Int(value)) => self.constant(Value::Int(value)),
            Some(Kind::Float(value)) => self.constant(Value::Float(value)),
            Some(Kind::Text(mut text)) => {
                self.at += 1;
                // texts that follow each other are one
                while let Some(Kind::Text(more)) = self.peek() {
                    text.push_str(more);
                    self.at += 1;
                }
                Ok(Expression::Constant(Value::Text(text)))
            }
            Some(Kind::Name(name)) => match name.as_str() {
                "True" => self.constant(Value::Bool(true)),
                "False" => self.constant(Value::Bool(false)),
                "and" | "or" | "not" | "in" | "is" | "lambda" | "if" | "else" | "None" => {
                    Err(self.wrong("this word is not expected here"))
                }
                _ => {
                    self.at += 1;
                    if self.eat("(") {
                        Ok(Expression::Call(name, self.list()?.0))
                    } else {
                        Ok(Expression::Name(name))
                    }
                }
            },
            Some(Kind::Sign("(")) => {
                self.at += 1;
                let (mut all, comma) = self.list()?;
                match (all.pop(), comma) {
                    (Some(value), false) if all.is_empty() => Ok(value),
                    (last, _) => {
                        all.extend(last);
                        Ok(Expression::Tuple(all))
                    }
                }
            }
            _ => Err(self.wrong("a number or a name is missing here")),
        }
    }

    fn constant(&mut self, value: Value) -> Read {
        self.at += 1;
        Ok(Expression::Constant(value))
    }

    /// Expressions up to the closing parenthesis, and whether there was a comma.
    fn list(&mut self) -> Result<(Vec<Expression>, bool), Problem> {
        let (mut all, mut comma) = (Vec::new(), false);
        while !self.eat(")") {
            if !all.is_empty() && !comma_between(self, &mut comma) {
                return Err(self.wrong("`,` or `)` is missing here"));
            }
            if self.eat(")") {
                break;
            }
            all.push(self.expression()?);
        }
        Ok((all, comma))
    }
}

fn comma_between(parser: &mut Parser<'_>, comma: &mut bool) -> bool {
    let found = parser.eat(",");
    *comma |= found;
    found
}

fn single_or(mut all: Vec<Expression>, several: impl Fn(Vec<Expression>) -> Expression) -> Expression {
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            all.extend(last);
            several(all)
        }
    }
}
