# %% [markdown]
# # The economics of recallable compaction
#
# When a conversation outgrows its window, most agents replace the older part by one summary, and later summarise the summary. The reference does it otherwise: each stale stretch becomes a small **stub** that is never
# changed again, and one bounded **state** document is rewritten. The originals stay in the log, and two tools read them back.
#
# What does that cost? Three bills are to be paid: what the **prompt cache** misses after a pass, what the **summarizer** has to read, and what room in the **window** the result takes. This notebook measures all three against the
# usual compactor, over a synthetic session, so that anybody gets the same numbers. Token counts are estimates at four characters each.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from foldproof.conformance.prefix_cache import FillingSummarizer, prefix_cache
from foldproof.conformance.replaying import replay_session
from foldproof.conformance.synthetic import synthetic_session
from foldproof.reference import BasicCompactor, RecallableCompactor, Session, Settings

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
source = synthetic_session(80)
settings = Settings.for_window(16_000)
print(
    len(source.messages),
    "messages; window",
    settings.window_tokens,
    "tokens, a pass is due at",
    settings.threshold_tokens,
)
print(
    "chunks of",
    settings.chunk_tokens,
    "tokens, stubs of",
    settings.stub_tokens,
    "the state of",
    settings.state_cap_tokens,
    "at most; kept verbatim:",
    settings.retain_tokens,
)

# %% [markdown]
# ## The same session, twice
#
# Every message is appended in turn; before each of the assistant's, its request would have gone out, and a pass runs where one is due. The summarizer here uses up its caps, as a model does that is asked for a full summary: the worst case for whoever pays by size.


# %%
async def replayed(compactor_type, settings, source=source):
    session = Session.in_memory(settings)
    compactor = compactor_type(session, FillingSummarizer(session))
    passes = (await replay_session(compactor, source)).passes
    return [one for one in passes if one.outcome == "committed"]


runs = {
    "recallable": await replayed(RecallableCompactor, settings),
    "basic": await replayed(BasicCompactor, settings),
}
for name, passes in runs.items():
    print(f"{name}: {len(passes)} passes")
    print("  pass  stubs  before   after  missed    read")
    for one in passes:
        print(
            f"  {one.number:>4} {one.stubs:>6} {one.tokens_before:>7,} {one.tokens_after:>7,} {one.cache_missed_tokens:>7,} {one.summarizer_input_tokens:>7,}"
        )

# %% [markdown]
# *Before* and *after* are sizes of the request, *missed* is what of the request after the pass no prompt cache can serve, *read* is what the summarizer was given. Read the table along each line: the basic compactor misses its whole
# request each time, since the summary at its head has changed. The recallable one misses what stands behind its stubs.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6))
for (name, passes), colour, mark in zip(runs.items(), (BLUE, ORANGE), "os"):
    number = [one.number for one in passes]
    left.plot(
        number,
        [one.cache_missed_tokens / one.tokens_after for one in passes],
        mark + "-",
        color=colour,
        label=name,
    )
    right.plot(number, [one.summarizer_input_tokens for one in passes], mark + "-", color=colour, label=name)
left.set_ylim(0, 1.05)
left.set_ylabel("missed share of the request after a pass")
right.set_ylabel("read by the summarizer (tokens)")
right.set_ylim(0)
for axes in (left, right):
    axes.set_xlabel("pass")
    axes.legend(frameon=False)
left.set_title("The prompt cache")
right.set_title("The summarizer's bill")
figure.tight_layout()

# %% [markdown]
# Now the sums over the whole session:

# %%
print(f"{'':<11} passes  missed in all    read in all  in view beside the verbatim tail")
for name, passes in runs.items():
    missed, read = (
        sum(getattr(one, what) for one in passes)
        for what in ("cache_missed_tokens", "summarizer_input_tokens")
    )
    kept = passes[-1].tokens_after - settings.retain_tokens
    print(f"{name:<11} {len(passes):>6} {missed:>14,} {read:>14,}   about {kept:,} tokens")

# %% [markdown]
# In plain words: **if tokens were all that counts, one small summary would be the cheaper compactor.** It reads less, for every stub's call is given the state and the keywords of the stubs before. And it leaves more room: stubs stay, so that the next pass is due sooner, and each misses its tail
# again. What the recallable compactor buys with it stands in the last column: an index of the whole session in view, in which nothing was summarised twice, and the way back to every word of it. A single summary of 250 tokens has no such thing; it is cheap because it forgets.
#
# So the fair question is what the *same context* costs.
#
# ## At equal context
#
# Here passes come at the same places for three compactors, in a window of 128,000 tokens: the recallable one, the basic one with the recallable one's cap for its summary, and the basic one whose summary may be as large as all stubs and the state together, so that it could remember as much.

