# %% [markdown]
# # Proofs and their countermodels
#
# A search says: no violation among all histories of up to so many messages. A proof says: none, ever. foldproof has an obligation for each event and each invariant (if it held
# before the event, it holds after), and asks two solvers, Z3 and cvc5, that share no code. Histories, trees and token counts are left open: any length, any shape, any cost.

# %%
from foldproof.model.design import Clause
from foldproof.proofs.countermodel import countermodel
from foldproof.proofs.invariant import Group
from foldproof.proofs.obligations import GRID, OBLIGATIONS
from foldproof.proofs.solve import decide
from foldproof.report.explorer.notebook import show

print(len(OBLIGATIONS), "obligations, of which", len(GRID), "are the grid of events and invariants:")
print("events:    ", ", ".join(dict.fromkeys(o.event for o in GRID)))
print("invariants:", ", ".join(dict.fromkeys(str(o.invariant) for o in GRID)))

# %% [markdown]
# ## Three questions, not one
#
# "Proved" is easy to have by mistake: from hypotheses that nothing satisfies, everything follows. So each obligation is asked three things. Does the goal follow (both solvers)? Can its hypotheses be met?
# And is a *mutant*, the same step with one rule broken, refuted? Only then does it count.


# %%
def ask(name):
    obligation = OBLIGATIONS[name]
    outcome = decide(obligation)
    print(f"{name}: {obligation.statement}")
    print(
        f"  z3 {outcome.z3}, cvc5 {outcome.cvc5}; hypotheses can be met: {outcome.satisfiable}; mutant ({obligation.mutant.name}) {outcome.mutant}"
    )


for name in ("initial", "Undo/VIEW", "Clear/IDX", "literal/IDX", "StepEnd/CAL"):
    ask(name)

# %% [markdown]
# ## What the step needs beyond the four
#
# None of the four invariants survives an event by itself; each needs help. "Every message is accounted for once" does not follow from itself across an undo unless one also knows that spans nest, that a memory
# covers exactly its span, that a closed node has its carrier in the history. These facts are the strengthened invariant, one function each in `foldproof.proofs.invariant`.
#
# Two of the five groups are about them alone:

# %%
for name in ("Undo/LAMINAR", "ApplyCompaction/SYNC"):
    ask(name)

# %% [markdown]
# ## A countermodel is a run
#
# When a rule is missing, the failing obligation has a countermodel: integers that a solver made up. They are turned into a state of the model and replayed. Then a search says
# whether a run from the empty session leads there. If one does, the failed proof has become a bug that one can watch. This one is the prompt that nobody sees:

# %% [solver]
found = countermodel("Undo", Group.VIEW, Clause.D1A_UNDO)
print("run:   ", "; ".join(map(str, found.run)))
print("event: ", found.event, "breaks", ", ".join(found.broken))
print("label: ", found.label)
show(found.trace(), title="Found from the proof", max_states=16)

# %% [markdown]
# ## Clamp, or roll back?
#
# The note that began all this left a question open: when an undo cuts through a span, should its indices be *clamped* into what is left, or should the node be *reset*? Both sound harmless. The proof knows a third answer, *roll back to
# what the tree was*, and refutes clamping (clause `D9` missing):

# %%
for name in ("index/refine-close", "index/refine-open"):
    ask(name)

# %% [solver]
found = countermodel("Clear", Group.SYNC, Clause.D9)
print("run:   ", "; ".join(map(str, found.run)))
print("event: ", found.event, "breaks", ", ".join(found.broken) or "the strengthened invariant alone")
found.trace()

# %% [markdown]
# The session is empty, and the tree still has an open task: at an index where no message is, opened by a call that nobody remembers.
#
# ## All of it
#
# `foldproof prove` asks all obligations, in some minutes. What is assumed is on the page *Proofs* of the documentation: token counts add up, and both solvers are right when they agree.
#
# Next: [the economics of recallable compaction](4-economics.ipynb).
