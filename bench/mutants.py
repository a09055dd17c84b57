"""Mutation testing of `scheduler/`: is there a test for every comparison, sum and constant?

    python -m bench.mutants scheduler/shares.py tests/scheduler/test_shares.py ...

changes one operator or number at a time in a copy of the project, runs the tests named (the whole
of tests/scheduler if none is), and lists the changes that no test notices.  Outside the test suite:
a module takes minutes.
"""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
}


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """(line, what was changed, the changed source), one change each."""
    places = sum(1 for _ in ast.walk(ast.parse(source)))
    for place in range(places):
        tree = ast.parse(source)
        node = next(each for n, each in enumerate(ast.walk(tree)) if n == place)
        before = ast.unparse(node) if isinstance(node, ast.expr) else ""
        if _change(node):
            assert isinstance(node, ast.expr)
            yield node.lineno, f"{before}  ->  {ast.unparse(node)}", ast.unparse(tree)


def _change(node: ast.AST) -> bool:
    """Change the node in place, if it is of a kind that is changed."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            node.ops = [COMPARISONS[type(op)]()]
        case ast.BinOp(op=op) if type(op) in OPERATORS and not _is_text(node):
            node.op = OPERATORS[type(op)]()
        case ast.BoolOp(op=op):
            node.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() as value):
            node.value = value + 1
        case _:
            return False
    return True


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(s, ast.JoinedStr | ast.Constant) and not _number(s) for s in sides)


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def survivors(module: Path, tests: Sequence[str]) -> Iterator[tuple[int, str] | None]:
    """For each mutant its place and change if it survives, None if a test notices it."""
    source = (ROOT / module).read_text()
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        leave = shutil.ignore_patterns(".*", "__pycache__", "docs")
        shutil.copytree(ROOT, copy, ignore=leave)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        for line, change, text in mutants(source):
            (copy / module).write_text(text)
            try:
                done = subprocess.run(
                    command, cwd=copy, capture_output=True, check=False, timeout=120
                )
            except subprocess.TimeoutExpired:  # it never ends: that is noticed
                yield None
                continue
            yield (line, change) if done.returncode == 0 else None


def main(arguments: Sequence[str]) -> None:
    """List the survivors of a module."""
    module, tests = Path(arguments[0]), list(arguments[1:]) or ["tests/scheduler"]
    tried = alive = 0
    for found in survivors(module, tests):
        tried += 1
        if found is not None:
            alive += 1
            print(f"{module}:{found[0]}  {found[1]}", flush=True)
    print(f"{module}: {tried - alive} of {tried} changes noticed")


if __name__ == "__main__":
    main(sys.argv[1:])