# %%
with tempfile.TemporaryDirectory() as folder:
    rows = await prefix_cache(
        Path(folder), Settings.for_window(128_000, fsync="never"), passes=16, messages_per_pass=100
    )
print(" pass  messages  recallable      basic  basic, equal context")
rows = [row for row in rows if row.recallable]  # the first had nothing to compact yet
for row in rows[::3]:
    print(
        f"{row.number:>5} {row.messages:>9,} {row.recallable:>11,} {row.basic:>10,} {row.basic_matched:>21,}"
    )

# %%
figure, axes = plt.subplots(figsize=(7, 3.6))
length = [row.messages for row in rows]
axes.plot(length, [row.recallable for row in rows], "o-", color=BLUE, label="recallable")
axes.plot(
    length, [row.basic for row in rows], "s--", color=ORANGE, label="basic, summary capped like the state"
)
axes.plot(
    length,
    [row.basic_matched for row in rows],
    "^:",
    color=GREEN,
    label="basic, summary as large as stubs and state",
)
axes.set_xlabel("session (messages)")
axes.set_ylabel("missed after a pass (tokens)")
axes.set_title("What the prompt cache misses as a session grows")
axes.set_ylim(0)
axes.legend(frameon=False)
figure.tight_layout()

# %% [markdown]
# The recallable line is flat: a pass misses new stubs, state and tail, whatever came before. So is the basic one with a hard cap, a little below: it pays with what it forgets. A summary that may remember as much as the stubs do is missed whole, and grows with every pass.
#
# ## How large should chunks and the state be?
#
# Larger chunks mean fewer stubs: less room taken, fewer calls, but a coarser index. A larger state remembers more and is rewritten, missed and read more. The grid shows, for a shorter session (so that no setting fills its window with stubs), how many passes there are, the mean share that is missed, and all that the summarizer read, in thousands of tokens.

# %%
shorter = synthetic_session(50)
CHUNKS, STATES = (1_000, 2_000, 4_000), (128, 250, 333)
grid = {}
for chunk in CHUNKS:
    for state in STATES:
        tried = settings.model_copy(update={"chunk_tokens": chunk, "state_cap_tokens": state})
        passes = await replayed(RecallableCompactor, tried, shorter)
        missed = sum(one.cache_missed_tokens / one.tokens_after for one in passes) / len(passes)
        grid[chunk, state] = (
            len(passes),
            missed,
            sum(one.summarizer_input_tokens for one in passes) / 1_000,
            passes[-1].stubs,
        )
print("chunk  state  passes  missed  read (thousands)  stubs at the end")
for (chunk, state), (number, missed, read, stubs) in grid.items():
    print(f"{chunk:>5,} {state:>6} {number:>7} {missed:>7.0%} {read:>17.0f} {stubs:>17}")

# %%
figure, panels = plt.subplots(1, 3, figsize=(11, 3.2))
titles = ("passes", "missed share (mean)", "read by the summarizer (thousand tokens)")
for place, (axes, title) in enumerate(zip(panels, titles)):
    values = [[grid[chunk, state][place] for state in STATES] for chunk in CHUNKS]
    axes.imshow(values, cmap="cividis", aspect="auto")
    middle = (max(map(max, values)) + min(map(min, values))) / 2
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            axes.text(
                x,
                y,
                f"{value:.0%}" if place == 1 else f"{value:.0f}",
                ha="center",
                va="center",
                color="black" if value > middle else "white",
            )
    axes.set_xticks(range(len(STATES)), STATES)
    axes.set_yticks(range(len(CHUNKS)), [f"{chunk:,}" for chunk in CHUNKS])
    axes.set_xlabel("state cap (tokens)")
    axes.set_title(title, fontsize=10)
panels[0].set_ylabel("chunk (tokens)")
figure.tight_layout()

# %% [markdown]
# What one takes from it depends on one's prices. Where cached tokens are cheap and a summarizer is not, large chunks win; where the index is to be fine, small ones do, and the window fills with stubs sooner. The cap of the state moves little here; what it moves is
# how much is known without a recall, and that no token count shows. `foldproof probe` measures it with planted facts.
#
# Real sessions: `foldproof compact YOUR-SESSION` prints the same table for a recorded session of yours (formats of four agents are read); the documentation's page on compaction has two real ones.
#
# Next: [validate your own implementation](5-your-own.ipynb).
