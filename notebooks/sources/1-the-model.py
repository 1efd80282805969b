# %% [markdown]
# # The model in twenty minutes
#
# An agent's session stores a **history** of messages. The language model behind it is sent a **view**: finished spans of work are folded into short
# memories, old epochs into a summary. As long as nothing is ever taken back, the two are easy to keep in step. This notebook shows the machine that
# makes them stay in step when things *are* taken back, and what goes wrong in one that does not.
#
# Everything here is the specification itself: pure functions over immutable values, with nothing but the standard library underneath.

# %%
from foldproof.explore import engines
from foldproof.explore.matrix import necessity
from foldproof.explore.trace import record, run
from foldproof.model.core import CORE
from foldproof.model.fold import est, flatten, trigger, view
from foldproof.model.invariants import INVARIANTS
from foldproof.model.labels import history_label, view_label
from foldproof.model.state import INITIAL, ids
from foldproof.model.step import step
from foldproof.report.text import statement


def events(text):
    return [CORE.event_from_name(name) for name in text.split("; ")]


# %% [markdown]
# ## A session, one event at a time
#
# The model (the language model, that is) calls a tool that opens a task. The call is a *carrier* message **C**, the result that accepts it a *receipt* **T**.
# At the end of the step the session finds the receipt and commits: now the task tree has an open node.

# %%
state = INITIAL
for event in events("AppendUser; Call(open); StepEnd; AppendReply; Call(close); StepEnd"):
    state = step(state, event)
    print(f"{event!s:<13} history {history_label(state):<42} view {view_label(state)}")

# %% [markdown]
# The last event closed the task, and the view got shorter: `[#1 #2 #3]` is one memory that speaks for three messages. They are still stored. Here is
# the whole state; the value of a cell shows itself as a table.

# %%
state

# %% [markdown]
# ## One equation
#
# Let `flatten` replace each memory by the ids of the messages that it speaks for. Then everything that one wants of a view is
#
#     flatten(view(s)) == ids(s.history)
#
# Every live message is accounted for exactly once and in order, and nothing else is. The other three invariants keep this one true while indices,
# token counts and receipts move around it.

# %%
print("view    ", view_label(state))
print("flatten ", flatten(view(state)))
print("history ", ids(state.history))
print("trigger ", trigger(state), "tokens, against a view of", est(view(state)))
for name, check in INVARIANTS.items():
    print(f"{name:<5}", "held:    " if check(state) is None else "violated:", statement(CORE, name))

# %% [markdown]
# ## Taking it back
#
# Now the user undoes the prompt. What should become of the memory, of the task, of the gauge that counted tokens? The design's answer is to *roll back*: the tree is
# what it was when the history had that length.

# %%
undone = step(state, CORE.event_from_name("Undo(0)"))
print("history", history_label(undone), "  view", view_label(undone))

# %% [markdown]
# A design is a set of *clauses*, each a rule that can be taken away. Without `D1a_undo`, "undo repairs the tree", the memory stays. And it does worse than telling an
# old story: the fold skips as many messages as the memory claims to cover, so the **next prompt of the user disappears** from the view.

# %%
without_repair = CORE.without("D1a_undo")
broken = record(
    CORE,
    events("Call(open); StepEnd; AppendUser; Call(close); StepEnd; Undo(2); AppendUser"),
    without_repair,
    6,
)
broken

# %%
last = run(CORE, events("; ".join(broken.events)), without_repair)[-1]
print("history", history_label(last))
print("view   ", view_label(last))

# %% [markdown]
# The user has typed `#5`. The model is sent one memory, about messages that no longer exist, and answers blindly. A real harness shipped this.
#
# ## Every state there is
#
# A test would have to think of that run. A search need not: it visits *every* state that histories of up to a few messages can reach, by layers, so that the first
# counterexample is a shortest one. Ids are only names, so states that differ in names alone count once; that makes the number finite.

# %%
counts = {bound: engines.search(CORE, bound) for bound in range(1, 6)}
for bound, result in counts.items():
    print(
        f"L={bound}: {result.states:>8,} states {result.transitions:>10,} transitions;",
        *map(result.verdict, result.invariants),
    )

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3.4))
axes.semilogy(list(counts), [r.states for r in counts.values()], "o-", color="#0072B2", label="states")
axes.semilogy(
    list(counts), [r.transitions for r in counts.values()], "s--", color="#D55E00", label="transitions"
)
axes.set_xlabel("bound on the history (messages)")
axes.set_ylabel("number (log scale)")
axes.set_xticks(list(counts))
axes.set_title("Reachable states of the design, all of them checked")
axes.legend(frameon=False)
figure.tight_layout()

# %% [markdown]
# Each further message makes about five times as many. `foldproof check --bound 8` takes it to 24 million; for histories of *any* length there are proofs (the
# third notebook).
#
# ## What is each rule for?
#
# Take every clause away, one at a time, and search again. A number is how many events it takes until the invariant breaks. A dash is "not within this bound", which
# is no promise: repro F above needs a history of five.

# %%
necessity(CORE, 2)

# %% [markdown]
# Two rows are empty at every bound. `D4` (an undo stops at an epoch's boundary) and `D6_settle` (switching the fold off settles a pending transition) break none of the four. Their reasons are
# others: the budget, and that something which was accepted is done at all. The search tells rules that carry the equation from rules that do not.
#
# Next: [a gallery of counterexamples](2-counterexamples.ipynb).
