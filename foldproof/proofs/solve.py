"""Two solvers, one text: Z3 proves the terms, cvc5 reads the SMT-LIB 2 that they are exported as.

An obligation counts as proved only where its goal follows, its hypotheses can be met, and its mutant
is refuted. *Unknown*, for whatever reason, is none of these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing import get_context

import z3

from foldproof.model.index import Truth
from foldproof.proofs.formula import Formula, Obligation
from foldproof.proofs.obligations import OBLIGATIONS

TIMEOUT = 120
"""Seconds that a solver has for one question."""

SMT_LOGIC = "QF_UFLIA"


class Answer(StrEnum):
    """What a solver says of an obligation."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


class Solvers(StrEnum):
    """Which solvers are asked."""

    Z3 = "z3"
    CVC5 = "cvc5"
    BOTH = "both"


_ANSWERS = {"unsat": Answer.PROVED, "sat": Answer.REFUTED}


@dataclass(frozen=True)
class Outcome:
    """The answers to one obligation. A solver that was not asked has none.

    ``satisfiable`` says that the hypotheses can be met: what is proved is not empty. ``mutant`` is the
    answer to the obligation's mutant: it must be refuted. ``seconds`` is for all questions together.
    """

    name: str
    z3: Answer | None
    cvc5: Answer | None
    satisfiable: bool | None
    mutant: Answer
    seconds: float

    @property
    def failures(self) -> list[str]:
        """What is wrong, in words; empty where the obligation is proved."""
        wrong = [
            f"{solver} says {answer}"
            for solver, answer in (("z3", self.z3), ("cvc5", self.cvc5))
            if answer not in (None, Answer.PROVED)
        ]
        if self.satisfiable is not True:
            doubt = "cannot be met" if self.satisfiable is False else "may not be satisfiable: unknown"
            wrong.append(f"its hypotheses {doubt}")
        if self.mutant is not Answer.REFUTED:
            wrong.append(f"its mutant is {self.mutant}, not refuted")
        return wrong

    @property
    def refuted(self) -> bool:
        """A solver has a countermodel: the obligation is false."""
        return Answer.REFUTED in (self.z3, self.cvc5)


def smt2(formula: Formula) -> str:
    """The formula's negation as SMT-LIB 2: unsatisfiable exactly when the goal follows."""
    solver = z3.Solver()
    solver.add(*formula.negation)
    body = solver.to_smt2()
    return f"(set-logic {SMT_LOGIC})\n{body}"


def ask_z3(assertions: Sequence[Truth], timeout: float = TIMEOUT) -> str:
    """``sat``, ``unsat`` or ``unknown``. ``timeout`` is in seconds."""
    solver = z3.SolverFor(SMT_LOGIC)
    solver.set("timeout", int(timeout * 1000))
    solver.add(*assertions)
    return str(solver.check())


def ask_cvc5(text: str, timeout: float = TIMEOUT) -> str:
    """What cvc5 answers to one SMT-LIB 2 text. ``timeout`` is in seconds."""
    import cvc5  # noqa: PLC0415 - half a second that z3 alone does not need

    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("tlimit-per", str(int(timeout * 1000)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols = parser.getSymbolManager()
    answers: list[str] = []
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        answer = str(command.invoke(solver, symbols)).strip()
        if answer:
            answers.append(answer)
    return answers[-1] if answers else "unknown"


def answer_of(said: str) -> Answer:
    """A solver's word on a formula's negation, as an answer to the formula."""
    return _ANSWERS.get(said, Answer.UNKNOWN)


def decide(
    obligation: Obligation,
    solvers: Solvers = Solvers.BOTH,
    timeout: float = TIMEOUT,
    write: Callable[[str, str], None] | None = None,
) -> Outcome:
    """Prove an obligation, show that its hypotheses can be met and that its mutant is refuted.

    ``write`` is given the name and the SMT-LIB 2 text. The last two questions go to Z3, or to cvc5
    where it is asked alone.
    """
    started = time.perf_counter()
    formula, wrong = obligation.formula(), obligation.mutant.formula()
    text = smt2(formula)
    if write is not None:
        write(obligation.name, text)
    by_z3 = answer_of(ask_z3(formula.negation, timeout)) if solvers is not Solvers.CVC5 else None
    by_cvc5 = answer_of(ask_cvc5(text, timeout)) if solvers is not Solvers.Z3 else None
    if solvers is Solvers.CVC5:
        met = ask_cvc5(smt2(Formula(formula.hypotheses, z3.BoolVal(False))), timeout)
        mutant = answer_of(ask_cvc5(smt2(wrong), timeout))
    else:
        met = ask_z3(formula.hypotheses, timeout)
        mutant = answer_of(ask_z3(wrong.negation, timeout))
    satisfiable = {"sat": True, "unsat": False}.get(met)
    elapsed = time.perf_counter() - started
    return Outcome(obligation.name, by_z3, by_cvc5, satisfiable, mutant, elapsed)


def decide_by_name(name: str, solvers: Solvers, timeout: float) -> tuple[Outcome, str]:
    """For a worker: formulas cannot be sent to another process, names can. With the SMT-LIB 2 text."""
    texts: list[str] = []
    outcome = decide(OBLIGATIONS[name], solvers, timeout, lambda _, text: texts.append(text))
    return outcome, texts[0]


def decide_all(
    names: Sequence[str], solvers: Solvers = Solvers.BOTH, timeout: float = TIMEOUT, workers: int = 1
) -> Iterator[tuple[Outcome, str]]:
    """Outcomes with their SMT-LIB 2 texts, as they come, from as many processes as ``workers`` says."""
    if workers <= 1 or len(names) <= 1:
        for name in names:
            yield decide_by_name(name, solvers, timeout)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            for done in as_completed(pool.submit(decide_by_name, name, solvers, timeout) for name in names):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
