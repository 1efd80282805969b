# %% [markdown]
# # A gallery of counterexamples
#
# Four ways in which real harnesses lost track of what they send, each as a shortest run that a search found. The frames below are the explorer: step with the buttons or, after a
# click into it, with the arrow keys. The design stands beside the fault over the same events, and under *Go on from here* you can take the run further.

# %%
from foldproof.explore import engines
from foldproof.explore.trace import record
from foldproof.model.core import CORE
from foldproof.model.machines import MACHINES
from foldproof.report.explorer.notebook import show


def shortest(clause, invariant, bound, machine=CORE):
    """A shortest run that breaks an invariant without a clause, as a trace."""
    design = machine.without(clause)
    [found] = engines.search(machine, bound, design, invariants=(invariant,)).counterexamples[invariant]
    print(f"{invariant} without {clause}: {'; '.join(map(str, found.events))}")
    return record(machine, found.events, design, bound)


# %% [markdown]
# ## The prompt that nobody sees
#
# A task was opened, worked on and closed; its messages are folded into a memory. The user undoes into the middle of it. Without the repair (clause `D1a_undo`) the memory stays and claims
# messages that are gone; whatever is typed next falls under it. Take `AppendUser` from the last step and look at the view.

# %%
show(shortest("D1a_undo", "VIEW", 5), title="An undo hides the next prompt", max_states=24)

# %% [markdown]
# ## Compaction for no reason
#
# An undo must say how large the context now is. Estimating what is *stored* (clause `D1b` missing) forgets that most of it is folded: the gauge says twice what the model is sent. In
# one harness this was the cause behind "it compacts all the time". Watch the two bars.

# %%
show(shortest("D1b", "CAL", 3), title="An undo poisons the gauge", max_states=24)

# %% [markdown]
# ## A task that the model believes in
#
# The model called the tool that opens a task and was told that it is open; then the process died. A resume that rebuilds the tree from committed transitions alone (clause `D8` missing) forgets
# this one for ever: model and harness disagree about which task is running.

# %%
show(shortest("D8", "SYNC", 2), title="A crash forgets a task", max_states=24)

# %% [markdown]
# ## A summary of the wrong messages
#
# The last one needs time to pass. A compaction runs in the background: it decides what to summarise, waits for the answer, and lands. Meanwhile the user undoes. If landing does not ask whether the
# history is still the one that was summarised (clause `A4_fresh` of the `async` machine), it puts a summary of undone messages in place of others.

# %%
show(shortest("A4_fresh", "VIEW", 2, MACHINES["async"]), title="A late summary", max_states=24)

# %% [markdown]
# ## How hard are they to find?
#
# For each clause, how many events the shortest run has that breaks anything, at the least length of history that has one. No test suite of two-step scripts finds the ones on the right.

# %%
lengths = {}
search = engines.for_matrix("auto", CORE, 5)
for clause in CORE.clauses:
    for bound in range(1, 6):
        found = search(CORE, bound, CORE.without(clause)).counterexamples
        runs = [one[0].events for one in found.values() if one]
        if runs:
            lengths[str(clause)] = (min(map(len, runs)), bound)
            break
for clause, (events, bound) in sorted(lengths.items(), key=lambda item: item[1]):
    print(f"{clause:<12} {events} events, history of {bound}")

# %%
import matplotlib.pyplot as plt

ordered = sorted(lengths, key=lambda clause: lengths[clause])
figure, axes = plt.subplots(figsize=(7, 3.2))
axes.bar(
    ordered,
    [lengths[c][0] for c in ordered],
    color="#56B4E9",
    edgecolor="black",
    label="events of a shortest run",
)
axes.plot(ordered, [lengths[c][1] for c in ordered], "D", color="#D55E00", label="messages that it needs")
axes.set_ylabel("events; messages")
axes.set_xlabel("clause that is missing")
axes.tick_params(axis="x", rotation=60)
axes.set_title("How short a run shows what a clause is for")
axes.legend(frameon=False)
figure.tight_layout()

# %% [markdown]
# `D4` and `D6_settle` are not in the picture: nothing of the four breaks without them, at any bound that was searched. `foldproof gallery` makes such pages for every clause and fault of every machine.
#
# Next: [proofs, and what they refute](3-proofs.ipynb).
