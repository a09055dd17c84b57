"""The small language of the papers' files: expressions such as `snp('global') / snp('Hadoop')`, and
texts with such expressions in braces.

Python reads an expression, and nothing but names, numbers, texts, lists, arithmetic and calls of
named figures, charts and worlds is computed of it.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from inspect import signature
from typing import Any

import msgspec

from callboard.experiments.reproduction.sample_figure import SampleFigure, figure_of
from callboard.scheduler.text.strict_decoder import suggestion

Vocabulary = Mapping[str, Callable[..., object]]
"""What can be called in an expression, by name."""

GridRow = dict[str, object]
"""What the names of a grid's columns stand for in one of its rows."""


class ExpressionError(ValueError):
    """An expression that cannot be computed; the message says which, and what is wrong."""


class RunFigureByName(msgspec.Struct, frozen=True):
    """A figure of a run: called with a cell's name it is the figure of that cell."""

    function: Callable[..., float | None]

    def __call__(self, *arguments: Any) -> SampleFigure:
        signature(self.function).bind(*arguments)
        cell, *more = arguments
        if not isinstance(cell, str):
            raise TypeError(f"expected the name of a cell first, got {cell!r}")
        return figure_of(cell, self.function, *more)


def run_figure_vocabulary(*functions: Callable[..., float | None]) -> Vocabulary:
    """Functions of a run; an expression has the name of its cell in place of the run."""
    return {_name_of(each): RunFigureByName(each) for each in functions}


def sample_figure_vocabulary(*functions: Callable[..., float | None]) -> Vocabulary:
    """Functions of a sample, or of all samples at once; an expression leaves it out."""

    def figure(function: Callable[..., float | None], *more: Any, **named: Any) -> SampleFigure:
        signature(function).bind(None, *more, **named)
        return SampleFigure((), lambda sample: function(sample, *more, **named))

    return {_name_of(each): partial(figure, each) for each in functions}


def chart_vocabulary(*functions: Callable[..., object]) -> Vocabulary:
    """Functions that draw samples; an expression has what else they are given, by name."""

    def chart(function: Callable[..., object], **named: Any) -> Callable[..., object]:
        signature(function).bind_partial((), **named)
        return partial(function, **named)

    return {_name_of(each): partial(chart, each) for each in functions}


def _name_of(function: Callable[..., object]) -> str:
    return function.__name__


_HOLE = re.compile(r'\{([A-Za-z_][^{}="]*?)(:[^{}]*)?\}')

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


@cache
def _parsed_expression(text: str) -> ast.expr:
    """Parsed once, of whatever rows it is computed."""
    return ast.parse(f"({text})", mode="eval").body


class ExpressionNames(msgspec.Struct, frozen=True):
    """What the names in an expression stand for: values, and what can be called."""

    values: Mapping[str, object]
    calls: Vocabulary

    def with_values(self, values: Mapping[str, object]) -> "ExpressionNames":
        """The same with more values."""
        return ExpressionNames({**self.values, **values}, self.calls)

    def fill(self, text: str) -> str:
        """The text with what its braces come to, on one line; `{share:.0%}` says how a number is
        written.  Braces that begin otherwise than with a name are left as they are.
        """
        return _HOLE.sub(self._filled_hole, " ".join(text.strip().split("\n")))

    def _filled_hole(self, found: re.Match[str]) -> str:
        try:
            return format(self.evaluate(found[1]), (found[2] or ":")[1:])
        except (TypeError, ValueError) as error:
            raise ExpressionError(f"{found[0]}: {error}") from None

    def evaluate(self, text: str) -> object:
        """What an expression comes to; ExpressionError says why it comes to nothing."""
        try:
            return self._value_of(_parsed_expression(text))
        except (SyntaxError, TypeError, ArithmeticError) as error:
            told = "this is no expression" if isinstance(error, SyntaxError) else str(error)
            raise ExpressionError(f"{text}: {told}") from None

    def _value_of(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=str(text)):
                return self.fill(text)
            case ast.Constant(value=int() | float()):
                return node.value
            case ast.Name(id=name):
                return self._named_value(name)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._value_of(each) for each in items]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self._value_of(left), self._value_of(right))
            case ast.GeneratorExp(elt=each, generators=[ast.comprehension(ast.Name(), ifs=[])]):
                return list(self._values_of_each(each, node.generators[0]))
            case ast.Call(func=ast.Name(id=name)) if name in self.calls:
                named = {str(each.arg): self._value_of(each.value) for each in node.keywords}
                return self.calls[name](*(self._value_of(each) for each in node.args), **named)
            case ast.Call(func=ast.Name(id=name)):
                raise ExpressionError(f"nothing is called {name}; {suggestion(name, self.calls)}")
        raise ExpressionError(
            f"{ast.unparse(node)}: only names, numbers, texts, lists, + - * / and calls are read"
        )

    def _named_value(self, name: str) -> object:
        if name in self.values:
            return self.values[name]
        called = self.calls.get(name)
        if isinstance(called, RunFigureByName):
            return called.function
        if called is not None:
            raise ExpressionError(f"{name} is to be called, as in `{name}()`")
        raise ExpressionError(f"nothing is called {name}; {suggestion(name, self.values)}")

    def _values_of_each(self, node: ast.expr, loop: ast.comprehension) -> Iterator[object]:
        """The expression with the values of each row of a grid, of which the loop names one."""
        assert isinstance(loop.target, ast.Name)
        for row in self._rows_of_value(self._value_of(loop.iter), ast.unparse(loop.iter)):
            if loop.target.id not in row:
                problem = f"no column {loop.target.id} in {ast.unparse(loop.iter)}"
                raise ExpressionError(f"{problem}; {suggestion(loop.target.id, row)}")
            yield self.with_values(row)._value_of(node)

    def rows_of(self, text: str) -> list[GridRow]:
        """The rows of a grid, or of several as in `io + mixed`."""
        return self._rows_of_value(self.evaluate(text), text)

    def _rows_of_value(self, value: object, text: str) -> list[GridRow]:
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise ExpressionError(f"{text}: expected a grid, got {value!r}")
        return value
